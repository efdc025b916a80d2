// TFLite's fixed-point arithmetic, as the evaluator uses it: a real factor becomes an int32
// fraction and a power of two, and products are rounded twice (once to the high half of a 64-bit
// product, once by the right shift), as TFLite Micro's reference kernels do. Where those kernels
// would overflow a signed integer the results here wrap around, so that nothing is undefined. On
// two's-complement hardware that is what the kernels give.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "intarsia/graph.h"

namespace intarsia::graph {

// Arithmetic modulo 2^32, as the kernels of devices have it; overflow of int32_t is undefined in C++.
inline int32_t wrapping_add(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}
inline int32_t wrapping_sub(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) - static_cast<uint32_t>(b));
}
inline int32_t wrapping_mul(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b));
}

// The real factor value / 2^31 * 2^shift.
struct FixedFactor {
  int32_t value = 0;
  int shift = 0;
};

// The nearest factor; 0 where every product would round to 0.
inline FixedFactor fixed_factor(double real) {
  if (real == 0) return {};
  int shift = 0;
  const double fraction = std::frexp(real, &shift);
  auto value = static_cast<int64_t>(std::round(fraction * static_cast<double>(INT64_C(1) << 31)));
  if (value == INT64_C(1) << 31) {
    value /= 2;
    ++shift;
  }
  if (shift < -31) return {};  // every product would round to 0
  return {static_cast<int32_t>(value), shift};
}

// High 32 bits of 2 * a * b, rounded to nearest, ties up (toward zero of a negative product).
inline int32_t doubling_high_product(int32_t a, int32_t b) {
  if (a == std::numeric_limits<int32_t>::min() && a == b)
    return std::numeric_limits<int32_t>::max();
  const int64_t product = static_cast<int64_t>(a) * b;
  const int64_t nudge = product >= 0 ? INT64_C(1) << 30 : 1 - (INT64_C(1) << 30);
  return static_cast<int32_t>((product + nudge) / (INT64_C(1) << 31));
}

// x / 2^exponent rounded to nearest, ties away from zero. 0 <= exponent <= 31.
inline int32_t rounding_shift_right(int32_t x, int exponent) {
  const int64_t mask = (INT64_C(1) << exponent) - 1;
  const int64_t remainder = x & mask;
  const int64_t threshold = (mask >> 1) + (x < 0 ? 1 : 0);
  return static_cast<int32_t>((static_cast<int64_t>(x) >> exponent) +
                              (remainder > threshold ? 1 : 0));
}

// x times the factor, rounded to an integer twice where the factor is below 1/2, as TFLite does.
inline int32_t multiply(int32_t x, const FixedFactor& factor) {
  const int left = std::clamp(factor.shift, 0, 31), right = std::max(-factor.shift, 0);
  const auto shifted = static_cast<int32_t>(static_cast<uint32_t>(x) << left);
  return rounding_shift_right(doubling_high_product(shifted, factor.value), right);
}

// For 64-bit accumulators: the factor is cut to 15 bits and the product is rounded once, ties up.
// factor.shift <= 7.
inline int32_t multiply(int64_t x, const FixedFactor& factor) {
  const int64_t reduced =
      factor.value < 0x7fff0000 ? (factor.value + (INT64_C(1) << 15)) >> 16 : 0x7fff;
  const int shift = 15 - factor.shift;
  const uint64_t product = static_cast<uint64_t>(x) * static_cast<uint64_t>(reduced);
  return static_cast<int32_t>(static_cast<int64_t>(product + (UINT64_C(1) << (shift - 1))) >>
                              shift);
}

// Both bounds belong to it.
template <typename T>
struct Range {
  T least, most;
  T clamp(T value) const { return std::min(std::max(value, least), most); }
};

// value + zero_point inside the range, as the element type of an output.
template <typename T>
T requantized(int32_t value, int64_t zero_point, const Range<int64_t>& range) {
  return static_cast<T>(range.clamp(value + zero_point));
}

// The real values that an activation lets pass.
inline Range<float> float_range(Activation activation) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  switch (activation) {
    case Activation::None:
      break;
    case Activation::Relu:
      return {0, kInfinity};
    case Activation::ReluN1To1:
      return {-1, 1};
    case Activation::Relu6:
      return {0, 6};
  }
  return {-kInfinity, kInfinity};
}

// The quantised values that an activation lets pass, for a tensor of element type T with one scale.
template <typename T>
Range<int64_t> quantized_range(Activation activation, const Tensor& output) {
  constexpr int64_t kLeast = std::numeric_limits<T>::min(), kMost = std::numeric_limits<T>::max();
  const auto quantized = [&](float real) {
    const float steps = std::round(real / output.quantization.scale[0]);
    constexpr float kFar = 1e9f;  // far outside of any T, and exact in int64
    return static_cast<int64_t>(std::clamp(steps, -kFar, kFar)) + output.quantization.zero_point[0];
  };
  const Range<float> reals = float_range(activation);
  return {std::isinf(reals.least) ? kLeast : std::max(kLeast, quantized(reals.least)),
          std::isinf(reals.most) ? kMost : std::min(kMost, quantized(reals.most))};
}

}  // namespace intarsia::graph
