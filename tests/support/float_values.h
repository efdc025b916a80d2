// Results in floats beside expected ones. What is not finite has to be the same; the rest may be apart by as much as a
// test says.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>

namespace intarsia::test {

// A part of what is at least one: the larger of one and the expected value, one and the value together, or the larger
// of one and the largest expected value of the tensor.
struct FloatTolerance {
  enum class Of { Value, OneAndValue, LargestValue };
  float part = 0;
  Of of = Of::Value;
};

// The same sums in another order; and what other libraries make of exponentials on top of that, element by element or
// where elements were made of all of a tensor.
inline constexpr FloatTolerance kOtherOrder = {4e-6f, FloatTolerance::Of::OneAndValue};
inline constexpr FloatTolerance kOtherLibrary = {4e-5f, FloatTolerance::Of::Value};
inline constexpr FloatTolerance kOtherLibraryOfTensor = {4e-5f, FloatTolerance::Of::LargestValue};

inline double float_at(std::span<const uint8_t> bytes, size_t i) {
  float value = 0;
  std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
  return value;
}

// "" when they agree, else the first element that does not, with both values.
inline std::string float_difference(std::span<const uint8_t> actual,
                                    std::span<const uint8_t> expected, FloatTolerance tolerance) {
  if (actual.size() != expected.size())
    return std::to_string(actual.size()) + " bytes instead of " + std::to_string(expected.size());
  const size_t count = expected.size() / sizeof(float);
  double largest = 1;
  for (size_t i = 0; i < count; ++i)
    if (std::isfinite(float_at(expected, i)))
      largest = std::max(largest, std::abs(float_at(expected, i)));
  for (size_t i = 0; i < count; ++i) {
    const double a = float_at(actual, i), e = float_at(expected, i);
    if (a == e || (std::isnan(a) && std::isnan(e))) continue;
    const double of = tolerance.of == FloatTolerance::Of::Value         ? std::max(1.0, std::abs(e))
                      : tolerance.of == FloatTolerance::Of::OneAndValue ? 1 + std::abs(e)
                                                                        : largest;
    if (std::isfinite(e) && std::abs(a - e) <= tolerance.part * of) continue;
    return "element " + std::to_string(i) + " is " + std::to_string(a) + " instead of " +
           std::to_string(e);
  }
  return "";
}

// The largest difference in steps of a quantisation; infinite where a value is not finite.
inline double largest_steps(std::span<const uint8_t> actual, std::span<const uint8_t> expected,
                            float step) {
  double largest = 0;
  for (size_t i = 0; i < expected.size() / sizeof(float); ++i) {
    const double steps = std::abs(float_at(actual, i) - float_at(expected, i)) / step;
    if (!std::isfinite(steps)) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, steps);
  }
  return largest;
}

}  // namespace intarsia::test
