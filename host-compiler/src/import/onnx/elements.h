// What the readers of operators on single elements share.
#pragma once

#include "import/onnx/reader.h"

namespace intarsia::onnx {

// The operator being read as one operator of the IR on operand 0: on integers where that is exact enough.
void read_as_unary(Reader& in, graph::OpKind kind, const graph::Attributes& attributes);

// Elements of `a` where the condition holds, of `b` elsewhere, broadcast; of any type.
graph::TensorId choice(Reader& in, graph::TensorId condition, graph::TensorId a, graph::TensorId b);

}  // namespace intarsia::onnx
