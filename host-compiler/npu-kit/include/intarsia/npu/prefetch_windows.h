// Long programs are planned piece by piece, so that the work grows with their length and not with its square.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "intarsia/npu/prefetch.h"

namespace intarsia::npu {

// The units from `first` to `end` as a program of their own. What those before have fetched, as `fetched` says, stays where
// it is while its users run.
std::vector<PrefetchUnit> prefetch_window(const std::vector<PrefetchUnit>& units, size_t first,
                                          size_t end, const std::vector<bool>& fetched);

class PrefetchWindows {
 public:
  explicit PrefetchWindows(const QueueDepths& queues) : queues_(queues) {}

  const QueueDepths& queues() const { return queues_; }

  // What plan_prefetch finds where the program is one window. Windows whose units have not changed since the last call
  // or the one before, as where only some operations are sliced otherwise, are not searched again, nor with another budget that
  // would make no difference.
  PrefetchPlan plan(const std::vector<PrefetchUnit>& units, int64_t budget);

 private:
  struct Known {
    std::vector<PrefetchUnit> units;
    PrefetchPlan plan;
  };
  const PrefetchPlan& plan_of(size_t window, std::vector<PrefetchUnit> units, int64_t budget);

  QueueDepths queues_;
  std::vector<std::array<Known, 2>>
      known_;  // by window; the one that was asked for last is the first
};

}  // namespace intarsia::npu
