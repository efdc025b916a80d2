// How the scales of operands become the real factors that fixed-point arithmetic represents. TFLite
// computes some of them in double and some in float, and the last bit of a result depends on it: so
// the rules and the evaluator take them from here only.
#pragma once

#include <algorithm>
#include <cmath>

#include "intarsia/graph.h"

namespace intarsia::graph {

inline double scale_of(const Tensor& tensor, size_t channel = 0) {
  const std::vector<float>& scale = tensor.quantization.scale;
  return static_cast<double>(scale.size() > 1 ? scale[channel] : scale[0]);
}

// Convolutions and fully connected layers. TFLite Micro multiplied the one scale of a fully connected layer's weights, of a matrix
// product and of an LSTM's gates in float until 2026, which is another result for one sum in some hundred thousand.
inline double convolution_factor(const Tensor& input, const Tensor& weights, const Tensor& output,
                                 size_t channel) {
  return sum_scale(input.quantization, weights.quantization, channel) / scale_of(output);
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

inline AddFactors squared_difference_factors(const Tensor& a, const Tensor& b,
                                             const Tensor& output) {
  const int left_shift = output.type == DataType::Int16 ? 0 : 7;
  const double twice_largest = 2 * std::max(scale_of(a), scale_of(b));
  const float unit = static_cast<float>(1 << (2 * left_shift)) * output.quantization.scale[0];
  return {left_shift, scale_of(a) / twice_largest, scale_of(b) / twice_largest,
          twice_largest * twice_largest / static_cast<double>(unit)};
}

struct LeakyReluFactors {
  double positive, negative;
};

inline LeakyReluFactors leaky_relu_factors(const Tensor& input, const Tensor& output, float alpha) {
  // TFLite Micro divides in double precision; LiteRT in single precision, which can differ by a step for int16.
  const double in = scale_of(input), out = scale_of(output);
  return {in / out, in * static_cast<double>(alpha) / out};
}

struct PreluFactors {
  double positive, negative;
};

inline PreluFactors prelu_factors(const Tensor& input, const Tensor& alpha, const Tensor& output) {
  return {scale_of(input) / scale_of(output), scale_of(input) * scale_of(alpha) / scale_of(output)};
}

// Of products of elements, and of a matrix product's sums.
inline double mul_factor(const Tensor& a, const Tensor& b, const Tensor& output) {
  return scale_of(a) * scale_of(b) / scale_of(output);
}

// Mean, requantisation, relu and abs. Of the last two LiteRT divides in single precision, TFLite Micro in double.
inline double rescale_factor(const Tensor& input, const Tensor& output) {
  return scale_of(input) / scale_of(output);
}

// int8 input: differences of exponents in Q5.26. int16 input: -10 .. 0 spread over 65536 steps.
inline constexpr double kLeastSoftmaxFactor = 1 + 0x1p-20;

inline double softmax_factor(const Tensor& input, float beta) {
  const double scaled = static_cast<double>(beta) * scale_of(input);
  if (input.type == DataType::Int16)
    return scale_of(input) * static_cast<double>(beta) / (10.0 / 65535.0);
  // TFLite's fixed point takes factors above 1. Below, where TFLite Micro gives up, all exponentials are 1 within 4 parts in a
  // million, and so they are with the least factor there is.
  return std::clamp(scaled * (1 << 26), kLeastSoftmaxFactor,
                    static_cast<double>((INT64_C(1) << 31) - 1));
}

// The input with 7 bits more, on the output's scale and on that of the gate (3 is 32768).
struct HardSwishFactors {
  double output, gate;
};

inline HardSwishFactors hard_swish_factors(const Tensor& input, const Tensor& output) {
  const double fine = scale_of(input) / 128;
  return {fine / scale_of(output), fine / (3.0 / 32768.0)};
}

inline double rsqrt_factor(const Tensor& input, const Tensor& output) {
  return 1.0 / (std::sqrt(scale_of(input)) * scale_of(output));
}

struct SvdfFactors {
  double feature, time;
};

inline SvdfFactors svdf_factors(const Tensor& input, const Tensor& feature, const Tensor& time,
                                const Tensor& state, const Tensor& output) {
  const auto scale = [](const Tensor& tensor) { return tensor.quantization.scale[0]; };
  return {static_cast<double>(scale(input) * scale(feature) / scale(state)),
          static_cast<double>(scale(state) * scale(time) / scale(output))};
}

// Gates are computed in Q3.12.
inline double lstm_gate_factor(const Tensor& input, const Tensor& weights) {
  return scale_of(input) * scale_of(weights) / std::ldexp(1.0, -12);
}

// Products of gates (Q0.15) with each other and with the cell state.
struct LstmFactors {
  double forget, input, output;
  int cell_exponent;
};

// tanh takes the scale of the cell state for the nearest power of two.
inline int lstm_cell_exponent(const Tensor& cell) {
  const float log2 = std::log(cell.quantization.scale[0]) * (1.0f / std::log(2.0f));
  return static_cast<int>(std::round(log2));
}

inline LstmFactors lstm_factors(const Tensor& hidden, const Tensor& cell) {
  const double gate = std::ldexp(1.0, -15);
  return {gate * scale_of(cell) / scale_of(cell), gate * gate / scale_of(cell),
          gate * gate / scale_of(hidden), lstm_cell_exponent(cell)};
}

}  // namespace intarsia::graph
