// Chains of operators on single elements that begin with one int8 become one lookup of their 256 results:
//
//   dequantize(%1) -> (%2), logistic(%2) -> (%3), mul(%2, %3) -> (%4), quantize(%4) -> (%5)
//       =>      lookup(%1) -> (%5)
//
// The results are the reference evaluator's, so that no bit changes. What converters leave in floats between two
// quantised operators (HardSwish, SiLU, GELU written out, square roots) needs no floats on the device, and runs wherever
// a table does. Chains in floats from one int16 to other integers become operators on integers (integer_forms.h), where one or two give
// the same for all 65,536 values.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "intarsia/graph.h"
#include "passes/integer_forms.h"

namespace intarsia::passes {

struct Island {
  size_t function;  // of the module
  std::vector<size_t>
      nodes;  // that make the result, in their order, also those whose results others read too
  graph::TensorId source, result;
  std::vector<IntegerStep> steps;  // of an int16; else it is a lookup
};

// All there are. At least two operators each; none is pinned. Shapes are the source's throughout, constants
// have one element. `in_floats` gets those that stay: by the name of their last operator the name of their source, of 16 bits.
std::vector<Island> find_islands(const graph::Module& module,
                                 std::map<std::string, std::string>* in_floats = nullptr);

// Each island as one lookup, or operators on integers, with the name of its last operator. Islands that the evaluator has no arithmetic for stay.
graph::Module join_lookups(const graph::Module& module, const std::vector<Island>& islands);

}  // namespace intarsia::passes
