// How much boxes overlap, as a part of a loop's function.
#pragma once

#include "import/loop_function.h"

namespace intarsia::import {

// Their corners, lower and higher ones, [count,2] each, and their areas, [count,1].
struct Boxes {
  graph::TensorId low, high, areas;
  int64_t count;
};

// Of all boxes with the one at `place`: what they share, as a part of what they cover together; 0 where one has no area.
graph::TensorId overlaps(LoopFunction& f, const Boxes& boxes, graph::TensorId place);

}  // namespace intarsia::import
