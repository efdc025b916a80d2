// A network of floats around a middle of int8, so that unlike devices each have a part, and what its results are compared by.
// Its first layer is exact in any order of summing, so that the middle has the same integers whoever computes it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace intarsia::test {

struct MixedNetwork {
  std::string text;
  std::vector<uint8_t> input;
};

inline std::string numbers_text(int count, int step, int range, float unit) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += fmt::format("{}{:g}", i == 0 ? "" : ", ",
                        static_cast<float>(i * step % (2 * range + 1) - range) * unit);
  return text;
}

inline MixedNetwork mixed_network() {
  MixedNetwork made;
  made.text = fmt::format(R"(intarsia.graph mixed
const @0 w = f32[{}]
const @1 v = i8[{}]
const @2 bias = i32[{}]
func @main(%0) -> (%8) {{
  %0 a: f32[1,8,8,4]
  %1 w: f32[8,1,1,4] = @0
  %2 b: f32[1,8,8,8]
  %3 q: i8[1,8,8,8] q(0.03125:0)
  %4 v: i8[8,1,1,8] q(0.015625) = @1
  %5 bias: i32[8] = @2
  %6 r: i8[1,8,8,8] q(0.0625:0)
  %7 d: f32[1,8,8,8]
  %8 e: f32[1,8,8,8]
  conv2d first(%0, %1) -> (%2)
  quantize narrow(%2) -> (%3)
  conv2d inner(%3, %4, %5) -> (%6)
  dequantize widen(%6) -> (%7)
  tanh last(%7) -> (%8)
}}
entry @main
)",
                          numbers_text(32, 5, 16, 0.0625f), numbers_text(64, 29, 100, 1),
                          numbers_text(8, 3, 5, 20));
  for (int i = 0; i < 8 * 8 * 4; ++i) {
    const float value = static_cast<float>(i * 37 % 129 - 64) / 64.0f;
    const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
    made.input.insert(made.input.end(), bytes, bytes + sizeof value);
  }
  return made;
}

// The largest distance of two results, in units of the first one's magnitude, or of 1 where that is below.
inline float float_distance(const std::vector<uint8_t>& expected,
                            const std::vector<uint8_t>& actual) {
  if (expected.size() != actual.size() || expected.empty()) return HUGE_VALF;
  float largest = 0;
  for (size_t at = 0; at < expected.size(); at += sizeof(float)) {
    float a = 0, b = 0;
    std::memcpy(&a, expected.data() + at, sizeof a);
    std::memcpy(&b, actual.data() + at, sizeof b);
    largest = std::max(largest, std::abs(a - b) / std::max(1.0f, std::abs(a)));
  }
  return largest;
}

}  // namespace intarsia::test
