// Recorded results: where they lie, and how values are compared with them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "intarsia/graph.h"
#include "recorded_data.h"

namespace intarsia::graph {

using test::shared_folder;

inline std::vector<uint8_t> bytes_of(const std::filesystem::path& file) {
  return test::read_bytes(file);
}

inline float float_element(const TensorValue& value, size_t i) {
  float result;
  std::memcpy(&result, value.data() + i * sizeof result, sizeof result);
  return result;
}

// The first element of two float tensors that differs too much, or -1. What is not finite has to be the same.
inline int64_t first_difference(const TensorValue& actual, const TensorValue& expected) {
  constexpr float kTolerance = 4e-5f;
  float largest = 1;
  const size_t count = expected.size() / sizeof(float);
  for (size_t i = 0; i < count; ++i)
    if (std::isfinite(float_element(expected, i)))
      largest = std::max(largest, std::abs(float_element(expected, i)));
  for (size_t i = 0; i < count; ++i) {
    const float a = float_element(actual, i), e = float_element(expected, i);
    if (a == e || (std::isnan(a) && std::isnan(e))) continue;
    if (!(std::abs(a - e) <= kTolerance * largest)) return static_cast<int64_t>(i);
  }
  return -1;
}

// The largest difference of two float tensors in steps of a quantisation; infinite where one is not finite.
inline float largest_steps(const TensorValue& actual, const TensorValue& expected, float step) {
  float largest = 0;
  for (size_t i = 0; i < expected.size() / sizeof(float); ++i) {
    const float steps = std::abs(float_element(actual, i) - float_element(expected, i)) / step;
    if (!std::isfinite(steps)) return std::numeric_limits<float>::infinity();
    largest = std::max(largest, steps);
  }
  return largest;
}

// "" when the value is as expected, else where it is not. Elements of int16 may be `steps` off.
inline std::string difference(DataType type, const TensorValue& actual, const TensorValue& expected,
                              int64_t steps = 0) {
  if (actual.size() != expected.size())
    return std::to_string(actual.size()) + " bytes instead of " + std::to_string(expected.size());
  if (type == DataType::Float32) {
    const int64_t at = first_difference(actual, expected);
    return at == -1 ? "" : "element " + std::to_string(at) + " differs too much";
  }
  if (steps != 0 && type == DataType::Int16) {
    for (size_t at = 0; at + 2 <= expected.size(); at += 2) {
      int16_t a, e;
      std::memcpy(&a, &actual[at], 2), std::memcpy(&e, &expected[at], 2);
      if (std::abs(a - e) > steps) return "element " + std::to_string(at / 2) + " differs too much";
    }
    return "";
  }
  const auto [a, e] = std::mismatch(actual.begin(), actual.end(), expected.begin());
  if (a == actual.end()) return "";
  return "byte " + std::to_string(a - actual.begin()) + " is " + std::to_string(*a) +
         " instead of " + std::to_string(*e);
}

}  // namespace intarsia::graph
