// Which look-up tables lie in SHRAM where, as the program goes on.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "hardware/hardware.h"

namespace intarsia::targets::ethos_u {

class TableSlots {
 public:
  explicit TableSlots(const Hardware& hardware) : hardware_(hardware) { last_use_.fill(-1); }

  struct Slot {
    int32_t number = 0;
    bool load = false;          // it is not there yet
    int32_t earliest = 0;       // before which use it may be loaded: nothing else needs the place
    std::vector<int32_t> more;  // tables that the same transfer brings behind it, a slot each
  };
  struct Use {
    int32_t table = -1;
    int64_t bytes = 0;
    int32_t moment = 0;  // increasing
  };
  // The first one needs its table. Those behind it come later: where the first one's is not there yet and takes one slot, as
  // many of the next ones as `most_together` allows come with it, of tables that were never loaded before. So each table lies in
  // one constant.
  Slot use(std::span<const Use> uses, int32_t most_together);
  Slot use(int32_t table, int64_t bytes, int32_t moment) {
    const Use one{table, bytes, moment};
    return use({&one, 1}, 1);
  }
  // An operation without table runs.
  void clobber(int32_t moment);

 private:
  struct Entry {
    int32_t table, number, slots;
  };
  static constexpr size_t kSlots = kLutBytes / kLutSlotBytes;

  const Entry* find(int32_t table) const;
  std::vector<Use> together(std::span<const Use> uses, int32_t most) const;

  const Hardware& hardware_;
  std::vector<Entry> entries_;            // the tables that are there
  std::vector<int32_t> loaded_;           // that have been there, rising
  std::array<int32_t, kSlots> last_use_;  // by slot; -1: none
  int32_t clobbered_ = -1;
};

}  // namespace intarsia::targets::ethos_u
