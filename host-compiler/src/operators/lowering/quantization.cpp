#include "intarsia/plugin/quantization.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "intarsia/plugin/check.h"

namespace intarsia::operators {

Multiplier quantize_multiplier(double factor) {
  if (factor == 0.0) return {};
  int exponent = 0;
  const double fraction = std::frexp(factor, &exponent);  // in [1/2, 1)
  auto value = static_cast<int64_t>(std::round(fraction * 2147483648.0));
  if (value == int64_t{1} << 31) {
    value /= 2;
    ++exponent;
  }
  if (exponent < -31) return {};
  return {static_cast<int32_t>(value), exponent};
}

WideMultiplier wide_multiplier(Multiplier m) {
  const int32_t reduced = m.value < 0x7fff0000 ? (m.value + (1 << 15)) >> 16 : 0x7fff;
  return {reduced, 15 - m.shift};
}

Range type_range(DataType type) {
  INTARSIA_CHECK(is_integer(type) && bits(type) <= 32, "a range is asked of an integer type");
  const int64_t values = int64_t{1} << bits(type);
  if (!is_signed(type)) return {0, values - 1};
  return {-values / 2, values / 2 - 1};
}

FloatRange activation_range(graph::Activation activation) {
  switch (activation) {
    case graph::Activation::None:
      return {};
    case graph::Activation::Relu:
      return {0.0f, std::nullopt};
    case graph::Activation::ReluN1To1:
      return {-1.0f, 1.0f};
    case graph::Activation::Relu6:
      return {0.0f, 6.0f};
  }
  return {};
}

Range activation_range(graph::Activation activation, DataType type, double scale,
                       int64_t zero_point) {
  Range range = type_range(type);
  const FloatRange real = activation_range(activation);
  constexpr float kFar = 1e9f;  // beyond all types, of scales that are almost nothing
  const auto quantized = [&](float value) {
    const float steps = std::round(value / static_cast<float>(scale));
    return zero_point + static_cast<int64_t>(std::clamp(steps, -kFar, kFar));
  };
  if (real.low) range.low = std::max(range.low, quantized(*real.low));
  if (real.high) range.high = std::min(range.high, quantized(*real.high));
  return range;
}

std::vector<Multiplier> conv_multipliers(const graph::Quantization& input,
                                         const graph::Quantization& weights,
                                         const graph::Quantization& output) {
  std::vector<Multiplier> multipliers;
  for (size_t channel = 0; channel < weights.scale.size(); ++channel)
    multipliers.push_back(quantize_multiplier(graph::sum_scale(input, weights, channel) /
                                              static_cast<double>(output.scale[0])));
  return multipliers;
}

std::optional<AddRescaling> add_rescaling(DataType type, double a, double b, double output) {
  AddRescaling result{type == DataType::Int16 ? 15 : 20, {}, {}, {}};
  const double common = 2.0 * std::max(a, b);
  const double scale = std::ldexp(1.0, result.left_shift);
  result.a = quantize_multiplier(a / common);
  result.b = quantize_multiplier(b / common);
  result.output = quantize_multiplier(common / (scale * output));
  const bool representable = result.a.shift <= 0 && result.b.shift <= 0 && result.output.shift <= 0;
  return representable ? std::optional(result) : std::nullopt;
}

std::optional<AddRescaling> squared_difference_rescaling(DataType type, double a, double b,
                                                         float output) {
  AddRescaling result{type == DataType::Int16 ? 0 : 7, {}, {}, {}};
  const double common = 2.0 * std::max(a, b);
  const float unit = static_cast<float>(1 << (2 * result.left_shift)) * output;
  result.a = quantize_multiplier(a / common);
  result.b = quantize_multiplier(b / common);
  result.output = quantize_multiplier(common * common / static_cast<double>(unit));
  return result;
}

std::optional<SoftmaxScaling> softmax_scaling(double scale, double beta) {
  constexpr int kIntegerBits = 5;
  constexpr double kLeast =
      1 + 0x1p-20;  // the fixed point takes factors above 1; below, all exponentials are 1
  if (!(beta * scale > 0)) return std::nullopt;
  const double factor =
      std::clamp(beta * scale * (1 << (31 - kIntegerBits)), kLeast, std::ldexp(1.0, 31) - 1.0);
  const Multiplier multiplier = quantize_multiplier(factor);
  const double radius = std::ldexp((1 << kIntegerBits) - 1.0, 31 - kIntegerBits - multiplier.shift);
  return SoftmaxScaling{multiplier, -static_cast<int32_t>(std::floor(radius))};
}

Multiplier mean_multiplier(double input_scale, double output_scale, int64_t count) {
  Multiplier multiplier = quantize_multiplier(input_scale / output_scale);
  // The division by count is folded in with as many bits as fit.
  int shift = 63 - std::countl_zero(static_cast<uint64_t>(count));
  shift = std::min({shift, 32, 31 + multiplier.shift});
  multiplier.value =
      static_cast<int32_t>((static_cast<int64_t>(multiplier.value) << shift) / count);
  multiplier.shift -= shift;
  return multiplier;
}

}  // namespace intarsia::operators
