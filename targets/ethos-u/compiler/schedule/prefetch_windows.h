// Long programs are planned piece by piece, so that the work grows with their length and not with its square.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "schedule/prefetch.h"

namespace intarsia::targets::ethos_u {

class PrefetchWindows {
 public:
  explicit PrefetchWindows(const Hardware& hardware) : hardware_(hardware) {}

  // What plan_prefetch finds where the program is one window. Windows whose units have not changed since the last call
  // or the one before, as when one operation is tried in slices, are not searched again.
  PrefetchPlan plan(const std::vector<PrefetchUnit>& units, int64_t budget);

 private:
  struct Known {
    std::vector<PrefetchUnit> units;
    int64_t budget = -1;
    std::vector<bool> fetched;
  };
  const std::vector<bool>& fetched_of(size_t window, std::vector<PrefetchUnit> units,
                                      int64_t budget);

  const Hardware& hardware_;
  std::vector<std::array<Known, 2>>
      known_;  // by window; the one that was asked for last is the first
};

}  // namespace intarsia::targets::ethos_u
