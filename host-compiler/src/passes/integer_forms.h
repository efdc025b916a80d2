// Functions of one element in floats as operators on integers of 16 bits, which have too many values for a table.
//
//   dequantize(%1) -> (%2), neg(%2) -> (%3), quantize(%3) -> (%4)      =>      mul(%1, -1) -> (%4)
//
// A form is taken where it gives the same for all 65,536 values: the operator that floats were used for, a requantisation, a clamp, an
// absolute value, a product with a constant, a leaky relu, or two of them in a row.
#pragma once

#include <optional>
#include <vector>

#include "intarsia/graph.h"

namespace intarsia::passes {

// result = kind(value before), or kind(value before, constant * scale).
struct IntegerStep {
  graph::OpKind kind;
  graph::Attributes attributes = graph::NoAttrs{};
  std::optional<int16_t> constant = std::nullopt;
  float scale = 1;  // of the constant
};

// `alone` is one function of an int16 tensor with 65,536 elements, whose last operator makes integers of floats. The
// tensors between steps are quantised as the first one.
std::optional<std::vector<IntegerStep>> integer_form(const graph::Module& alone);

// The steps in the place of a node: `node` becomes the last one, those before it are returned.
std::vector<graph::Node> apply_steps(const std::vector<IntegerStep>& steps, graph::Module& module,
                                     graph::Function& function, graph::TensorId source,
                                     graph::Node& node);

}  // namespace intarsia::passes
