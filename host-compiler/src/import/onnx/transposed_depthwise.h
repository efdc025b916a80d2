// ConvTranspose of each channel by itself.
#pragma once

#include "import/onnx/reader.h"

namespace intarsia::onnx {

// [N,H,W,C] by [1,KH,KW,C]. The elements of the result that are a stride apart read the same ones of the filter: for each place within a
// stride they are a depthwise convolution, and the results of all places are put between one another. As many products as a transposed
// convolution has. No tensor where the filter is not known, where strides are neither alike nor along one axis, or where places are many
// and channels few.
graph::TensorId transposed_depthwise(Reader& in, graph::TensorId image, graph::TensorId filters,
                                     graph::TensorId bias, const graph::TransposeConv2dAttrs& attrs,
                                     DataType type, const graph::Quantization& q);

}  // namespace intarsia::onnx
