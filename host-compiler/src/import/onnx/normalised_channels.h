// A normalisation of channels with known statistics behind a convolution of integers, as networks have it whose exporter knows both as layers
// of their own: a factor and an offset of each channel, which scales of weights and a bias are too.
#pragma once

#include <optional>
#include <vector>

#include "import/onnx/reader.h"

namespace intarsia::onnx {

// x * factors[c] + offsets[c].
struct NormalisedChannels {
  const Node* node;
  std::vector<double> factors, offsets;
};

// What BatchNormalization makes of the first output of the operator being read, which has so many channels; nothing where other operators
// read that output, or where the statistics are not known or are those of a training.
std::optional<NormalisedChannels> normalisation_behind(const Reader& in, int64_t channels);

// Weights [O,...] of int8 times the factors: other scales, and other signs where a factor is below zero. No tensor where that leaves int8, or
// the range of scales.
graph::TensorId normalised_weights(Reader& in, graph::TensorId weights,
                                   const NormalisedChannels& by);

// What is added to the sums then, where the operator's own bias, which may be absent, is known.
std::optional<std::vector<double>> normalised_bias(Reader& in, size_t operand,
                                                   const NormalisedChannels& by);

}  // namespace intarsia::onnx
