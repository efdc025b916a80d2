// Operators that compute each element of the result from the elements at its place.
#pragma once

#include "intarsia/graph.h"

namespace intarsia::graph {

// One operand.
constexpr bool is_elementwise_unary(OpKind kind) {
  switch (kind) {
    case OpKind::Relu:
    case OpKind::LeakyRelu:
    case OpKind::Quantize:
    case OpKind::Dequantize:
    case OpKind::Logistic:
    case OpKind::Tanh:
    case OpKind::HardSwish:
    case OpKind::Elu:
    case OpKind::Exp:
    case OpKind::Log:
    case OpKind::Abs:
    case OpKind::Neg:
    case OpKind::Square:
    case OpKind::Sqrt:
    case OpKind::Rsqrt:
    case OpKind::Ceil:
    case OpKind::Floor:
    case OpKind::Round:
    case OpKind::LogicalNot:
    case OpKind::Cast:
    case OpKind::Sin:
    case OpKind::Cos:
      return true;
    default:
      return false;
  }
}

// Two operands, broadcast as numpy does.
constexpr bool is_elementwise_binary(OpKind kind) {
  switch (kind) {
    case OpKind::Add:
    case OpKind::Sub:
    case OpKind::Mul:
    case OpKind::Div:
    case OpKind::Minimum:
    case OpKind::Maximum:
    case OpKind::SquaredDifference:
    case OpKind::Prelu:
    case OpKind::Equal:
    case OpKind::NotEqual:
    case OpKind::Greater:
    case OpKind::GreaterEqual:
    case OpKind::Less:
    case OpKind::LessEqual:
    case OpKind::LogicalAnd:
    case OpKind::LogicalOr:
    case OpKind::Pow:
    case OpKind::FloorDiv:
    case OpKind::FloorMod:
      return true;
    default:
      return false;
  }
}

}  // namespace intarsia::graph
