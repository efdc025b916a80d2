#include "program/scaling.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "intarsia/plugin/check.h"

namespace intarsia::targets::ethos_u {
namespace {

constexpr int kMostShift = 63;

// A 40-bit accumulator times a 32-bit multiplier.
__extension__ using Wide = __int128;

int64_t shifted_half_up(Wide value, int shift) {
  if (shift == 0) return static_cast<int64_t>(value);
  return static_cast<int64_t>((value + (Wide{1} << (shift - 1))) >> shift);
}

int64_t shifted_half_away(int64_t value, int shift) {
  if (shift == 0) return value;
  const int64_t half = int64_t{1} << (shift - 1);
  return value >= 0 ? (value + half) >> shift : -((-value + half) >> shift);
}

}  // namespace

FixedFactor fixed_factor(double real) {
  if (real == 0) return {};
  int exponent = 0;
  const double fraction = std::frexp(real, &exponent);
  auto value = static_cast<int64_t>(std::round(std::ldexp(fraction, 31)));
  if (value == int64_t{1} << 31) {
    value /= 2;
    ++exponent;
  }
  if (exponent < -31) return {};  // whatever is multiplied rounds to zero
  return {static_cast<int32_t>(value), exponent};
}

std::optional<ChannelScale> channel_scale(const FixedFactor& factor) {
  const int shift = 31 - factor.exponent;
  if (shift < 0 || shift > kMostShift || factor.value < 0) return std::nullopt;
  return ChannelScale{.multiplier = static_cast<uint32_t>(factor.value), .shift = shift};
}

std::optional<ChannelScale> reduced_channel_scale(double real) {
  const FixedFactor factor = fixed_factor(real);
  const int64_t reduced =
      factor.value < 0x7fff0000 ? (int64_t{factor.value} + (1 << 15)) >> 16 : 0x7fff;
  const int shift = 15 - factor.exponent;
  if (shift < 0 || shift > kMostShift) return std::nullopt;
  return ChannelScale{.multiplier = static_cast<uint32_t>(reduced), .shift = shift};
}

int64_t scaled(int64_t value, const ChannelScale& scale, Rounding rounding) {
  const Wide product = static_cast<Wide>(value + scale.bias) * scale.multiplier;
  switch (rounding) {
    case Rounding::Natural:
      return shifted_half_up(product, scale.shift);
    case Rounding::Truncate: {
      const Wide quotient = (product < 0 ? -product : product) >> scale.shift;
      return static_cast<int64_t>(product < 0 ? -quotient : quotient);
    }
    case Rounding::Tfl:
      if (scale.shift <= 31) return shifted_half_up(product, scale.shift);
      return shifted_half_away(shifted_half_up(product, 31), scale.shift - 31);
  }
  INTARSIA_CHECK(false, "every rounding has a case");
}

int32_t multiply(int32_t value, const FixedFactor& factor) {
  const auto left = static_cast<unsigned>(std::clamp(factor.exponent, 0, 31));
  const auto shifted = static_cast<int32_t>(static_cast<uint32_t>(value) << left);
  const int64_t high = shifted_half_up(static_cast<Wide>(shifted) * factor.value, 31);
  return static_cast<int32_t>(shifted_half_away(high, std::max(-factor.exponent, 0)));
}

int32_t rounding_shift_right(int32_t value, int shift) {
  return static_cast<int32_t>(shifted_half_away(value, shift));
}

double scale_of(const graph::Tensor& tensor, size_t channel) {
  const std::vector<float>& scale = tensor.quantization.scale;
  return static_cast<double>(scale.size() > 1 ? scale.at(channel) : scale.at(0));
}

int32_t zero_point_of(const graph::Tensor& tensor) {
  return tensor.quantization.present() ? static_cast<int32_t>(tensor.quantization.zero_point.at(0))
                                       : 0;
}

Clamp range_of(DataType type) {
  switch (type) {
    case DataType::UInt8:
      return {0, 255};
    case DataType::Int8:
      return {-128, 127};
    case DataType::Int16:
      return {-32768, 32767};
    default:
      return {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
  }
}

Clamp clamp_of(graph::Activation activation, const graph::Tensor& output) {
  const Clamp range = range_of(output.type);
  const auto steps = [&](float real) {  // in float, as the reference does
    constexpr float kFar = 1e9f;
    const float quotient = std::round(real / output.quantization.scale.at(0));
    const auto value =
        static_cast<int64_t>(std::clamp(quotient, -kFar, kFar)) + zero_point_of(output);
    return static_cast<int32_t>(std::clamp<int64_t>(value, range.low, range.high));
  };
  switch (activation) {
    case graph::Activation::None:
      return range;
    case graph::Activation::Relu:
      return {steps(0), range.high};
    case graph::Activation::ReluN1To1:
      return {steps(-1), steps(1)};
    case graph::Activation::Relu6:
      return {steps(0), steps(6)};
  }
  INTARSIA_CHECK(false, "every activation has a case");
}

}  // namespace intarsia::targets::ethos_u
