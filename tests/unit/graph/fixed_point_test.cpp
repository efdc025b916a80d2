#include "intarsia/plugin/fixed_point.h"

#include <gtest/gtest.h>

namespace intarsia::graph {
namespace {

constexpr int32_t kMin = std::numeric_limits<int32_t>::min();
constexpr int32_t kMax = std::numeric_limits<int32_t>::max();

TEST(FixedPoint, FactorsAreFractionsOfHalfToOne) {
  const auto parts = [](double real) {
    const FixedFactor factor = fixed_factor(real);
    return std::pair(factor.value, factor.shift);
  };
  EXPECT_EQ(parts(0), std::pair(0, 0));
  EXPECT_EQ(parts(0.5), std::pair(1 << 30, 0));
  EXPECT_EQ(parts(1), std::pair(1 << 30, 1));
  EXPECT_EQ(parts(0.75), std::pair(3 << 29, 0));
  EXPECT_EQ(parts(1.0 - 1e-12), std::pair(1 << 30, 1)) << "rounds up to the next power of two";
  EXPECT_EQ(parts(std::ldexp(0.5, -31)), std::pair(1 << 30, -31));
  EXPECT_EQ(parts(std::ldexp(0.5, -32)), std::pair(0, 0)) << "rounds every product to 0";
}

TEST(FixedPoint, RoundingShiftTakesTiesAwayFromZero) {
  EXPECT_EQ(rounding_shift_right(5, 1), 3);
  EXPECT_EQ(rounding_shift_right(-5, 1), -3);
  EXPECT_EQ(rounding_shift_right(5, 2), 1);
  EXPECT_EQ(rounding_shift_right(6, 2), 2);
  EXPECT_EQ(rounding_shift_right(-6, 2), -2);
  EXPECT_EQ(rounding_shift_right(7, 0), 7);
  EXPECT_EQ(rounding_shift_right(kMin, 31), -1);
  EXPECT_EQ(rounding_shift_right(kMax, 31), 1);
}

TEST(FixedPoint, DoublingHighProduct) {
  EXPECT_EQ(doubling_high_product(1 << 30, 1 << 30), 1 << 29);
  EXPECT_EQ(doubling_high_product(1, 1 << 30), 1) << "half, up";
  EXPECT_EQ(doubling_high_product(-1, 1 << 30), 0) << "minus half, toward zero";
  EXPECT_EQ(doubling_high_product(-3, 1 << 30), -1);
  EXPECT_EQ(doubling_high_product(kMin, kMin), kMax);
}

TEST(FixedPoint, MultiplyRoundsTwice) {
  EXPECT_EQ(multiply(66, fixed_factor(0.5)), 33);
  EXPECT_EQ(multiply(10, fixed_factor(8)), 80);
  // 1.5 * 0.25 * 2: the first rounding makes 3 * 0.5 a 2, the second 2 / 4 a 1; once would be 0.
  EXPECT_EQ(multiply(3, FixedFactor{1 << 30, -2}), 1);
  EXPECT_EQ(multiply(1 << 30, fixed_factor(4)), 0) << "the left shift wraps around";
}

TEST(FixedPoint, MultiplyOf64BitsRoundsOnce) {
  EXPECT_EQ(multiply(INT64_C(66), fixed_factor(0.5)), 33);
  EXPECT_EQ(multiply(INT64_C(3), FixedFactor{1 << 30, -2}), 0);
  EXPECT_EQ(multiply(INT64_C(1) << 40, fixed_factor(std::ldexp(1.0, -20))), 1 << 20);
  // 15 bits of the factor: 0.7 is 22938 / 32768.
  EXPECT_EQ(multiply(INT64_C(100000000), fixed_factor(0.7)), 70001221);
  EXPECT_EQ(multiply(INT64_C(-1), fixed_factor(0.5)), 0) << "minus half, up";
}

TEST(FixedPoint, ActivationRanges) {
  Tensor tensor;
  tensor.quantization = {{0.5f}, {-10}};
  const auto range = [&](Activation activation) {
    const Range<int64_t> r = quantized_range<int8_t>(activation, tensor);
    return std::pair(r.least, r.most);
  };
  using Pair = std::pair<int64_t, int64_t>;
  EXPECT_EQ(range(Activation::None), Pair(-128, 127));
  EXPECT_EQ(range(Activation::Relu), Pair(-10, 127));
  EXPECT_EQ(range(Activation::Relu6), Pair(-10, 2));
  EXPECT_EQ(range(Activation::ReluN1To1), Pair(-12, -8));
  tensor.quantization.scale[0] = 1e-38f;
  EXPECT_EQ(range(Activation::Relu6), Pair(-10, 127));
}

}  // namespace
}  // namespace intarsia::graph
