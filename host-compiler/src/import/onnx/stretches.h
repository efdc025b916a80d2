// Parts of tensors along one axis, and tensors of one number.
#pragma once

#include <cstddef>
#include <cstdint>

#include "import/onnx/reader.h"

namespace intarsia::onnx {

// `count` elements along the axis, from one on; all of them: the tensor itself. No tensor where reading has failed.
graph::TensorId stretch(Reader& in, graph::TensorId id, size_t axis, int64_t from, int64_t count);

// A constant that has this number everywhere: a whole one, or a float.
graph::TensorId filled(Reader& in, const Shape& shape, DataType type, double number);

}  // namespace intarsia::onnx
