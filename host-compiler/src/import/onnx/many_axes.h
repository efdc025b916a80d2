// Tensors of more axes than the IR has (graph::kMaxRank): windows of volumes are reshaped to eight axes, put into another order, and
// reshaped again. Such a value is kept in any shape of as many elements, in its order, beside the shape that ONNX gives it
// (Reader::shape_of). Operators on elements are read with fewer axes (Reader::merge_axes).
#pragma once

#include <cstdint>
#include <vector>

#include "import/onnx/reader.h"

namespace intarsia::onnx {

// A tensor whose shape in ONNX is `shape`, in another order of axes. What it is made of has a shape of its own.
graph::TensorId transpose_many_axes(Reader& in, graph::TensorId id, const Shape& shape,
                                    const std::vector<int64_t>& order);

// Operand 0, of `shape`, repeated along axes of one element.
void expand_many_axes(Reader& in, const Shape& shape, const Shape& wanted);

}  // namespace intarsia::onnx
