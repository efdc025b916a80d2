// How the scales of operands become the real factors that fixed-point arithmetic represents. TFLite
// computes some of them in double and some in float, and the last bit of a result depends on it: so
// the rules and the evaluator take them from here only.
#pragma once

#include <algorithm>

#include "intarsia/graph.h"

namespace intarsia::graph {

inline double scale_of(const Tensor& tensor, size_t channel = 0) {
  const std::vector<float>& scale = tensor.quantization.scale;
  return static_cast<double>(scale.size() > 1 ? scale[channel] : scale[0]);
}

// Convolutions, and a fully connected layer with a scale per channel.
inline double convolution_factor(const Tensor& input, const Tensor& weights, const Tensor& output,
                                 size_t channel) {
  return scale_of(input) * scale_of(weights, channel) / scale_of(output);
}

// A fully connected layer with one scale: the product is rounded to float first.
inline double fully_connected_factor(const Tensor& input, const Tensor& weights,
                                     const Tensor& output, size_t channel) {
  if (weights.quantization.per_channel())
    return convolution_factor(input, weights, output, channel);
  const float product = input.quantization.scale[0] * weights.quantization.scale[0];
  return static_cast<double>(product) / scale_of(output);
}

struct AddFactors {
  int left_shift;  // both inputs are multiplied by 2^left_shift first
  double a, b, output;
};

inline AddFactors add_factors(const Tensor& a, const Tensor& b, const Tensor& output) {
  const int left_shift = output.type == DataType::Int16 ? 15 : 20;
  const double twice_largest = 2 * std::max(scale_of(a), scale_of(b));
  return {left_shift, scale_of(a) / twice_largest, scale_of(b) / twice_largest,
          twice_largest / ((1 << left_shift) * scale_of(output))};
}

inline double mul_factor(const Tensor& a, const Tensor& b, const Tensor& output) {
  return scale_of(a) * scale_of(b) / scale_of(output);
}

// Mean and requantisation.
inline double rescale_factor(const Tensor& input, const Tensor& output) {
  return scale_of(input) / scale_of(output);
}

inline double relu_factor(const Tensor& input, const Tensor& output) {
  return static_cast<double>(input.quantization.scale[0] / output.quantization.scale[0]);
}

// int8 input: differences of exponents in Q5.26. int16 input: -10 .. 0 spread over 65536 steps.
inline double softmax_factor(const Tensor& input, float beta) {
  const double scaled = static_cast<double>(beta) * scale_of(input);
  if (input.type == DataType::Int16)
    return scale_of(input) * static_cast<double>(beta) / (10.0 / 65535.0);
  return std::min(scaled * (1 << 26), static_cast<double>((INT64_C(1) << 31) - 1));
}

}  // namespace intarsia::graph
