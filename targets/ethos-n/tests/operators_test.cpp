// Operators through the compiler, the driver and the simulator are within 1 of TFLite's arithmetic, small
// ones of every shape and large ones that have to be cut into stripes, on all variants.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "intarsia/graph.h"
#include "made_operators.h"

namespace intarsia::test::ethos_n {
namespace {

using graph::OpKind;
using intarsia::testing::Random;

// Of 120, at least this many.
struct Kind {
  OpKind kind;
  int least;
};
void PrintTo(const Kind& kind, std::ostream* out) {
  *out << graph::to_string(kind.kind);
}

class RandomOperators : public ::testing::TestWithParam<Kind> {};

TEST_P(RandomOperators, AreWithinOne) {
  Random random(static_cast<uint32_t>(GetParam().kind) + 5);
  int taken = 0;
  std::string refusal;
  for (int i = 0; i < 120; ++i) {
    const graph::Module module =
        intarsia::testing::random_operator(random, GetParam().kind, DataType::Int8);
    const std::string target = std::string(kTags[i % 4]) + kRewriting;
    const Comparison result =
        run_one(module, target, intarsia::testing::random_inputs(random, module));
    ASSERT_EQ(result.problem, "") << target << "\n" << graph::print(module);
    ASSERT_LE(result.most, 1) << target << "\n" << graph::print(module);
    taken += result.taken ? 1 : 0;
    if (!result.taken) refusal = result.refusal;
  }
  RecordProperty("taken", taken);
  EXPECT_GE(taken, GetParam().least) << refusal;
}

INSTANTIATE_TEST_SUITE_P(
    All, RandomOperators,
    ::testing::Values(Kind{OpKind::Conv2d, 100}, Kind{OpKind::DepthwiseConv2d, 100},
                      Kind{OpKind::TransposeConv2d, 100}, Kind{OpKind::FullyConnected, 100},
                      Kind{OpKind::AveragePool2d, 100}, Kind{OpKind::Mean, 20},
                      Kind{OpKind::Add, 3}, Kind{OpKind::Relu, 100}, Kind{OpKind::Pad, 3},
                      Kind{OpKind::Reshape, 3}, Kind{OpKind::LeakyRelu, 20},
                      Kind{OpKind::Logistic, 20}, Kind{OpKind::Tanh, 20},
                      Kind{OpKind::Quantize, 3}),
    [](const auto& info) { return std::string(graph::to_string(info.param.kind)); });

// ---- large ones ----

void expect_close(const graph::Module& module, const std::string& what,
                  const std::string& asked = "") {
  const Result<void> good = graph::verify(module);
  ASSERT_TRUE(good.ok()) << what << ": " << good.error().to_string();
  Random random(8);
  const std::vector<graph::TensorValue> inputs = intarsia::testing::random_inputs(random, module);
  for (const char* tag : kTags) {
    const Comparison result = run_one(module, tag + asked, inputs);
    ASSERT_EQ(result.problem, "") << what << " on " << tag;
    EXPECT_TRUE(result.taken) << what << " on " << tag << ": " << result.refusal;
    EXPECT_LE(result.most, 1) << what << " on " << tag;
  }
}

TEST(LargeOperators, ConvolutionsAreCutIntoStripes) {
  Random random(21);
  const Window windows[] = {
      {128, 128, 32, 2, 3, 1, true},  // rows, where SRAM is smallest
      {160, 96, 32, 2, 5, 1, true},   // neighbours of two rows
      {75, 128, 48, 2, 3, 1, false},  // an odd last stripe
      {160, 128, 24, 2, 3, 2, true},  // interleaved first
      {8, 8, 640, 640, 1, 1, true},   // channels of the output
      {8, 8, 192, 320, 3, 1, true},   // weights that do not all fit
      {64, 64, 128, 1, 9, 1, true},   // a wide filter over stripes
  };
  for (const Window& w : windows)
    expect_close(windowed(random, OpKind::Conv2d, w),
                 std::to_string(w.height) + "x" + std::to_string(w.width) + "x" +
                     std::to_string(w.channels) + " to " + std::to_string(w.ofms) + ", kernel " +
                     std::to_string(w.kernel));
}

TEST(LargeOperators, DepthwiseConvolutionsAreCutIntoStripes) {
  Random random(22);
  for (const Window& w : {Window{112, 112, 64, 0, 3, 1, true}, Window{113, 112, 36, 0, 3, 2, true},
                          Window{90, 100, 33, 0, 5, 1, true}, Window{90, 100, 17, 0, 7, 2, false}})
    expect_close(windowed(random, OpKind::DepthwiseConv2d, w),
                 "depthwise " + std::to_string(w.height) + "x" + std::to_string(w.width) + "x" +
                     std::to_string(w.channels));
}

TEST(LargeOperators, AdditionsAndPoolsAreCutIntoStripes) {
  for (const bool pool : {false, true}) {
    Made made;
    const Shape shape = {1, 150, 144, 40};
    const graph::TensorId a = made.tensor("a", shape, 0.05f, 3),
                          b = made.tensor("b", shape, 0.08f, -7);
    const graph::TensorId out =
        pool ? made.tensor("out", {1, 75, 72, 40}, 0.05f, 3) : made.tensor("out", shape, 0.11f, 5);
    graph::Node node{
        pool ? OpKind::MaxPool2d : OpKind::Add, "node", graph::BinaryAttrs{}, {a}, {out}, ""};
    if (pool) {
      graph::Pool2dAttrs attributes;
      attributes.filter_h = attributes.filter_w = attributes.stride_h = attributes.stride_w = 2;
      node.attributes = attributes;
    } else {
      node.inputs.push_back(b);
    }
    made.main().inputs = node.inputs;
    if (pool) made.main().tensors[b.at()].shape = shape;
    made.main().outputs = {out};
    made.main().nodes = {node};
    expect_close(made.module, pool ? "max_pool2d" : "add");
  }
}

// What is written in other operators, too large for one stripe of the smallest variant.
graph::Module of_one(OpKind kind, graph::Attributes attributes, const std::vector<Shape>& in,
                     const Shape& out) {
  Made made;
  graph::Node node{kind, "node", std::move(attributes), {}, {}, ""};
  for (const Shape& shape : in) node.inputs.push_back(made.tensor("in", shape, 0.05f, -3));
  node.outputs = {made.tensor("out", out, 0.05f, -3)};
  made.main().inputs = node.inputs;
  made.main().outputs = node.outputs;
  made.main().nodes = {node};
  return made.module;
}

// Whose last axis are the channels.
TEST(Vectors, AreConcatenatedAndSplit) {
  expect_close(of_one(OpKind::Concat, graph::AxisAttrs{1}, {{1, 4}, {1, 9}}, {1, 13}), "concat");
  graph::Module parts = of_one(OpKind::Split, graph::SplitAttrs{1, {20, 3}}, {{1, 23}}, {1, 20});
  graph::Function& main = parts.functions[0];
  main.tensors.push_back(main.tensors.back());
  main.tensors.back().shape = {1, 3};
  main.nodes[0].outputs.push_back({static_cast<int32_t>(main.tensors.size() - 1)});
  main.outputs = main.nodes[0].outputs;
  expect_close(parts, "split");
}

TEST(LargeOperators, RewrittenOnesAreCutIntoStripes) {
  expect_close(of_one(OpKind::Concat, graph::AxisAttrs{3}, {{1, 96, 96, 20}, {1, 96, 96, 13}},
                      {1, 96, 96, 33}),
               "concat", kRewriting);
  expect_close(
      of_one(OpKind::Slice, graph::SliceAttrs{{0, 7, 5, 3}, {1, 80, 33, 9}, {1, 1, 2, 1}, {}},
             {{1, 96, 96, 20}}, {1, 80, 33, 9}),
      "slice", kRewriting);
  expect_close(of_one(OpKind::Transpose, graph::TransposeAttrs{{0, 3, 1, 2}}, {{1, 64, 64, 24}},
                      {1, 24, 64, 64}),
               "transpose", kRewriting);
  expect_close(of_one(OpKind::Sub, graph::BinaryAttrs{}, {{1, 150, 144, 40}, {1, 150, 144, 40}},
                      {1, 150, 144, 40}),
               "sub", kRewriting);
  graph::Pool2dAttrs pool;
  pool.filter_h = pool.filter_w = 5;
  expect_close(of_one(OpKind::AveragePool2d, pool, {{1, 132, 132, 24}}, {1, 128, 128, 24}),
               "average_pool2d", kRewriting);
  pool.filter_h = 30, pool.filter_w = 10;
  expect_close(of_one(OpKind::AveragePool2d, pool, {{1, 30, 10, 24}}, {1, 1, 1, 24}),
               "average_pool2d of all", kRewriting);
  pool.filter_h = pool.filter_w = 3, pool.stride_h = pool.stride_w = 3;
  expect_close(of_one(OpKind::MaxPool2d, pool, {{1, 60, 48, 16}}, {1, 20, 16, 16}), "max_pool2d",
               kRewriting);
}

}  // namespace
}  // namespace intarsia::test::ethos_n
