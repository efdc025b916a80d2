// Layers on bytes that dynamic quantisers write: ConvInteger or MatMulInteger, Cast, Mul by both scales, Add of a bias. The scale and the
// bias are the layer's own, whose arithmetic is the same: the sum as a float, times the product of the scales, and the bias.
#pragma once

#include "import/onnx/reader.h"

namespace intarsia::onnx {

// Of a Mul or an Add of floats: the layer that makes one operand, with the other one as its scale or bias; no tensor where it is none, or
// somebody else reads what it makes. The operators in between are read by nobody then.
graph::TensorId layer_with(Reader& in, graph::OpKind kind, graph::Activation activation);

}  // namespace intarsia::onnx
