#include "schedule/table_slots.h"

#include <algorithm>

namespace intarsia::targets::ethos_u {

const TableSlots::Entry* TableSlots::find(int32_t table) const {
  const auto at = std::find_if(entries_.begin(), entries_.end(),
                               [&](const Entry& entry) { return entry.table == table; });
  return at == entries_.end() ? nullptr : &*at;
}

// The first one and what may come with it.
std::vector<TableSlots::Use> TableSlots::together(std::span<const Use> uses, int32_t most) const {
  std::vector<Use> result = {uses[0]};
  const auto was_loaded = [&](int32_t table) {
    return std::binary_search(loaded_.begin(), loaded_.end(), table);
  };
  if (uses[0].bytes != kLutSlotBytes || was_loaded(uses[0].table)) return result;
  for (const Use& next : uses.subspan(1)) {
    if (std::ssize(result) >= most) break;
    const bool is_listed = std::any_of(result.begin(), result.end(),
                                       [&](const Use& one) { return one.table == next.table; });
    if (is_listed || find(next.table) != nullptr) continue;
    if (next.bytes != kLutSlotBytes || was_loaded(next.table)) break;
    result.push_back(next);
  }
  return result;
}

TableSlots::Slot TableSlots::use(std::span<const Use> uses, int32_t most_together) {
  const auto [table, bytes, moment] = uses[0];
  if (const Entry* entry = find(table)) {
    std::fill_n(last_use_.begin() + entry->number, entry->slots, moment);
    return {entry->number, false, 0, {}};
  }
  const std::vector<Use> loads = together(uses, most_together);
  // Tables lie at multiples of their size; of the places the one whose last user is longest ago.
  const auto own = static_cast<int32_t>(bytes / kLutSlotBytes),
             slots = own * static_cast<int32_t>(loads.size());
  int32_t best = 0, best_use = moment;
  for (int32_t number = 0; number + slots <= static_cast<int32_t>(kSlots); number += own) {
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
  Slot slot{best, true, std::max(best_use, clobbered_) + 1, {}};
  for (size_t i = 0; i < loads.size(); ++i) {
    const int32_t number = best + static_cast<int32_t>(i) * own;
    entries_.push_back({loads[i].table, number, own});
    // What is there for later keeps its place until then.
    std::fill_n(last_use_.begin() + number, own, loads[i].moment);
    if (i > 0) slot.more.push_back(loads[i].table);
    const auto at = std::lower_bound(loaded_.begin(), loaded_.end(), loads[i].table);
    if (at == loaded_.end() || *at != loads[i].table) loaded_.insert(at, loads[i].table);
  }
  return slot;
}

void TableSlots::clobber(int32_t moment) {
  if (hardware_.reserved_banks() > 0) return;
  clobbered_ = moment;
  entries_.clear();
  last_use_.fill(-1);
}

}  // namespace intarsia::targets::ethos_u
