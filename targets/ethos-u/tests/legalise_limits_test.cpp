// Graphs that meet a limit of the hardware exactly, and graphs that exceed it by one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph_maker.h"

namespace intarsia::test::ethos_u {
namespace {

using graph::OpKind;
using graph::TensorId;
using testing::Random;

std::string refusal_of_first(const graph::Module& module) {
  return refusal(module, module.entry_function(), module.entry_function().nodes[0]);
}

std::string refusal_of_bias(int64_t value) {
  Random random(1);
  Graph g;
  const TensorId x = g.input(DataType::Int16, {1, 2, 2, 3}, 0.05f, 0);
  const TensorId weights = g.constant(random, DataType::Int8, {2, 1, 1, 3}, {{0.01f}, {0}, 0});
  const TensorId bias = g.constant(random, DataType::Int64, {2}, {{0.05f * 0.01f}, {0}, 0});
  graph::Module module = g.finish(g.node(OpKind::Conv2d, graph::Conv2dAttrs{}, {x, weights, bias},
                                         1, DataType::Int16, 0.1f, 0));
  std::vector<uint8_t> bytes(16, 0);
  for (size_t b = 0; b < 8; ++b)
    bytes.at(8 + b) = static_cast<uint8_t>(static_cast<uint64_t>(value) >> (8 * b));
  module.constants.at(1).bytes = bytes;
  return refusal_of_first(module);
}

TEST(Limits, ABiasHas40Bits) {
  constexpr int64_t kLimit = int64_t{1} << 39;
  EXPECT_EQ(refusal_of_bias(kLimit - 1), "");
  EXPECT_EQ(refusal_of_bias(-kLimit), "");
  for (const int64_t value : {kLimit, -kLimit - 1})
    EXPECT_EQ(refusal_of_bias(value),
              fmt::format("the bias {} of channel 1 does not fit into 40 bits", value));
}

// Two channels of 2 * 32769 weights; all of 127 but the last two of each channel.
std::string refusal_of_weights(int8_t last_of_first, int8_t last_of_second) {
  Random random(1);
  constexpr int64_t kDepth = 32769;
  Graph g;
  const TensorId x = g.input(DataType::Int8, {1, 1, 2, kDepth}, 0.05f, 0);
  const TensorId weights = g.constant(random, DataType::Int8, {2, 1, 2, kDepth}, {{0.01f}, {0}, 0});
  graph::Module module = g.finish(
      g.node(OpKind::Conv2d, graph::Conv2dAttrs{}, {x, weights}, 1, DataType::Int8, 0.1f, 0));
  std::vector<uint8_t> bytes(4 * kDepth, 127);
  const auto end_channel = [&](size_t end, int8_t last) {
    bytes.at(end - 2) = 0;
    bytes.at(end - 1) = static_cast<uint8_t>(last);
  };
  end_channel(bytes.size() / 2, last_of_first);
  end_channel(bytes.size(), last_of_second);
  module.constants.at(0).bytes = bytes;
  return refusal_of_first(module);
}

TEST(Limits, WeightsOfAChannelSumUpTo127Times65536) {
  EXPECT_EQ(refusal_of_weights(0, 0), "");
  EXPECT_EQ(refusal_of_weights(-1, 0), "the weights of channel 0 sum up to 8323073, above 8323072");
  EXPECT_EQ(refusal_of_weights(0, 1), "the weights of channel 1 sum up to 8323073, above 8323072");
}

// A window's row becomes the channels of one pixel, where the row of all of them is no longer than an axis may be.
TEST(Limits, GatheredRowsAreAsLongAsAnAxis) {
  const auto gathers = [](int64_t width) {
    Random random(1);
    Graph g;
    const TensorId x = g.input(DataType::Int8, {1, 5, width, 2}, 0.05f, 0);
    const TensorId weights = g.constant(random, DataType::Int8, {16, 5, 5, 2}, {{0.01f}, {0}, 0});
    const graph::Module module = g.finish(
        g.node(OpKind::Conv2d, graph::Conv2dAttrs{}, {x, weights}, 1, DataType::Int8, 0.1f, 0));
    EXPECT_EQ(refusal_of_first(module), "");
    return legalise(module, module.entry_function()).gathers;
  };
  EXPECT_TRUE(gathers(32768));
  EXPECT_FALSE(gathers(32769));
}

// The scale that a mask of -1e9 gives: TFLM's differences wrap around.
TEST(Limits, DifferencesOfSoftmaxHave32Bits) {
  const auto refusal_of = [](float scale) {
    Graph g;
    const TensorId x = g.input(DataType::Int16, {6, 8}, scale, 0);
    return refusal_of_first(g.finish(g.node(OpKind::Softmax, graph::SoftmaxAttrs{1.0f}, {x}, 1,
                                            DataType::Int16, 1.0f / 32768, 0)));
  };
  EXPECT_EQ(refusal_of(4.9f), "");
  for (const float scale : {5.1f, 30518.5f})
    EXPECT_THAT(refusal_of(scale), ::testing::HasSubstr("need more than 32 bits"));
}

// The second operation of softmax narrows to int8: what it lets pass are values of int8.
TEST(Limits, ClampsAreValuesOfTheOutput) {
  Graph g;
  const TensorId x = g.input(DataType::Int8, {6, 2}, 0.03f, 3);
  const graph::Module module = g.finish(
      g.node(OpKind::Softmax, graph::SoftmaxAttrs{1.0f}, {x}, 1, DataType::Int8, 1.0f / 256, -128));
  const targets::ethos_u::Program program = legalise(module, module.entry_function());
  ASSERT_EQ(program.operations.size(), 3u);
  const targets::ethos_u::Operation& last = program.operations.back();
  EXPECT_EQ(program.tensors.at(static_cast<size_t>(last.ofm.tensor)).type, DataType::Int8);
  EXPECT_EQ(last.clamp_low, -128);
  EXPECT_EQ(last.clamp_high, 127);
}

std::string refusal_of_product(const Shape& a, const Shape& b, float out_scale = 0.05f) {
  Graph g;
  const TensorId x = g.input(DataType::Int8, a, 0.02f, 0), y = g.input(DataType::Int8, b, 0.02f, 0);
  return refusal_of_first(g.finish(g.node(OpKind::BatchMatmul, graph::BatchMatmulAttrs{}, {x, y}, 1,
                                          DataType::Int8, out_scale, 0)));
}

// Short rows are multiplied together, of long ones there are not too many; sums and what scales them have 32 bits.
TEST(Limits, ProductsOfActivations) {
  EXPECT_EQ(refusal_of_product({64, 3}, {3, 2}), "");
  EXPECT_EQ(refusal_of_product({65, 3}, {3, 2}), "");
  EXPECT_EQ(refusal_of_product({64, 5, 3}, {64, 3, 2}), "");
  EXPECT_EQ(refusal_of_product({65, 5, 3}, {65, 3, 2}),
            "multiplying [65,5,3] with [65,3,2] takes 65 groups of 30 products, which begin longer "
            "than they run");
  EXPECT_EQ(refusal_of_product({65, 32}, {32, 8}), "");
  EXPECT_EQ(refusal_of_product({1024, 32}, {32, 16}), "");
  EXPECT_EQ(refusal_of_product({1025, 200}, {200, 90}), "");
  EXPECT_EQ(refusal_of_product({4096, 80}, {80, 60}), "");
  EXPECT_EQ(refusal_of_product({4097, 80}, {80, 60}),
            "multiplying [4097,80] with [80,60] takes the commands of 4097 groups of rows, above "
            "4096");
  EXPECT_EQ(refusal_of_product({65536, 8}, {8, 8}), "");
  EXPECT_EQ(refusal_of_product({65537, 8}, {8, 8}),
            "the first operand has an extent of 65537, above 65536");
  EXPECT_EQ(refusal_of_product({4, 197, 64}, {4, 64, 197}), "");
  EXPECT_EQ(refusal_of_product({2, 33025}, {33025, 2}), "");
  EXPECT_EQ(
      refusal_of_product({2, 33026}, {33026, 2}),
      "multiplying [2,33026] with [33026,2]: sums of 33026 products, scaled, may have more than "
      "32 bits");
  EXPECT_EQ(
      refusal_of_product({2, 33025}, {33025, 2}, 0.0002f),
      "multiplying [2,33025] with [33025,2]: sums of 33025 products, scaled, may have more than "
      "32 bits");
}

std::string refusal_of_wide_product(const Shape& a, const Shape& b, float out_scale = 0.05f) {
  Graph g;
  const TensorId x = g.input(DataType::Int16, a, 0.0002f, 0),
                 y = g.input(DataType::Int16, b, 0.0002f, 0);
  return refusal_of_first(g.finish(g.node(OpKind::BatchMatmul, graph::BatchMatmulAttrs{}, {x, y}, 1,
                                          DataType::Int16, out_scale, 0)));
}

// Of 16 bits a group of rows is four operations, and the sums of either half have 32 bits.
TEST(Limits, ProductsOfActivationsOf16Bits) {
  EXPECT_EQ(refusal_of_wide_product({8192, 32}, {32, 16}), "");
  EXPECT_EQ(refusal_of_wide_product({2048, 80}, {80, 60}), "");
  EXPECT_EQ(refusal_of_wide_product({2049, 80}, {80, 60}),
            "multiplying [2049,80] with [80,60] takes the commands of 2049 groups of rows, above "
            "2048");
  EXPECT_EQ(refusal_of_wide_product({2, 510}, {510, 2}), "");
  EXPECT_EQ(refusal_of_wide_product({2, 511}, {511, 2}),
            "multiplying [2,511] with [511,2]: sums of 511 products of 16 bits are above 510");
  EXPECT_EQ(refusal_of_wide_product({2, 510}, {510, 2}, 0.000009f),
            "multiplying [2,510] with [510,2]: the output's scale is too small for the operands' "
            "scales");
  EXPECT_EQ(refusal_of_wide_product({2, 510}, {510, 2}, 180.0f),
            "multiplying [2,510] with [510,2]: the output's scale is too large for the operands' "
            "scales");
}

std::string refusal_of_mean(const Shape& shape, const std::vector<int64_t>& axes) {
  Graph g;
  const TensorId x = g.input(DataType::Int8, shape, 0.05f, 0);
  return refusal_of_first(g.finish(g.like(OpKind::Mean, graph::ReduceAttrs{axes, false}, {x})));
}

TEST(Limits, ReducedAxesInTwoPieces) {
  EXPECT_EQ(refusal_of_mean({2, 2, 2, 2, 2}, {0, 2, 4}),
            "the reduced axes 0, 2, 4 of [2,2,2,2,2] lie in more than two pieces");
  EXPECT_EQ(refusal_of_mean({4, 64, 5}, {0, 2}), "");
  EXPECT_EQ(
      refusal_of_mean({4, 65, 5}, {0, 2}),
      "the reduced axes 0, 2 of [4,65,5] do not lie beside each other and take 65 operations, "
      "more than 64");
  EXPECT_EQ(refusal_of_mean({256, 2, 256}, {0, 2}), "");
  EXPECT_EQ(refusal_of_mean({257, 2, 256}, {0, 2}), "a reduction of 65792 elements is above 65536");
}

TEST(Limits, ElementsBehindReducedAxes) {
  EXPECT_EQ(refusal_of_mean({64, 2, 70, 1024}, {1}), "");
  EXPECT_EQ(refusal_of_mean({65, 2, 70, 1024}, {1}),
            "the reduced axes 1 of [65,2,70,1024] take 65 operations, more than 64");
  EXPECT_EQ(refusal_of_mean({2, 65537, 2}, {0}), "the input has an extent of 65537, above 65536");
}

std::string refusal_of_resize(OpKind kind, int64_t from, int64_t to) {
  Graph g;
  const TensorId x = g.input(DataType::Int8, {1, from, from, 2}, 0.05f, 0);
  return refusal_of_first(g.finish(g.like(kind, graph::ResizeAttrs{to, to, true, false}, {x})));
}

TEST(Limits, Resizing) {
  EXPECT_EQ(refusal_of_resize(OpKind::ResizeNearest, 7, 40), "");
  EXPECT_THAT(refusal_of_resize(OpKind::ResizeNearest, 997, 1613),
              ::testing::EndsWith(" copies, more than 64"));
  EXPECT_EQ(refusal_of_resize(OpKind::ResizeBilinear, 20, 57), "");
  EXPECT_EQ(refusal_of_resize(OpKind::ResizeBilinear, 100, 293), "");
}

TEST(Limits, PlacesOfExtremes) {
  for (const int64_t depth : {128, 129}) {
    Graph g;
    const TensorId x = g.input(DataType::Int8, {2, depth}, 0.05f, 0);
    EXPECT_EQ(
        refusal_of_first(g.finish(
            g.node(OpKind::ArgMax, graph::AxisAttrs{1}, {x}, 1, DataType::Int32, 1.0f, 0))),
        depth == 128 ? "" : "the largest or the least of 129 elements is searched, above 128");
  }
}

}  // namespace
}  // namespace intarsia::test::ethos_u
