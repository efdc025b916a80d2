// The exponential function of the tables: the nearest float, whatever the C library returns.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>

#include "intarsia/plugin/fixed_functions.h"
#include "intarsia/plugin/rounded_exp.h"

namespace intarsia::graph {
namespace {

// The result `ulps` units in the last place away, as another library might have it.
double moved(double value, int ulps) {
  for (; ulps > 0; --ulps) value = std::nextafter(value, INFINITY);
  for (; ulps < 0; ++ulps) value = std::nextafter(value, -INFINITY);
  return value;
}

TEST(RoundedExp, IsTheNearestFloat) {
  std::mt19937 random(5);
  std::uniform_real_distribution<float> values(-105, 89);
  for (int i = 0; i < 200000; ++i) {
    const float x = values(random);
    ASSERT_EQ(rounded_exp(x), static_cast<float>(std::exp(static_cast<long double>(x)))) << x;
  }
}

TEST(RoundedExp, DoesNotDependOnItsLastBits) {
  std::mt19937 random(6);
  std::uniform_real_distribution<float> values(-20, 20);
  for (int i = 0; i < 100000; ++i) {
    const float x = values(random);
    for (const int ulps : {-8, -1, 1, 8})
      ASSERT_EQ(static_cast<float>(moved(portable_exp(x), ulps)), rounded_exp(x)) << x;
  }
}

// Within 2^-50: four units of the last place of a number just above a power of two.
TEST(RoundedExp, IsAccurateInDouble) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> values(-700, 700);
  for (int i = 0; i < 200000; ++i) {
    const double x = values(random);
    const long double exact = std::exp(static_cast<long double>(x));
    ASSERT_LT(std::abs(portable_exp(x) - exact), exact * 0x1p-50L) << x;
  }
}

TEST(RoundedExp, AtItsEnds) {
  EXPECT_EQ(rounded_exp(0), 1);
  EXPECT_EQ(rounded_exp(1), 2.7182817f);
  EXPECT_LT(rounded_exp(88.72283f), INFINITY);
  EXPECT_EQ(rounded_exp(88.72284f), INFINITY);
  EXPECT_EQ(rounded_exp(INFINITY), INFINITY);
  EXPECT_EQ(rounded_exp(-103.97f), 0x1p-149f);
  EXPECT_EQ(rounded_exp(-103.98f), 0);
  EXPECT_EQ(rounded_exp(-INFINITY), 0);
  EXPECT_TRUE(std::isnan(rounded_exp(NAN)));
}

// The points of the sigmoid of int16 are the same for an exponential that is off by a millionth of a
// millionth: none of them is near the middle between two integers.
TEST(SigmoidPoints, DoNotDependOnLastBits) {
  for (int i = 0; i < 256; ++i) {
    const auto point = [&](double change) {
      return std::round(65536 / (1 + portable_exp(-i / 24.0) * (1 + change)));
    };
    EXPECT_EQ(point(0), point(1e-12)) << i;
    EXPECT_EQ(point(0), point(-1e-12)) << i;
  }
  EXPECT_EQ(sigmoid_table().points()[0], 32768u);
}

}  // namespace
}  // namespace intarsia::graph
