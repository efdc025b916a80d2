#include "schedule/table_slots.h"

#include <algorithm>

namespace intarsia::targets::ethos_u {

bool TableSlots::overlap(const Entry& entry, int32_t number, int64_t bytes) {
  const int64_t mine = entry.number * kLutSlotBytes, other = number * kLutSlotBytes;
  return mine < other + bytes && other < mine + entry.bytes;
}

TableSlots::Slot TableSlots::use(int32_t table, int64_t bytes, int32_t moment) {
  for (Entry& entry : entries_)
    if (entry.table == table) {
      entry.last_use = moment;
      return {entry.number, false, 0};
    }
  // Tables lie at multiples of their size; of the places the one whose last user is longest ago.
  const auto slots = static_cast<int32_t>(bytes / kLutSlotBytes);
  int32_t best = 0, best_use = moment;
  for (int32_t number = 0; number + slots <= kLutBytes / kLutSlotBytes; number += slots) {
    int32_t last_use = -1;
    for (const Entry& entry : entries_)
      if (overlap(entry, number, bytes)) last_use = std::max(last_use, entry.last_use);
    if (last_use < best_use) {
      best = number;
      best_use = last_use;
    }
  }
  for (Entry& entry : entries_)
    if (overlap(entry, best, bytes)) entry.table = -1;
  entries_.push_back({table, best, bytes, moment});
  return {best, true, std::max(best_use, clobbered_) + 1};
}

void TableSlots::clobber(int32_t moment) {
  if (hardware_.reserved_banks() > 0) return;
  clobbered_ = moment;
  entries_.clear();
}

}  // namespace intarsia::targets::ethos_u
