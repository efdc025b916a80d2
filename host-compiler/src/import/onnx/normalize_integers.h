// Layer and instance normalisation between integers of 8 bits: operators on 16 bits that every device has which computes whole
// numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "import/onnx/reader.h"

namespace intarsia::onnx {

struct Normalization {
  std::vector<int64_t> axes;
  float epsilon = 0;
  // Factor and offset, which are broadcast against the operand; no tensor: 1 and 0.
  graph::TensorId factor, offset;
};

// Of operand 0, quantised as the tail says; no tensor where it is not of int8, or its result may be more than a step from the real one.
graph::TensorId normalized_integers(Reader& in, const Normalization& what, const Tail& tail);

}  // namespace intarsia::onnx
