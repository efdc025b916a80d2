// Elementary functions against the mathematical ones in long double.
#include <cmath>
#include <cstdint>

#include <gtest/gtest.h>

#include "intarsia/kernels/arithmetic.h"

namespace {

constexpr long double kTwo31 = 2147483648.0L;

TEST(FixedPoint, ExponentialIsNearTheTrueOne) {
  for (int64_t x = 0; x > INT32_MIN; x -= 65537) {
    const long double exact = std::exp(static_cast<long double>(x) / (1 << 26)) * kTwo31;
    const int32_t result = intarsia_exp_q5(static_cast<int32_t>(x));
    ASSERT_NEAR(static_cast<double>(result), static_cast<double>(exact), 600.0) << x;
  }
}

TEST(FixedPoint, ExponentialAtTheEdges) {
  EXPECT_EQ(intarsia_exp_q5(0), INT32_MAX);
  EXPECT_NEAR(intarsia_exp_q5(-1), INT32_MAX, 600);
  EXPECT_EQ(intarsia_exp_q5(INT32_MIN + 1), 0);
}

TEST(FixedPoint, ExponentialDecreasesFromQuarterToQuarter) {
  int32_t last = intarsia_exp_q5(0);
  for (int32_t quarter = 1; quarter < 127; ++quarter) {
    const int32_t next = intarsia_exp_q5(-quarter * (1 << 24));
    ASSERT_LE(next, last);
    last = next;
  }
}

TEST(FixedPoint, ReciprocalIsNearTheTrueOne) {
  const auto check = [](int32_t x) {
    const long double exact = kTwo31 / (1.0L + static_cast<long double>(x) / kTwo31);
    const double limited = std::fmin(static_cast<double>(exact), 2147483647.0);
    ASSERT_NEAR(static_cast<double>(intarsia_reciprocal_of_one_plus_q31(x)), limited, 60.0) << x;
  };
  for (int64_t x = 0; x <= INT32_MAX; x += 70001) check(static_cast<int32_t>(x));
  check(INT32_MAX);
}

TEST(FixedPoint, SinglePrecisionExponential) {
  for (int n = -87000; n <= 88722; n += 7) {
    const float x = static_cast<float>(n) / 1000.0f;
    const double exact = std::exp(static_cast<double>(x));
    ASSERT_NEAR(static_cast<double>(intarsia_exp_f32(x)) / exact, 1.0, 2e-7) << x;
  }
  EXPECT_EQ(intarsia_exp_f32(0.0f), 1.0f);
  EXPECT_EQ(intarsia_exp_f32(-200.0f), 0.0f);
  EXPECT_TRUE(std::isfinite(intarsia_exp_f32(200.0f)));
}

}  // namespace
