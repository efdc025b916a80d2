#include "intarsia/plugin/quantization.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace intarsia::operators {

namespace {

TEST(QuantizeMultiplier, PowersOfTwoAreExact) {
  for (int exponent = -30; exponent <= 30; ++exponent) {
    EXPECT_EQ(quantize_multiplier(std::ldexp(1.0, exponent)), (Multiplier{1 << 30, exponent + 1}));
  }
  EXPECT_TRUE(is_identity(quantize_multiplier(1.0)));
}

TEST(QuantizeMultiplier, Edges) {
  EXPECT_EQ(quantize_multiplier(0.0), (Multiplier{0, 0}));
  // Rounds up to 2^31: halved, one shift more.
  EXPECT_EQ(quantize_multiplier(std::nextafter(1.0, 0.0)), (Multiplier{1 << 30, 1}));
  EXPECT_EQ(quantize_multiplier(1.0 - std::ldexp(1.0, -31)), (Multiplier{INT32_MAX, 0}));
  // The last factor that is kept, and the first that becomes zero.
  EXPECT_EQ(quantize_multiplier(std::ldexp(1.0, -32)), (Multiplier{1 << 30, -31}));
  EXPECT_EQ(quantize_multiplier(std::ldexp(0.99, -32)), (Multiplier{0, 0}));
}

TEST(QuantizeMultiplier, IsTheNearest) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> factors(1e-6, 8.0);
  for (int n = 0; n < 100000; ++n) {
    const double factor = factors(random);
    const Multiplier m = quantize_multiplier(factor);
    ASSERT_GE(m.value, 1 << 30);
    ASSERT_NEAR(std::ldexp(static_cast<double>(m.value), m.shift - 31), factor,
                std::ldexp(factor, -31));
  }
}

TEST(ActivationRange, ClampsTheQuantisedResult) {
  using graph::Activation;
  const auto range = [](Activation a, double scale, int64_t zero) {
    const Range r = activation_range(a, DataType::Int8, scale, zero);
    return std::pair(r.low, r.high);
  };
  EXPECT_EQ(range(Activation::None, 0.1, 3), std::pair(int64_t{-128}, int64_t{127}));
  EXPECT_EQ(range(Activation::Relu, 0.1, 3), std::pair(int64_t{3}, int64_t{127}));
  EXPECT_EQ(range(Activation::Relu6, 0.1, 3), std::pair(int64_t{3}, int64_t{63}));
  EXPECT_EQ(range(Activation::Relu6, 0.01, 3), std::pair(int64_t{3}, int64_t{127}));
  EXPECT_EQ(range(Activation::ReluN1To1, 0.1, 3), std::pair(int64_t{-7}, int64_t{13}));
  EXPECT_EQ(range(Activation::Relu, 0.1, -128), std::pair(int64_t{-128}, int64_t{127}));
  // The limits are beyond all integers, and the quotient may be infinite.
  for (const double scale : {1e-9, 1e-20, 1e-44}) {
    EXPECT_EQ(range(Activation::Relu6, scale, 3), std::pair(int64_t{3}, int64_t{127}));
    EXPECT_EQ(range(Activation::ReluN1To1, scale, 3), std::pair(int64_t{-128}, int64_t{127}));
  }
}

TEST(ConvolutionMultiplier, MultipliesScalesInDoublePrecision) {
  const graph::Quantization input{{0.1f}, {0}, 0}, weights{{0.3f}, {0}, 0}, output{{0.7f}, {0}, 0};
  const double single = static_cast<double>(0.1f * 0.3f) / static_cast<double>(0.7f);
  const double exact = static_cast<double>(0.1f) * 0.3f / static_cast<double>(0.7f);
  ASSERT_NE(quantize_multiplier(single), quantize_multiplier(exact));
  EXPECT_EQ(conv_multipliers(input, weights, output), std::vector{quantize_multiplier(exact)});
}

TEST(AddRescaling, IsNoneWhenAFactorIsNotBelowOne) {
  EXPECT_TRUE(add_rescaling(DataType::Int8, 0.1, 0.2, 0.3));
  EXPECT_FALSE(add_rescaling(DataType::Int8, 1.0, 1.0, 1e-7));
}

TEST(SoftmaxScaling, CoversTheRangeOfTheExponential) {
  const auto scaling = softmax_scaling(0.1, 1.0);
  ASSERT_TRUE(scaling);
  // The smallest difference that counts lies within Q5.26, the next does not.
  const double step = 0.1, reach = 32.0;
  EXPECT_GE(step * scaling->diff_min, -reach);
  EXPECT_LT(step * (scaling->diff_min * 2 - 1), -reach);
  EXPECT_FALSE(softmax_scaling(0.1, 0.0));
  // The least factor there is, for inputs so fine that all exponentials are 1.
  EXPECT_EQ(softmax_scaling(1e-9, 1.0)->multiplier.shift, 1);
}

TEST(MeanMultiplier, DividesByTheCount) {
  for (const int64_t count : {1, 2, 3, 25, 49, 1000}) {
    const Multiplier m = mean_multiplier(0.02, 0.05, count);
    const double factor = std::ldexp(static_cast<double>(m.value), m.shift - 31);
    EXPECT_NEAR(factor, 0.4 / static_cast<double>(count), 1e-9);
  }
}

}  // namespace

}  // namespace intarsia::operators
