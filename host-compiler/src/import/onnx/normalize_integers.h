// Layer, instance, group and root-mean-square normalisation between integers of 8 bits: operators on 16 bits that every device has which computes whole
// numbers.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "import/onnx/reader.h"

namespace intarsia::onnx {

struct Normalization {
  graph::TensorId x;  // integers
  std::vector<int64_t> axes;
  float epsilon = 0;
  // Factor and offset, which are broadcast against the operand; no tensor: 1 and 0.
  graph::TensorId factor, offset;
  bool is_centred = true;  // less the mean; else divided by the root of the mean of squares alone
  Shape rows = {};         // the shape that the axes are of; empty: that of x
  float times = 1;  // beside the factor: of `count` elements 1 / sqrt(count) makes lengths of means
};

// Operand 0 where it stands for reals; no tensor otherwise.
graph::TensorId integers(Reader& in);

// Quantised as the tail says; no tensor where x is not of int8, or the result may be more than a step from the real one.
graph::TensorId normalized_integers(Reader& in, const Normalization& what, const Tail& tail);

// x on 128ths of its step, as int16; less its mean along the axes, where there are any.
graph::TensorId widened(Reader& in, graph::TensorId x, const std::vector<int64_t>& axes);
// The mean along the axes, of int16 on this scale.
graph::TensorId mean_of_words(Reader& in, graph::TensorId id, const graph::ReduceAttrs& along,
                              float scale, std::string_view suffix);

}  // namespace intarsia::onnx
