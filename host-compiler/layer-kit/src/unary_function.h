// Operators and fused activations as functions of one number.
#pragma once

#include <optional>

#include "intarsia/layers/layer.h"

namespace intarsia::layers {

struct UnaryFunction {
  Function function = Function::of_none;
  float alpha = 0, beta = 0;
};

UnaryFunction function_of(graph::Activation activation);
// Nothing where the operator is another one.
std::optional<UnaryFunction> function_of(const graph::Node& node);

}  // namespace intarsia::layers
