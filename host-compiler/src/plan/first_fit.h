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

}  // namespace intarsia::plan
