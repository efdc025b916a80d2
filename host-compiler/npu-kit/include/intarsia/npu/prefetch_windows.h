// Long programs are planned piece by piece, so that the work grows with their length and not with its square.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "intarsia/npu/prefetch.h"

namespace intarsia::npu {

// The units from `first` to `end` as a program of their own. What those before have fetched, as `fetched` says, stays where
// it is while its users run.
std::vector<PrefetchUnit> prefetch_window(const std::vector<PrefetchUnit>& units, size_t first,
                                          size_t end, const std::vector<bool>& fetched);

// Plans of a stretch with other slices of one piece, beside that with those which it has: 128 bits say what that follows from,
// but for the budget.
class KnownSlices {
 public:
  using Key = std::array<uint64_t, 2>;
  struct Plans {
    std::vector<bool> fetched;  // with other slices
    double cycles = 0, cycles_before = 0;
    BudgetRange budgets;
  };
  const Plans* find(const Key& key, int64_t budget) const {
    const auto [first, end] = known_.equal_range(key);
    for (auto at = first; at != end; ++at)
      if (at->second.budgets.holds(budget)) return &at->second;
    return nullptr;
  }
  const Plans& add(const Key& key, Plans plans) {
    return known_.emplace(key, std::move(plans))->second;
  }

 private:
  std::multimap<Key, Plans> known_;
};

class PrefetchWindows {
 public:
  explicit PrefetchWindows(const QueueDepths& queues) : queues_(queues) {}

  const QueueDepths& queues() const { return queues_; }
  // Sizes of memory are tried one after the other, and most are the same for most stretches.
  KnownSlices& known_slices() { return known_slices_; }

  // What plan_prefetch finds where the program is one window. Windows whose units have not changed since the last call
  // or the one before, as where only some operations are sliced otherwise, are not searched again, nor with another budget that
  // would make no difference.
  PrefetchPlan plan(const std::vector<PrefetchUnit>& units, int64_t budget,
                    PortUse use = PortUse::OfTransfers);
  // The better of both ways to begin transfers.
  PrefetchPlan best_plan(const std::vector<PrefetchUnit>& units, int64_t budget);

 private:
  struct Known {
    std::vector<PrefetchUnit> units;
    PrefetchPlan plan;
  };
  using Windows = std::vector<std::array<Known, 2>>;
  const PrefetchPlan& plan_of(std::array<Known, 2>& known, std::vector<PrefetchUnit> units,
                              int64_t budget, PortUse use);

  QueueDepths queues_;
  KnownSlices known_slices_;
  std::array<Windows, 2>
      known_;  // by use of the port; the one that was asked for last is the first
};

}  // namespace intarsia::npu
