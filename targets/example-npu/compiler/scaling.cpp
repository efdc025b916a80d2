#include "scaling.h"

#include <algorithm>
#include <cmath>

#include "commands.h"

namespace intarsia::targets::example_npu {
namespace {

double scale(const graph::Tensor& tensor) {
  return tensor.quantization.scale.at(0);
}

}  // namespace

Factor make_factor(double real) {
  int exponent = 0;
  const double fraction = std::frexp(real, &exponent);
  auto value = std::llround(std::ldexp(fraction, 31));
  if (value == int64_t{1} << 31) {
    value /= 2;
    ++exponent;
  }
  if (exponent < -31) return {};  // whatever is multiplied rounds to zero
  return {static_cast<int32_t>(value), std::max(exponent, 0), std::max(-exponent, 0)};
}

AddFactors add_factors(const graph::Tensor& a, const graph::Tensor& b, const graph::Tensor& out) {
  const double common = 2 * std::max(scale(a), scale(b));
  return {make_factor(scale(a) / common), make_factor(scale(b) / common),
          make_factor(common / (std::ldexp(1.0, kAddLeftShift) * scale(out)))};
}

Factor mul_factor(const graph::Tensor& a, const graph::Tensor& b, const graph::Tensor& out) {
  return make_factor(scale(a) * scale(b) / scale(out));
}

std::optional<Clamp> clamp_of(graph::Activation activation, const graph::Quantization& output) {
  Clamp clamp;
  if (activation == graph::Activation::None) return clamp;
  if (activation == graph::Activation::ReluN1To1) return std::nullopt;
  const int64_t zero = output.zero_point.at(0);
  clamp.low = std::max(clamp.low, zero);
  if (activation == graph::Activation::Relu6) {
    // In float, as the reference does; far values need no exact rounding.
    const float six = std::min(std::round(6.0f / output.scale.at(0)), 1000.0f);
    clamp.high = std::min(clamp.high, zero + static_cast<int64_t>(six));
  }
  return clamp;
}

}  // namespace intarsia::targets::example_npu
