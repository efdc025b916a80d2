// Which look-up tables lie in SHRAM where, as the program goes on.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "hardware/hardware.h"

namespace intarsia::targets::ethos_u {

class TableSlots {
 public:
  explicit TableSlots(const Hardware& hardware) : hardware_(hardware) { last_use_.fill(-1); }

  struct Slot {
    int32_t number = 0;
    bool load = false;     // it is not there yet
    int32_t earliest = 0;  // before which use it may be loaded: nothing else needs the place
  };
  // Use `moment` (increasing) needs the table.
  Slot use(int32_t table, int64_t bytes, int32_t moment);
  // An operation without table runs.
  void clobber(int32_t moment);

 private:
  struct Entry {
    int32_t table, number, slots;
  };
  static constexpr size_t kSlots = kLutBytes / kLutSlotBytes;

  const Hardware& hardware_;
  std::vector<Entry> entries_;            // the tables that are there
  std::array<int32_t, kSlots> last_use_;  // by slot; -1: none
  int32_t clobbered_ = -1;
};

}  // namespace intarsia::targets::ethos_u
