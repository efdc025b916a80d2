// Comparisons of reals that are integers on one scale.
#pragma once

#include "import/onnx/reader.h"

namespace intarsia::onnx {

// Of the two operands, which say the same as the reals: both on one scale, or one of them a number that is known. No tensor where
// they do not.
graph::TensorId compared_integers(Reader& in, graph::OpKind kind);

}  // namespace intarsia::onnx
