// What a layer of int8 has besides its shapes: scales and zero points, and ranges where there are activations.
#pragma once

#include "intarsia/layers/layer.h"
#include "unary_function.h"

namespace intarsia::layers {

// Why the operands are not those of a layer of int8, whose first one has that type.
Reason refuses_int8_operands(const graph::Function& function, const graph::Node& node);

// Scales and zero points of the operands, which are set. The addend's and what it is added to have none yet where a layer
// has no addend.
void set_quantisation(const graph::Function& function, LayerOfNodes& made);

// The activation on results like this one, as a function of the numbers that they stand for: it ends at a step.
UnaryFunction int8_function_of(graph::Activation activation, const graph::Tensor& result);

}  // namespace intarsia::layers
