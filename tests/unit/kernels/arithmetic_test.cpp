// Scalar helpers against formulas in wider types.
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "intarsia/kernels/arithmetic.h"
#include "intarsia/kernels/float_quantize.h"

namespace {

TEST(Arithmetic, ClampKeepsTheRange) {
  EXPECT_EQ(intarsia_clamp_i32(INT32_MIN, -128, 127), -128);
  EXPECT_EQ(intarsia_clamp_i32(INT32_MAX, -128, 127), 127);
  EXPECT_EQ(intarsia_clamp_i32(5, -128, 127), 5);
  EXPECT_EQ(intarsia_clamp_i32(5, 7, 7), 7);
  EXPECT_EQ(intarsia_min_i32(INT32_MIN, INT32_MAX), INT32_MIN);
  EXPECT_EQ(intarsia_max_i32(INT32_MIN, INT32_MAX), INT32_MAX);
}

TEST(Arithmetic, DivisionRoundsToNearestHalvesAwayFromZero) {
  for (int32_t count = 1; count <= 70; ++count) {
    for (int32_t sum = -900; sum <= 900; ++sum) {
      const long expected = std::lround(static_cast<double>(sum) / count);
      ASSERT_EQ(intarsia_divide_round_i32(sum, count), expected) << sum << " / " << count;
    }
  }
}

TEST(Arithmetic, DivisionAtTheEdges) {
  EXPECT_EQ(intarsia_divide_round_i32(INT32_MAX, 1), INT32_MAX);
  EXPECT_EQ(intarsia_divide_round_i32(INT32_MIN, 1), INT32_MIN);
  EXPECT_EQ(intarsia_divide_round_i32(0, INT32_MAX), 0);
}

TEST(FloatQuantize, EqualsRoundInDouble) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> values(-40.0f, 40.0f), scales(1e-4f, 1.0f);
  std::uniform_int_distribution<int32_t> zero_points(-128, 127);
  for (int n = 0; n < 200000; ++n) {
    const float value = values(random), scale = scales(random);
    const int32_t zero_point = zero_points(random);
    const double unclamped = std::round(static_cast<double>(value / scale)) + zero_point;
    const auto expected = static_cast<int32_t>(std::fmax(-32768.0, std::fmin(32767.0, unclamped)));
    ASSERT_EQ(intarsia_quantize_f32(value, scale, zero_point, -32768, 32767), expected)
        << value << " / " << scale;
  }
}

TEST(FloatQuantize, HalvesGoAwayFromZero) {
  for (int32_t n = -200; n <= 200; ++n) {
    const float half = static_cast<float>(n) + 0.5f;
    EXPECT_EQ(intarsia_quantize_f32(half, 1.0f, 3, -500, 500), std::lround(half) + 3);
    const float below = std::nextafter(half, 0.0f);
    EXPECT_EQ(intarsia_quantize_f32(below, 1.0f, 3, -500, 500), std::lround(below) + 3);
  }
}

TEST(FloatQuantize, WhatNoIntegerHoldsIsLimited) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(intarsia_quantize_f32(infinity, 0.5f, -1, -128, 127), 127);
  EXPECT_EQ(intarsia_quantize_f32(-infinity, 0.5f, -1, -128, 127), -128);
  EXPECT_EQ(intarsia_quantize_f32(3e38f, 1e-3f, -1, -128, 127), 127);
  EXPECT_EQ(intarsia_quantize_f32(-3e38f, 1e-3f, -1, -128, 127), -128);
  EXPECT_EQ(intarsia_quantize_f32(std::nanf(""), 1.0f, 0, -128, 127), -128);
}

}  // namespace
