// Recorded results: where they lie, and how values are compared with them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "intarsia/graph.h"

namespace intarsia::graph {

inline std::filesystem::path shared_folder() {
  const char* given = std::getenv("INTARSIA_SHARED");
  return given != nullptr ? given : INTARSIA_SHARED_DIR;
}

inline std::vector<uint8_t> bytes_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// The first element of two float tensors that differs too much, or -1.
inline int64_t first_difference(const TensorValue& actual, const TensorValue& expected) {
  constexpr float kTolerance = 4e-5f;
  float largest = 1;
  const auto element = [](const TensorValue& value, size_t i) {
    float result;
    std::memcpy(&result, value.data() + i * sizeof result, sizeof result);
    return result;
  };
  const size_t count = expected.size() / sizeof(float);
  for (size_t i = 0; i < count; ++i) largest = std::max(largest, std::abs(element(expected, i)));
  for (size_t i = 0; i < count; ++i)
    if (!(std::abs(element(actual, i) - element(expected, i)) <= kTolerance * largest))
      return static_cast<int64_t>(i);
  return -1;
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
