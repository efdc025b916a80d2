// The error function and GELU in single precision beside the C library's in double precision.
#include "intarsia/kernels/float_functions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace {

template <typename F>
void for_many_arguments(F&& f) {
  for (int i = -16000; i <= 16000; ++i) f(static_cast<float>(i) / 1000.0f + 1e-4f);
  for (const float x : {0.0f, -0.0f, 1.0f, -1.0f, 1e-30f, -1e-30f, 1e30f, -1e30f}) f(x);
}

TEST(FloatFunctions, ErrorFunction) {
  for_many_arguments([](float x) {
    EXPECT_NEAR(intarsia_erf_f32(x), std::erf(static_cast<double>(x)), 1e-6) << x;
  });
  EXPECT_EQ(intarsia_erf_f32(std::numeric_limits<float>::infinity()), 1.0f);
  EXPECT_EQ(intarsia_erf_f32(-std::numeric_limits<float>::infinity()), -1.0f);
  EXPECT_TRUE(std::isnan(intarsia_erf_f32(std::numeric_limits<float>::quiet_NaN())));
}

TEST(FloatFunctions, AngleOfAPoint) {
  const float infinity = std::numeric_limits<float>::infinity();
  const auto expect_angle = [](float y, float x) {
    const double angle = std::atan2(static_cast<double>(y), static_cast<double>(x));
    const float found = intarsia_atan2_f32(y, x);
    EXPECT_NEAR(found, angle, 1e-6 * std::abs(angle) + 1e-38) << y << ", " << x;
    EXPECT_EQ(std::signbit(found), std::signbit(angle)) << y << ", " << x;
  };
  for_many_arguments([&](float y) {
    for (const float x : {1.0f, -1.0f, 0.37f, -5.5f, 1e20f}) expect_angle(y, x);
  });
  const float edges[] = {0.0f, -0.0f, 1.0f, -1.0f, infinity, -infinity, 1e-40f, 3e38f};
  for (const float y : edges)
    for (const float x : edges) expect_angle(y, x);
  const float none = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(intarsia_atan2_f32(none, 1)) && std::isnan(intarsia_atan2_f32(1, none)));
}

TEST(FloatFunctions, Gelu) {
  for_many_arguments([](float x) {
    const double real = static_cast<double>(x), bound = 1e-6 * std::max(1.0, std::abs(real));
    EXPECT_NEAR(intarsia_gelu_f32(x), 0.5 * real * std::erfc(-real * std::sqrt(0.5)), bound) << x;
    const double inner =
        std::sqrt(2 / 3.14159265358979323846) * (real + 0.044715 * real * real * real);
    EXPECT_NEAR(intarsia_gelu_tanh_f32(x), 0.5 * real * (1 + std::tanh(inner)), bound) << x;
  });
  const float infinity = std::numeric_limits<float>::infinity();
  for (float (*gelu)(float) : {intarsia_gelu_f32, intarsia_gelu_tanh_f32}) {
    EXPECT_EQ(gelu(infinity), infinity);
    EXPECT_EQ(gelu(-infinity), 0.0f);
    EXPECT_TRUE(std::isnan(gelu(std::numeric_limits<float>::quiet_NaN())));
  }
}

// Halves, their neighbours, and where fractions end.
TEST(FloatFunctions, RoundToEven) {
  for (const float whole :
       {0.0f, 1.0f, 2.0f, 7.0f, 4194303.0f, 4194304.0f, 8388607.0f, 8388608.0f, 1e30f})
    for (const float fraction : {0.0f, 0.25f, 0.49999997f, 0.5f, 0.50000006f, 0.75f})
      for (const float sign : {1.0f, -1.0f}) {
        const float x = sign * (whole + fraction);
        EXPECT_EQ(intarsia_round_even_f32(x), std::nearbyint(x)) << x;
      }
  EXPECT_TRUE(std::isnan(intarsia_round_even_f32(std::numeric_limits<float>::quiet_NaN())));
  EXPECT_EQ(intarsia_round_even_f32(-std::numeric_limits<float>::infinity()),
            -std::numeric_limits<float>::infinity());
}

}  // namespace
