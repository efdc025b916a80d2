// What the readers of operators on single elements share.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "import/onnx/reader.h"

namespace intarsia::onnx {

// The operator being read as one operator of the IR on operand 0: on integers where that is exact enough.
void read_as_unary(Reader& in, graph::OpKind kind, const graph::Attributes& attributes);

// Elements of `a` where the condition holds, of `b` elsewhere, broadcast; of any type.
graph::TensorId choice(Reader& in, graph::TensorId condition, graph::TensorId a, graph::TensorId b);

// A known number; of integers the integer itself, too, which a float may not hold.
struct Number {
  float real = 0;
  int64_t whole = 0;
};
std::optional<Number> known_number(Reader& in, size_t operand, std::string_view what);

// Integers no further than one of their own steps: Maximum or Minimum.
graph::TensorId limited_to(Reader& in, graph::OpKind kind, graph::TensorId id, int64_t whole,
                           std::string_view suffix = {});

}  // namespace intarsia::onnx
