// Chains of operators on single elements that begin with one int8 become one lookup of their 256 results:
//
//   dequantize(%1) -> (%2), logistic(%2) -> (%3), mul(%2, %3) -> (%4), quantize(%4) -> (%5)
//       =>      lookup(%1) -> (%5)
//
// The results are the reference evaluator's, so that no bit changes. What converters leave in floats between two
// quantised operators (HardSwish, SiLU, GELU written out, square roots) needs no floats on the device, and runs wherever
// a table does. Chains in floats from one int16 to another become a product with a constant, where that gives the same for all 65,536
// values: changes of sign are what does, mostly, since floats are rounded otherwise. A hard swish in floats between two int16 is the
// operator on int16.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "intarsia/graph.h"

namespace intarsia::passes {

struct Island {
  size_t function;  // of the module
  std::vector<size_t>
      nodes;  // that the lookup stands for, in their order; the last one makes the result
  std::vector<graph::TensorId>
      path;  // tensors between source and result, also those that others read too
  graph::TensorId source, result;
  std::optional<float> factor;  // of an int16: result = factor * source
  std::optional<graph::OpKind>
      kind;  // of an int16: the operator without attributes that does the same
};

// All there are, apart from one another. At least two operators each; none is pinned. Shapes are the source's throughout, constants
// have one element.
std::vector<Island> find_islands(const graph::Module& module);

// Each island as one lookup, product or operator, with the name of its last operator. Islands that the evaluator has no arithmetic for stay.
graph::Module join_lookups(const graph::Module& module, const std::vector<Island>& islands);

}  // namespace intarsia::passes
