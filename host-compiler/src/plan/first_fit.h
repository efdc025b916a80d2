// Greedy placement of one instance: many orders, the best kept.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/instance.h"

namespace intarsia::plan {

struct GreedyAnswer {
  std::vector<int64_t> offsets;  // empty when fixed items left no way (never without them)
  int64_t peak = 0;
  const char* method = "";
};

GreedyAnswer best_greedy(const Instance& instance);

// The best order, changed one item at a time as long as that does no harm: until the peak is at most
// `enough`, or the number of `changes` is spent. `changes` becomes those that are left.
GreedyAnswer improved_greedy(const Instance& instance, int64_t enough, int64_t& changes);

}  // namespace intarsia::plan
