// Operators read as sums of weighted inputs, and which ways there are to write them in others.
#include <algorithm>

#include <gtest/gtest.h>

#include "legalise/linear.h"
#include "support/support.h"

namespace intarsia::targets::ethos_n {
namespace {

using graph::OpKind;

// A module with one operator; weights are constants with the bytes given, of a scale for all.
struct One {
  graph::Module module;

  One(OpKind kind, graph::Attributes attributes, const Shape& in, const Shape& out) {
    module.name = module.entry = "main";
    graph::Function& main = module.functions.emplace_back();
    main.name = "main";
    for (const Shape& shape : {in, out})
      main.tensors.push_back(
          {.name = "image", .type = DataType::Int8, .shape = shape, .quantization = {{0.5f}, {3}}});
    main.inputs = {{0}}, main.outputs = {{1}};
    main.nodes = {{kind, "node", std::move(attributes), {{0}}, {{1}}, ""}};
  }
  One& weights(DataType type, const Shape& shape, std::vector<uint8_t> bytes) {
    graph::Function& main = module.functions[0];
    main.tensors.push_back({.name = "weights",
                            .type = type,
                            .shape = shape,
                            .quantization = {{0.25f}, {0}},
                            .constant = {0}});
    module.constants.push_back({"weights", std::move(bytes)});
    main.nodes[0].inputs.push_back({2});
    return *this;
  }
  const graph::Function& main() const { return module.functions[0]; }
  const graph::Node& node() const { return main().nodes[0]; }
  std::optional<Linear> linear() const { return linear_of(module, main(), node()); }
};

// Two to a byte, the first in its lower half.
TEST(Linear, WeightsOfFourBitsAreSigned) {
  One dense(OpKind::FullyConnected, graph::FullyConnectedAttrs{}, {1, 5}, {1, 1});
  dense.weights(DataType::Int4, {1, 5}, {0x70, 0x8f, 0x09});
  const std::optional<Linear> linear = dense.linear();
  ASSERT_TRUE(linear);
  EXPECT_EQ(linear->weights, (std::vector<int8_t>{0, 7, -1, -8, -7}));
}

TEST(Linear, ImagesThatNoWindowLeavesAreOneOfAsManyRows) {
  graph::Conv2dAttrs attributes;
  One apart(OpKind::Conv2d, attributes, {3, 4, 5, 1}, {3, 4, 5, 1});
  apart.weights(DataType::Int8, {1, 1, 1, 1}, {7});
  ASSERT_TRUE(apart.linear());
  EXPECT_EQ(apart.linear()->y.in, 12);
  EXPECT_EQ(apart.linear()->y.out, 12);
  attributes.padding.top = attributes.padding.bottom = 1;
  One padded(OpKind::Conv2d, attributes, {3, 4, 5, 1}, {3, 6, 5, 1});
  padded.weights(DataType::Int8, {1, 1, 1, 1}, {7});
  ASSERT_TRUE(padded.linear());
  EXPECT_EQ(padded.linear()->y.in, 4);
  EXPECT_EQ(padded.linear()->y.out, 6);
}

// As one of all channels it would have a weight for each pair of them, most of them zero.
TEST(Rewriting, ADepthwiseConvolutionStaysOneWhereNothingIsFolded) {
  One depthwise(OpKind::DepthwiseConv2d, graph::DepthwiseConv2dAttrs{}, {1, 9, 9, 8}, {1, 6, 6, 8});
  depthwise.weights(DataType::Int8, {1, 4, 4, 8}, std::vector<uint8_t>(4 * 4 * 8, 5));
  const std::vector<Way> ways =
      ways_to_fold(depthwise.main(), depthwise.node(), *depthwise.linear());
  ASSERT_FALSE(ways.empty());
  const std::optional<Rewriting> cheapest = ways.front()();
  ASSERT_TRUE(cheapest);
  const auto& nodes = cheapest->function().nodes;
  EXPECT_TRUE(std::any_of(nodes.begin(), nodes.end(), [](const graph::Node& node) {
    return node.kind == OpKind::DepthwiseConv2d;
  }));
}

// The first window of an even side begins a pixel before the image, and so does that of the pooling of stride 1.
TEST(Rewriting, APoolOfEvenSidesIsPaddedAsItsFirstWindowIs) {
  graph::Pool2dAttrs attributes;
  attributes.filter_h = attributes.filter_w = 4;
  attributes.stride_h = attributes.stride_w = 3;
  attributes.padding = {2, 2, 0, 0};
  const One pool(OpKind::MaxPool2d, attributes, {1, 11, 11, 16}, {1, 4, 4, 16});
  ASSERT_TRUE(graph::verify(pool.module).ok()) << graph::verify(pool.module).error().to_string();
  int padded = 0;
  for (const Way& way : ways_to_rewrite(pool.module, pool.main(), pool.node())) {
    const std::optional<Rewriting> made = way();
    if (!made || made->function().nodes[0].kind != OpKind::MaxPool2d) continue;
    const auto& each = made->function().nodes[0].attrs<graph::Pool2dAttrs>();
    if (each.stride_h != 1) continue;
    ++padded;
    EXPECT_EQ(each.padding, (graph::Padding2d{2, 2, 1, 1}));
    EXPECT_TRUE(graph::verify(made->module).ok());
  }
  EXPECT_EQ(padded, 1);
}

TEST(Support, AsksForTheZeroPointOfTheResult) {
  One relu(OpKind::Relu, graph::ReluAttrs{}, {1, 4, 4, 16}, {1, 4, 4, 16});
  graph::Tensor& out = relu.module.functions[0].tensors[1];
  out.quantization.zero_point = {127};
  EXPECT_EQ(query_of(relu.main(), relu.node())->output_zero_point, 127);
}

}  // namespace
}  // namespace intarsia::targets::ethos_n
