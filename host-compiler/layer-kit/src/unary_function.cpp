#include "unary_function.h"

namespace intarsia::layers {

UnaryFunction function_of(graph::Activation activation) {
  switch (activation) {
    case graph::Activation::None:
      return {};
    case graph::Activation::Relu:
      return {Function::of_relu};
    case graph::Activation::ReluN1To1:
      return {Function::of_clip, -1, 1};
    case graph::Activation::Relu6:
      return {Function::of_clip, 0, 6};
  }
  return {};
}

std::optional<UnaryFunction> function_of(const graph::Node& node) {
  switch (node.kind) {
    case graph::OpKind::Relu:
      return function_of(node.attrs<graph::ReluAttrs>().activation);
    case graph::OpKind::LeakyRelu:
      return UnaryFunction{Function::of_relu, node.attrs<graph::LeakyReluAttrs>().alpha};
    case graph::OpKind::Logistic:
      return UnaryFunction{Function::of_logistic};
    case graph::OpKind::Tanh:
      return UnaryFunction{Function::of_tanh};
    case graph::OpKind::Elu:
      return UnaryFunction{Function::of_elu, 1};
    case graph::OpKind::HardSwish:
      return UnaryFunction{Function::of_hard_swish};
    case graph::OpKind::Gelu:
      return UnaryFunction{node.attrs<graph::GeluAttrs>().approximate ? Function::of_gelu_tanh
                                                                      : Function::of_gelu_erf};
    case graph::OpKind::Abs:
      return UnaryFunction{Function::of_abs};
    case graph::OpKind::Square:
      return UnaryFunction{Function::of_square};
    case graph::OpKind::Sqrt:
      return UnaryFunction{Function::of_sqrt};
    case graph::OpKind::Exp:
      return UnaryFunction{Function::of_exp};
    case graph::OpKind::Log:
      return UnaryFunction{Function::of_log};
    case graph::OpKind::Neg:
      return UnaryFunction{Function::of_linear, -1};
    default:
      return std::nullopt;
  }
}

}  // namespace intarsia::layers
