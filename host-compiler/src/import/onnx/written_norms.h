// Norms that an exporter has written out as means, squares and roots, between integers: found from their ends, where what stands before
// is read already. Operators of floats that were made of their parts are read by nobody then.
#pragma once

#include "import/onnx/reader.h"

namespace intarsia::onnx {

// Of an Add, Sub, Mul or Div that is the end of a norm, of its quotient by a root that is quantised, or x less its mean; no tensor: it is no such,
// or its result may be more than a step from the real one.
graph::TensorId written_norm(Reader& in, const Tail& tail);
// Of a ReduceMean of squares.
graph::TensorId written_variance(Reader& in, const Tail& tail);

}  // namespace intarsia::onnx
