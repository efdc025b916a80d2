// What the readers of operators on single elements share.
#pragma once

#include "import/onnx/reader.h"

namespace intarsia::onnx {

// The operator being read as one operator of the IR on operand 0: on integers where that is exact enough.
void read_as_unary(Reader& in, graph::OpKind kind, const graph::Attributes& attributes);

}  // namespace intarsia::onnx
