// The places of maxima within windows, and values put to such places.
#pragma once

#include "import/onnx/reader.h"
#include "import/onnx/window.h"

namespace intarsia::onnx {

// Of operand 0, as int64 in ONNX's order; no tensor and a problem where that cannot be.
graph::TensorId maximum_places(Reader& in, const Window& window);
// A tensor of zeros of the shape with the updates at these places, i32, of all of it.
graph::TensorId put_into_zeros(Reader& in, graph::TensorId places, graph::TensorId updates,
                               const Shape& shape);

}  // namespace intarsia::onnx
