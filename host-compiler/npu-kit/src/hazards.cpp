#include "intarsia/npu/hazards.h"

#include <algorithm>
#include <utility>

namespace intarsia::npu {

HazardTracker::HazardTracker(std::vector<int32_t> most_outstanding, int32_t issuers)
    : ended_(static_cast<size_t>(issuers), std::vector<int64_t>(most_outstanding.size(), 0)) {
  for (const int32_t most : most_outstanding) counters_.push_back({most, 0});
}

std::vector<int64_t> HazardTracker::waits_before(int32_t issuer,
                                                 std::span<const MemoryAccess> accesses,
                                                 int32_t except) {
  // The latest of each counter says it for the ones before.
  std::vector<int64_t> needed(counters_.size(), 0);
  for (const Touch& touch : touches_) {
    int64_t& number = needed[static_cast<size_t>(touch.counter)];
    if (touch.counter == except || touch.number <= number) continue;
    for (const MemoryAccess& access : accesses)
      if (access.meets(touch.access) && (access.is_write || touch.access.is_write)) {
        number = touch.number;
        break;
      }
  }
  for (size_t c = 0; c < needed.size(); ++c)
    if (!wait(issuer, static_cast<int32_t>(c), needed[c])) needed[c] = 0;
  return needed;
}

bool HazardTracker::wait(int32_t issuer, int32_t counter, int64_t commands) {
  int64_t& known = ended_.at(static_cast<size_t>(issuer)).at(static_cast<size_t>(counter));
  if (known >= commands) return false;
  known = commands;
  return true;
}

int64_t HazardTracker::issue(int32_t counter, std::span<const MemoryAccess> accesses) {
  Counter& own = counters_.at(static_cast<size_t>(counter));
  const int64_t number = ++own.issued;
  if (own.most_outstanding > 0)
    std::erase_if(touches_, [&](const Touch& touch) {
      return touch.counter == counter && touch.number <= number - own.most_outstanding;
    });
  for (const MemoryAccess& access : accesses) {
    // Whoever touches these bytes next waits for this write, which ends after those before: it has waited for them, or
    // they are of its counter.
    if (access.is_write)
      std::erase_if(touches_, [&](const Touch& touch) {
        return touch.access.memory == access.memory && touch.access.begin >= access.begin &&
               touch.access.end <= access.end;
      });
    touches_.push_back({counter, number, access});
  }
  return number;
}

}  // namespace intarsia::npu
