// Operators through the compiler, the driver and the simulator are within 1 of TFLite's arithmetic, small
// ones of every shape and large ones that have to be cut into stripes, on all variants.
#include <cmath>
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "intarsia/graph.h"
#include "road.h"
#include "support/random_operator.h"

namespace intarsia::test::ethos_n {
namespace {

using graph::OpKind;
using intarsia::testing::Random;

constexpr const char* kTags[] = {"ethos-n78-1tops-4ple", "ethos-n78-4tops-2ple", "ethos-n78-4tops-4ple",
                                 "ethos-n78-8tops-2ple"};

struct Comparison {
  bool taken = false;
  std::string refusal;
  int most = 0;  // difference
  std::string problem;
  size_t mce_stripes = 0;
};

Comparison run_one(const graph::Module& module, const std::string& tag, const std::vector<graph::TensorValue>& inputs) {
  Comparison result;
  const Result<CompiledModel> compiled = compile_for(module, tag);
  if (!compiled.ok()) {
    result.problem = compiled.error().to_string();
    return result;
  }
  const auto& row = compiled->partitioned.explanation.operators.at(0);
  result.taken = row.member == "ethosn";
  for (const Offer& offer : row.offers)
    if (offer.member == "ethosn") result.refusal = offer.reason.value_or("");
  if (!result.taken) return result;
  graph::Evaluator evaluator(module);
  const auto expected = evaluator.run(inputs);
  std::vector<graph::TensorValue> outputs;
  result.problem = run_on(tag, *compiled, inputs, outputs);
  if (!result.problem.empty()) return result;
  for (size_t i = 0; i < outputs.size(); ++i)
    for (size_t k = 0; k < outputs[i].size(); ++k)
      result.most = std::max(result.most, std::abs(static_cast<int8_t>(outputs[i][k]) -
                                                   static_cast<int8_t>((*expected)[i][k])));
  return result;
}

class RandomOperators : public ::testing::TestWithParam<OpKind> {};

TEST_P(RandomOperators, AreWithinOne) {
  Random random(static_cast<uint32_t>(GetParam()) + 5);
  int taken = 0;
  std::string refusal;
  for (int i = 0; i < 120; ++i) {
    const graph::Module module = intarsia::testing::random_operator(random, GetParam(), DataType::Int8);
    const std::string tag = kTags[i % 4];
    const Comparison result = run_one(module, tag, intarsia::testing::random_inputs(random, module));
    ASSERT_EQ(result.problem, "") << tag << "\n" << graph::print(module);
    ASSERT_LE(result.most, 1) << tag << "\n" << graph::print(module);
    taken += result.taken ? 1 : 0;
    if (!result.taken) refusal = result.refusal;
  }
  RecordProperty("taken", taken);
  EXPECT_GE(taken, 3) << refusal;
}

INSTANTIATE_TEST_SUITE_P(All, RandomOperators,
                         ::testing::Values(OpKind::Conv2d, OpKind::FullyConnected, OpKind::Add, OpKind::Relu,
                                           OpKind::Pad, OpKind::Reshape, OpKind::LeakyRelu, OpKind::Logistic,
                                           OpKind::Tanh, OpKind::Quantize),
                         [](const auto& info) { return std::string(graph::to_string(info.param)); });

// ---- large ones ----

struct Made {
  graph::Module module;
  graph::Function& main() { return module.functions[0]; }

  Made() {
    module.name = module.entry = "main";
    module.functions.emplace_back().name = "main";
  }
  graph::TensorId tensor(const char* name, Shape shape, float scale, int64_t zero_point) {
    main().tensors.push_back({.name = name, .type = DataType::Int8, .shape = std::move(shape), .quantization = {{scale}, {zero_point}}});
    return {static_cast<int32_t>(main().tensors.size() - 1)};
  }
  graph::TensorId weights(Random& random, Shape shape, size_t channels, int32_t axis) {
    const graph::TensorId id = tensor("weights", shape, 0.01f, 0);
    graph::Tensor& tensor = main().tensors[id.at()];
    tensor.quantization = {{}, std::vector<int64_t>(channels, 0), axis};
    for (size_t i = 0; i < channels; ++i) tensor.quantization.scale.push_back(random.real(0.002f, 0.02f));
    std::vector<uint8_t> bytes(static_cast<size_t>(element_count(shape)));
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.range(-127, 127));
    tensor.constant = {static_cast<int32_t>(module.constants.size())};
    module.constants.push_back({"weights", std::move(bytes)});
    return id;
  }
  graph::TensorId bias(Random& random, size_t channels) {
    const graph::TensorId id{static_cast<int32_t>(main().tensors.size())};
    std::vector<uint8_t> bytes(4 * channels);
    for (size_t i = 0; i < channels; ++i) {
      const auto value = static_cast<int32_t>(random.range(-2000, 2000));
      std::memcpy(bytes.data() + 4 * i, &value, 4);
    }
    main().tensors.push_back({.name = "bias", .type = DataType::Int32, .shape = {static_cast<int64_t>(channels)},
                              .constant = {static_cast<int32_t>(module.constants.size())}});
    module.constants.push_back({"bias", std::move(bytes)});
    return id;
  }
};

struct Window {
  int64_t height, width, channels, ofms, kernel, stride;
  bool same;
};

int64_t out_size(int64_t size, int64_t kernel, int64_t stride, bool same) {
  return same ? (size + stride - 1) / stride : (size - kernel) / stride + 1;
}
int64_t pad_before(int64_t size, int64_t kernel, int64_t stride, bool same) {
  return same ? std::max<int64_t>(0, ((size + stride - 1) / stride - 1) * stride + kernel - size) / 2 : 0;
}

graph::Module windowed(Random& random, OpKind kind, const Window& w) {
  Made made;
  const int64_t height = out_size(w.height, w.kernel, w.stride, w.same), width = out_size(w.width, w.kernel, w.stride, w.same);
  const bool depthwise = kind == OpKind::DepthwiseConv2d;
  const auto outputs = static_cast<size_t>(depthwise ? w.channels : w.ofms);
  const graph::TensorId in = made.tensor("in", {1, w.height, w.width, w.channels}, 0.05f, 3);
  const graph::TensorId weights = depthwise ? made.weights(random, {1, w.kernel, w.kernel, w.channels}, outputs, 3)
                                            : made.weights(random, {w.ofms, w.kernel, w.kernel, w.channels}, outputs, 0);
  const graph::TensorId bias = made.bias(random, outputs);
  const float spread = 0.05f * 0.01f * 60 * std::sqrt(static_cast<float>(w.kernel * w.kernel * (depthwise ? 1 : w.channels)));
  const graph::TensorId out = made.tensor("out", {1, height, width, static_cast<int64_t>(outputs)}, spread, -4);
  graph::Padding2d padding;
  padding.top = pad_before(w.height, w.kernel, w.stride, w.same);
  padding.left = pad_before(w.width, w.kernel, w.stride, w.same);
  padding.bottom = w.same ? std::max<int64_t>(0, (height - 1) * w.stride + w.kernel - w.height - padding.top) : 0;
  padding.right = w.same ? std::max<int64_t>(0, (width - 1) * w.stride + w.kernel - w.width - padding.left) : 0;
  graph::Node node{kind, "window", {}, {in, weights, bias}, {out}, ""};
  if (depthwise) {
    graph::DepthwiseConv2dAttrs attributes;
    attributes.stride_h = attributes.stride_w = w.stride;
    attributes.padding = padding;
    node.attributes = attributes;
  } else {
    graph::Conv2dAttrs attributes;
    attributes.stride_h = attributes.stride_w = w.stride;
    attributes.padding = padding;
    node.attributes = attributes;
  }
  made.main().nodes = {node};
  made.main().inputs = {in};
  made.main().outputs = {out};
  return made.module;
}

void expect_close(const graph::Module& module, const std::string& what) {
  const Result<void> good = graph::verify(module);
  ASSERT_TRUE(good.ok()) << what << ": " << good.error().to_string();
  Random random(8);
  const std::vector<graph::TensorValue> inputs = intarsia::testing::random_inputs(random, module);
  for (const char* tag : kTags) {
    const Comparison result = run_one(module, tag, inputs);
    ASSERT_EQ(result.problem, "") << what << " on " << tag;
    EXPECT_TRUE(result.taken) << what << " on " << tag << ": " << result.refusal;
    EXPECT_LE(result.most, 1) << what << " on " << tag;
  }
}

TEST(LargeOperators, ConvolutionsAreCutIntoStripes) {
  Random random(21);
  const Window windows[] = {
      {128, 128, 32, 2, 3, 1, true},   // rows, where SRAM is smallest
      {160, 96, 32, 2, 5, 1, true},    // neighbours of two rows
      {75, 128, 48, 2, 3, 1, false},   // an odd last stripe
      {160, 128, 24, 2, 3, 2, true},   // interleaved first
      {8, 8, 640, 640, 1, 1, true},    // channels of the output
      {8, 8, 192, 320, 3, 1, true},    // weights that do not all fit
      {64, 64, 128, 1, 9, 1, true},    // a wide filter over stripes
  };
  for (const Window& w : windows)
    expect_close(windowed(random, OpKind::Conv2d, w),
                 std::to_string(w.height) + "x" + std::to_string(w.width) + "x" + std::to_string(w.channels) + " to " +
                     std::to_string(w.ofms) + ", kernel " + std::to_string(w.kernel));
}

TEST(LargeOperators, DepthwiseConvolutionsAreCutIntoStripes) {
  Random random(22);
  for (const Window& w : {Window{112, 112, 64, 0, 3, 1, true}, Window{113, 112, 36, 0, 3, 2, true},
                          Window{90, 100, 33, 0, 5, 1, true}, Window{90, 100, 17, 0, 7, 2, false}})
    expect_close(windowed(random, OpKind::DepthwiseConv2d, w),
                 "depthwise " + std::to_string(w.height) + "x" + std::to_string(w.width) + "x" + std::to_string(w.channels));
}

TEST(LargeOperators, AdditionsAndPoolsAreCutIntoStripes) {
  for (const bool pool : {false, true}) {
    Made made;
    const Shape shape = {1, 150, 144, 40};
    const graph::TensorId a = made.tensor("a", shape, 0.05f, 3), b = made.tensor("b", shape, 0.08f, -7);
    const graph::TensorId out = pool ? made.tensor("out", {1, 75, 72, 40}, 0.05f, 3) : made.tensor("out", shape, 0.11f, 5);
    graph::Node node{pool ? OpKind::MaxPool2d : OpKind::Add, "node", graph::BinaryAttrs{}, {a}, {out}, ""};
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

}  // namespace
}  // namespace intarsia::test::ethos_n
