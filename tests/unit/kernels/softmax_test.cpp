// Rows of softmax: properties, nearness to the mathematical function, and fixed results.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "intarsia/kernels/softmax.h"

namespace {

// scale * beta * 2^26 as multiplier and shift, for scales of (1/2, 1] * 2^-k.
struct Scaling {
  double scale;
  int32_t multiplier, shift, diff_min;
};

Scaling scaling(double scale) {
  int exponent = 0;
  const double fraction = std::frexp(scale * (1 << 26), &exponent);
  return {scale, static_cast<int32_t>(std::lround(fraction * 2147483648.0)), exponent,
          -static_cast<int32_t>(std::floor(std::ldexp(31.0, 26 - exponent)))};
}

std::vector<int8_t> softmax(const std::vector<int8_t>& row, const Scaling& s) {
  std::vector<int8_t> result(row.size());
  intarsia_softmax_s8(row.data(), result.data(), static_cast<int32_t>(row.size()), s.multiplier,
                      s.shift, s.diff_min);
  return result;
}

TEST(SoftmaxS8, NearTheMathematicalFunction) {
  std::mt19937 random(3);
  std::uniform_int_distribution<int> values(-128, 127);
  std::uniform_int_distribution<size_t> lengths(1, 40);
  for (const double scale : {0.003, 0.02, 0.0625, 0.1, 0.3}) {
    const Scaling s = scaling(scale);
    for (int n = 0; n < 200; ++n) {
      std::vector<int8_t> row(lengths(random));
      for (int8_t& v : row) v = static_cast<int8_t>(values(random));
      const std::vector<int8_t> result = softmax(row, s);
      const int8_t largest = *std::max_element(row.begin(), row.end());
      double sum = 0.0;
      for (const int8_t v : row) sum += std::exp((v - largest) * scale);
      for (size_t i = 0; i < row.size(); ++i) {
        const double exact =
            std::min(255.0, 256.0 * std::exp((row[i] - largest) * scale) / sum) - 128.0;
        ASSERT_NEAR(static_cast<double>(result[i]), exact, 0.51);
      }
    }
  }
}

TEST(SoftmaxS8, OneElementIsCertain) {
  EXPECT_EQ(softmax({-128}, scaling(0.1)), std::vector<int8_t>({127}));
  EXPECT_EQ(softmax({127}, scaling(0.1)), std::vector<int8_t>({127}));
}

TEST(SoftmaxS8, EqualElementsShareEqually) {
  EXPECT_EQ(softmax({5, 5}, scaling(0.1)), std::vector<int8_t>({0, 0}));
  EXPECT_EQ(softmax({5, 5, 5, 5}, scaling(0.1)), std::vector<int8_t>({-64, -64, -64, -64}));
  const std::vector<int8_t> many(4095, 7);
  const std::vector<int8_t> result = softmax(many, scaling(0.1));
  EXPECT_TRUE(std::all_of(result.begin(), result.end(), [](int8_t v) { return v == -128; }));
}

TEST(SoftmaxS8, FarBelowTheMaximumIsZero) {
  EXPECT_EQ(softmax({127, -128}, scaling(0.3)), std::vector<int8_t>({127, -128}));
}

TEST(SoftmaxS8, InPlaceIsTheSame) {
  std::vector<int8_t> row{3, -20, 50, 50, 49, -128, 127, 120};
  const Scaling s = scaling(0.07);
  const std::vector<int8_t> apart = softmax(row, s);
  intarsia_softmax_s8(row.data(), row.data(), static_cast<int32_t>(row.size()), s.multiplier,
                      s.shift, s.diff_min);
  EXPECT_EQ(row, apart);
}

TEST(SoftmaxF32, EqualsTheFunctionInDouble) {
  std::mt19937 random(5);
  std::uniform_real_distribution<float> values(-12.0f, 12.0f);
  for (int n = 0; n < 500; ++n) {
    std::vector<float> row(17), result(17);
    for (float& v : row) v = values(random);
    const float beta = 0.7f;
    intarsia_softmax_f32(row.data(), result.data(), 17, beta);
    const double largest = *std::max_element(row.begin(), row.end());
    double sum = 0.0;
    for (const float v : row) sum += std::exp((v - largest) * beta);
    for (size_t i = 0; i < row.size(); ++i) {
      ASSERT_NEAR(result[i], std::exp((row[i] - largest) * beta) / sum, 2e-6);
    }
    EXPECT_NEAR(std::accumulate(result.begin(), result.end(), 0.0), 1.0, 2e-6);
  }
}

}  // namespace
