// The device's arithmetic: TFLite's, with two roundings, wrapping where 32 bits overflow.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace intarsia::simulators::example_npu {

// x * multiplier / 2^31 to nearest, a tie away from zero in magnitude only when positive.
inline int32_t scale_by_fraction(int32_t x, int32_t multiplier) {
  constexpr int32_t kLeast = std::numeric_limits<int32_t>::min();
  if (x == kLeast && multiplier == kLeast) return std::numeric_limits<int32_t>::max();
  const int64_t product = int64_t{x} * multiplier;
  const int64_t half = product < 0 ? 1 - (int64_t{1} << 30) : int64_t{1} << 30;
  return static_cast<int32_t>((product + half) / (int64_t{1} << 31));
}

// x / 2^shift to nearest, ties away from zero.
inline int32_t shift_right(int32_t x, int64_t shift) {
  if (shift == 0) return x;
  const int64_t half = int64_t{1} << (shift - 1);
  const int64_t magnitude = x < 0 ? -int64_t{x} : int64_t{x};
  const int64_t rounded = (magnitude + half) >> shift;
  return static_cast<int32_t>(x < 0 ? -rounded : rounded);
}

inline int32_t shift_left(int32_t x, int64_t shift) {
  return static_cast<int32_t>(static_cast<uint32_t>(x) << shift);
}

inline int32_t wrapping_sum(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}

inline int8_t clamp(int64_t value, int64_t low, int64_t high) {
  return static_cast<int8_t>(std::max(low, std::min(high, value)));
}

}  // namespace intarsia::simulators::example_npu
