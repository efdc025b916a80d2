// The error function and GELU in single precision beside the C library's in double precision.
#include "intarsia/kernels/float_functions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

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

// Angles of any size: the whole turns of 3e38 are taken off exactly.
TEST(FloatFunctions, SineAndCosine) {
  const auto expect_both = [](float x) {
    EXPECT_NEAR(intarsia_sin_f32(x), std::sin(static_cast<double>(x)), 1e-6) << x;
    EXPECT_NEAR(intarsia_cos_f32(x), std::cos(static_cast<double>(x)), 1e-6) << x;
  };
  for_many_arguments(expect_both);
  for (int exponent = -149; exponent < 128; ++exponent)
    for (const float m : {1.0f, 1.2345678f, 1.5707964f, 1.9999999f})
      for (const float sign : {1.0f, -1.0f}) expect_both(std::ldexp(sign * m, exponent));
}

// Of large results too, and of bases next to 1 with exponents to match.
TEST(FloatFunctions, Powers) {
  const auto expect_power = [](float x, float y) {
    const double power = std::pow(static_cast<double>(x), static_cast<double>(y));
    const float found = intarsia_pow_f32(x, y);
    if (power > static_cast<double>(std::numeric_limits<float>::max()))
      EXPECT_GE(found, 3.4e38f) << x << ", " << y;
    else
      EXPECT_NEAR(found, power, 1e-6 * power + 1.5e-45) << x << ", " << y;
  };
  for (int exponent = -149; exponent < 128; exponent += 3)
    for (const float m : {1.0f, 1.000001f, 1.4142135f, 1.4142137f, 1.75f, 1.9999999f})
      for (const float y : {-3.0f, -1.0f, -0.75f, -0.5f, 1e-40f, 0.3f, 0.5f, 1.0f, 2.5f, 7.0f})
        expect_power(std::ldexp(m, exponent), y);
  for (int exponent = -23; exponent < 0; ++exponent)
    for (const float sign : {1.0f, -1.0f})
      for (const float y : {0.7f, 50.0f, 87.0f, -88.0f, 101.0f, 130.0f, 1e30f, -1e30f})
        expect_power(1.0f + sign * std::ldexp(1.0f, exponent - 1), y * std::ldexp(1.0f, -exponent));
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(intarsia_pow_f32(-2.0f, 3.0f), -8.0f);
  EXPECT_EQ(intarsia_pow_f32(-0.0f, 3.0f), 0.0f);
  EXPECT_EQ(intarsia_pow_f32(0.5f, infinity), 0.0f);
  EXPECT_EQ(intarsia_pow_f32(infinity, 0.5f), infinity);
  EXPECT_TRUE(std::isnan(intarsia_pow_f32(-1.5f, 0.5f)));
  // Whatever the exponent; from 2^24 on all of them are even.
  for (const float y : {-3.0f, 2.0f, 5.0f, 16777216.0f, -2147483648.0f, 1e20f, 3.4e38f, -3.4e38f})
    EXPECT_EQ(intarsia_pow_f32(-1.0f, y), y == -3.0f || y == 5.0f ? -1.0f : 1.0f) << y;
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
// On both sides of where floats have no fractions, and of the limits of integers.
TEST(FloatFunctions, FloorAndTruncation) {
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> all = {infinity, -infinity};
  for (const float size :
       {0.0f, 0.49f, 0.5f, 1.0f, 1.5f, 8388607.5f, 8388608.0f, 2147483520.0f, 2147483648.0f, 3e38f})
    for (const float sign : {1.0f, -1.0f})
      for (const float to : {-infinity, infinity})
        all.push_back(sign * size), all.push_back(std::nextafter(sign * size, to));
  for (const float x : all) {
    EXPECT_EQ(intarsia_floor_f32(x), std::floor(x)) << x;
    EXPECT_EQ(intarsia_ceil_f32(x), std::ceil(x)) << x;
    const double whole =
        std::clamp(std::trunc(static_cast<double>(x)), -2147483648.0, 2147483647.0);
    EXPECT_EQ(intarsia_truncate_f32(x), static_cast<int32_t>(whole)) << x;
  }
  const float none = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(intarsia_floor_f32(none)));
  EXPECT_EQ(intarsia_truncate_f32(none), 0);
}

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
