#include "schedule/table_slots.h"

#include <algorithm>

namespace intarsia::targets::ethos_u {

TableSlots::Slot TableSlots::use(int32_t table, int64_t bytes, int32_t moment) {
  for (const Entry& entry : entries_)
    if (entry.table == table) {
      std::fill_n(last_use_.begin() + entry.number, entry.slots, moment);
      return {entry.number, false, 0};
    }
  // Tables lie at multiples of their size; of the places the one whose last user is longest ago.
  const auto slots = static_cast<int32_t>(bytes / kLutSlotBytes);
  int32_t best = 0, best_use = moment;
  for (int32_t number = 0; number + slots <= static_cast<int32_t>(kSlots); number += slots) {
    const auto first = last_use_.begin() + number;
    const int32_t last_use = *std::max_element(first, first + slots);
    if (last_use < best_use) {
      best = number;
      best_use = last_use;
    }
  }
  std::erase_if(entries_, [&](const Entry& entry) {
    return entry.number < best + slots && best < entry.number + entry.slots;
  });
  entries_.push_back({table, best, slots});
  std::fill_n(last_use_.begin() + best, slots, moment);
  return {best, true, std::max(best_use, clobbered_) + 1};
}

void TableSlots::clobber(int32_t moment) {
  if (hardware_.reserved_banks() > 0) return;
  clobbered_ = moment;
  entries_.clear();
  last_use_.fill(-1);
}

}  // namespace intarsia::targets::ethos_u
