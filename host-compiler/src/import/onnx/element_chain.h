// Reals of which each is a function of one integer at its place: operators on single elements, back to the tensor that a DequantizeLinear
// makes reals of.
#pragma once

#include <optional>
#include <vector>

#include "import/onnx/reader.h"

namespace intarsia::onnx {

struct ElementChain {
  std::vector<graph::Node> nodes;  // in the order in which they are computed, the dequantize first
  graph::TensorId source;
};

// Nothing where the reals are no such function of a tensor of this type with one scale, or nothing but the integers' own reals.
std::optional<ElementChain> element_chain(const Reader& in, graph::TensorId reals, DataType source);

// The function's results for all values of the source, from the least on; none where one of them cannot be computed.
std::vector<float> results_of(Reader& in, const ElementChain& chain);

}  // namespace intarsia::onnx
