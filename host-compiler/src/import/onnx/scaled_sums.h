// Layers on bytes that dynamic quantisers write: ConvInteger or MatMulInteger, Cast, Mul by both scales, Add of a bias. The scale and the
// bias are the layer's own, whose arithmetic is the same: the sum as a float, times the product of the scales, and the bias. So are a factor
// and a bias behind a layer that a static quantiser has given scales.
#pragma once

#include "import/onnx/reader.h"

namespace intarsia::onnx {

// Of a Mul or an Add of floats: the layer that makes one operand, with the other one as its scale or bias; no tensor where it is none, or
// somebody else reads what it makes. The operators in between are read by nobody then. A layer of bytes whose scale is known makes the
// integers that follow.
Value layer_with(Reader& in, graph::OpKind kind, const Tail& tail);

}  // namespace intarsia::onnx
