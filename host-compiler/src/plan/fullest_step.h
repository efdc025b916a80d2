// The step of a plan at which most bytes are in use: what decides how much memory a model needs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "intarsia/plan.h"

namespace intarsia::plan {

struct FullestStep {
  int32_t step = 0;
  int64_t bytes = 0;                    // that are in use; what is shared is counted once
  std::vector<const Placement*> alive;  // by pool and offset
};

// Of one pool, by its index in the plan's memory, or of all that can be written together. The first of several.
FullestStep fullest_step(const Plan& plan, std::optional<int32_t> pool = std::nullopt);

}  // namespace intarsia::plan
