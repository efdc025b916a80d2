// The precision in which scales are combined: part of TFLite's arithmetic.
#include "graph/scales.h"

#include <gtest/gtest.h>

namespace intarsia::graph {
namespace {

Tensor scaled(std::vector<float> scale, DataType type = DataType::Int8) {
  Tensor tensor;
  tensor.type = type;
  tensor.quantization.zero_point.assign(scale.size(), 0);
  tensor.quantization.scale = std::move(scale);
  return tensor;
}

TEST(Scales, OfLayersAreMultipliedAsDouble) {
  const float x = 0.14501544833183289f, w = 0.9487007856369019f;
  const double as_float = 0.13757626712322235, as_double = static_cast<double>(x) * w;
  ASSERT_NE(as_float, as_double);
  const Tensor input = scaled({x}), weights = scaled({w}), output = scaled({1});
  EXPECT_EQ(convolution_factor(input, weights, output, 0), as_double);
  EXPECT_EQ(convolution_factor(input, scaled({1, w}), output, 1), as_double);
  EXPECT_EQ(lstm_gate_factor(input, weights), as_double * (1 << 12));
  EXPECT_EQ(mul_factor(input, weights, output), as_double);
}

TEST(Scales, AdditionShiftsByTheElementType) {
  const AddFactors bytes = add_factors(scaled({0.5f}), scaled({0.25f}), scaled({1}));
  EXPECT_EQ(bytes.left_shift, 20);
  EXPECT_EQ(bytes.a, 0.5);
  EXPECT_EQ(bytes.b, 0.25);
  EXPECT_EQ(bytes.output, 1.0 / (1 << 20));
  const Tensor words = scaled({1}, DataType::Int16);
  EXPECT_EQ(add_factors(words, words, words).left_shift, 15);
  EXPECT_EQ(add_factors(words, words, words).output, 2.0 / (1 << 15));
}

TEST(Scales, RescalingDividesInDoublePrecision) {
  const float x = 0.1f, y = 0.3f;
  EXPECT_EQ(rescale_factor(scaled({x}), scaled({y})), static_cast<double>(x) / y);
  EXPECT_NE(rescale_factor(scaled({x}), scaled({y})), static_cast<double>(x / y));
}

TEST(Scales, SoftmaxIsCapped) {
  EXPECT_EQ(softmax_factor(scaled({0.5f}), 1), 0.5 * (1 << 26));
  EXPECT_EQ(softmax_factor(scaled({1e9f}), 1), 2147483647.0);
}

}  // namespace
}  // namespace intarsia::graph
