// A chunk of the iterations of a loop, computed side by side: one value for each, called a lane.
#pragma once

#include <cstdint>

#include "engine/value.h"

namespace intarsia::engine {

inline constexpr int kLanes = 128;

union Lanes {
  int32_t i32[kLanes];
  int64_t i64[kLanes];
  float f32[kLanes];
};

// An operand of all lanes: theirs, or one number for all of them.
struct LaneOperand {
  const Lanes* lanes = nullptr;  // null: `same`
  Value same = {};
};

}  // namespace intarsia::engine
