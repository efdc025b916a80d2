// Where resizing takes its rows and columns from.
#pragma once

#include <cstdint>
#include <vector>

#include "intarsia/graph/op_attributes.h"

namespace intarsia::operators {

// Per output position of an axis: the two neighbours and the second one's weight.
struct Blend {
  std::vector<int64_t> low, high,
      weight;  // weights of 1/1024, below 0 in front of the first neighbour
  std::vector<float> real_weight;
};

// Of integers, as TFLite has them.
Blend integer_blend(int64_t in, int64_t out, const graph::ResizeAttrs& attrs);

// The row or column that is nearest to each position of an axis, as TFLite has it.
std::vector<int64_t> nearest_places(int64_t in, int64_t out, const graph::ResizeAttrs& attrs);

}  // namespace intarsia::operators
