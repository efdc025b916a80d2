// What quantisers of several makers write: normalisations that are not folded, weights of four bits, averages and limits on scales of their
// own, sixteen bits around any zero point.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "onnx_model.h"

namespace intarsia {
namespace {

using namespace onnx_models;
using graph::OpKind;
using testing::ElementsAre;

constexpr int kUint16 = 4, kInt4 = 22;

template <typename T>
std::string raw_of(const std::vector<T>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T)};
}

void reals(Model& model, const std::string& name, const std::vector<float>& numbers) {
  model.constant(name, {static_cast<int64_t>(numbers.size())}).set_raw(raw_of(numbers));
}
void real(Model& model, const std::string& name, float number) {
  model.constant(name, {}).set_raw(raw_of(std::vector<float>{number}));
}
void zero(Model& model, const std::string& name, int8_t number = 0) {
  model.constant(name, {}, kInt8).set_raw(std::string(1, static_cast<char>(number)));
}

// The value as int8 on a scale, and as reals again.
std::string quantised(Model& model, const std::string& value, float scale, int8_t zero_point = 0) {
  real(model, value + "_scale", scale), zero(model, value + "_zero", zero_point);
  model.node("QuantizeLinear", {value, value + "_scale", value + "_zero"}, {value + "_q"});
  model.node("DequantizeLinear", {value + "_q", value + "_scale", value + "_zero"},
             {value + "_dq"});
  return value + "_dq";
}

std::vector<OpKind> kinds_of(const graph::Module& module) {
  std::vector<OpKind> kinds;
  for (const graph::Node& node : module.entry_function().nodes)
    if (node.kind != OpKind::Transpose && node.kind != OpKind::Reshape) kinds.push_back(node.kind);
  return kinds;
}

std::vector<float> result_of(const graph::Module& module, const std::vector<float>& given) {
  std::vector<uint8_t> bytes(given.size() * sizeof(float));
  std::memcpy(bytes.data(), given.data(), bytes.size());
  graph::Evaluator evaluator(module);
  const auto outputs = evaluator.run({bytes});
  EXPECT_TRUE(outputs.ok()) << outputs.error().to_string();
  if (!outputs.ok()) return {};
  std::vector<float> numbers(outputs->at(0).size() / sizeof(float));
  std::memcpy(numbers.data(), outputs->at(0).data(), numbers.size() * sizeof(float));
  return numbers;
}

// x [1,2,1,2] through Conv 1x1, or ConvTranspose, of two channels, whose weights are -127 and 2, 3 and 4 in steps of 0.5 and 0.25, and
// BatchNormalization.
struct NormalisedLayer {
  std::vector<float> factor, offset;  // with mean 0.5 and variance 1, without epsilon
  bool is_quantised = true, transposed = false;
  std::vector<int8_t> weights{-127, 2, 3, 4};

  Model model() const {
    Model model(17);
    model.input("x", {1, 2, 1, 2}).output("y");
    const std::string x = quantised(model, "x", 0.5f);
    const std::vector<int64_t> shape{2, 2, 1, 1};
    model.constant("w", shape, kInt8).set_raw(raw_of(weights));
    reals(model, "w_scale",
          transposed ? std::vector<float>{0.5f} : std::vector<float>{0.5f, 0.25f});
    if (transposed) {
      model.graph().mutable_initialiser(model.graph().initialiser_size() - 1)->clear_extent();
      zero(model, "w_zero");
    } else {
      model.constant("w_zero", {2}, kInt8).set_raw(std::string(2, '\0'));
    }
    format::Node& weights_as_reals =
        model.node("DequantizeLinear", {"w", "w_scale", "w_zero"}, {"w_dq"});
    if (!transposed) Model::attribute(weights_as_reals, "axis").set_integer(0);
    reals(model, "bias", {1, -1});
    model.node(transposed ? "ConvTranspose" : "Conv", {x, "w_dq", "bias"}, {"c"});
    reals(model, "factor", factor), reals(model, "offset", offset);
    reals(model, "mean", {0.5f, 0.5f}), reals(model, "variance", {1, 1});
    Model::attribute(
        model.node("BatchNormalization", {"c", "factor", "offset", "mean", "variance"}, {"n"}),
        "epsilon")
        .set_real(0);
    model.node("Relu", {"n"}, {is_quantised ? "r" : "y"});
    if (!is_quantised) return model;
    const std::string r = quantised(model, "r", 0.5f, -128);
    model.node("Identity", {r}, {"y"});
    return model;
  }

  // Of operands that are whole steps.
  std::vector<float> expected(const std::vector<float>& x) const {
    std::vector<float> y;
    for (size_t channel = 0; channel < 2; ++channel)
      for (size_t place = 0; place < 2; ++place) {
        float sum = channel == 0 ? 1 : -1;
        for (size_t from = 0; from < 2; ++from) {
          const int8_t weight =
              transposed ? weights[from * 2 + channel] : weights[channel * 2 + from];
          const float scale = transposed || channel == 0 ? 0.5f : 0.25f;
          sum += x[from * 2 + place] * scale * static_cast<float>(weight);
        }
        y.push_back(std::max(0.0f, (sum - 0.5f) * factor[channel] + offset[channel]));
      }
    return y;
  }
};

const std::vector<float> kGiven{1, -2, 3, 0.5f};

TEST(OnnxQuantisers, NormalisationBehindAConvolutionIsPartOfIt) {
  for (const bool transposed : {false, true})
    for (const float second : {0.5f, -2.0f, 0.0f}) {
      const NormalisedLayer layer{
          .factor = {0.125f, second}, .offset = {2, 3}, .transposed = transposed};
      const auto module = layer.model().read();
      ASSERT_TRUE(module.ok()) << module.error().to_string();
      EXPECT_THAT(
          kinds_of(*module),
          ElementsAre(OpKind::Quantize, transposed ? OpKind::TransposeConv2d : OpKind::Conv2d,
                      OpKind::Dequantize));
      const std::vector<float> expected = layer.expected(kGiven),
                               found = result_of(*module, kGiven);
      ASSERT_EQ(found.size(), expected.size());
      for (size_t i = 0; i < found.size(); ++i)
        EXPECT_NEAR(found[i], expected[i], 0.5f) << transposed << ' ' << second << ' ' << i;
    }
}

TEST(OnnxQuantisers, NormalisationOfResultsThatNothingQuantises) {
  const NormalisedLayer layer{.factor = {0.125f, -2}, .offset = {2, 3}, .is_quantised = false};
  const auto module = layer.model().read();
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  EXPECT_THAT(kinds_of(*module), ElementsAre(OpKind::Quantize, OpKind::HybridConv2d));
  const std::vector<float> expected = layer.expected(kGiven), found = result_of(*module, kGiven);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-4f) << i;
}

// -128 has no other sign in int8.
TEST(OnnxQuantisers, NormalisationByANegativeFactorOfTheLeastWeight) {
  const NormalisedLayer layer{.factor = {-0.125f, 2}, .offset = {2, 3}, .weights = {-128, 2, 3, 4}};
  const auto module = layer.model().read();
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  const std::vector<float> expected = layer.expected(kGiven), found = result_of(*module, kGiven);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 0.5f) << i;
}

TEST(OnnxQuantisers, ConvolutionWithWeightsOfFourBits) {
  Model model(21);
  model.input("x", {1, 2, 1, 2}).output("y");
  const std::string x = quantised(model, "x", 0.5f);
  model.constant("w", {2, 2, 1, 1}, kInt8).set_raw(std::string("\xf2\x7b", 2));  // 2, -1, -5, 7
  model.graph().mutable_initialiser(model.graph().initialiser_size() - 1)->set_element(kInt4);
  real(model, "w_scale", 0.5f);
  model.node("DequantizeLinear", {"w", "w_scale"}, {"w_dq"});
  model.node("Conv", {x, "w_dq"}, {"c"});
  const std::string c = quantised(model, "c", 0.25f);
  model.node("Identity", {c}, {"y"});
  const auto module = model.read();
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  EXPECT_THAT(kinds_of(*module), ElementsAre(OpKind::Quantize, OpKind::Conv2d, OpKind::Dequantize));
  EXPECT_THAT(result_of(*module, kGiven), ElementsAre(-0.5f, -2.25f, 8, 6.75f));
}

// The mean of four steps of 2 is a multiple of a half.
TEST(OnnxQuantisers, AverageInFinerStepsThanItsOperand) {
  for (const bool padded : {false, true}) {
    Model model(17);
    model.input("x", {1, 1, 2, 2}).output("y");
    const std::string x = quantised(model, "x", 2);
    format::Node& pool = model.node("AveragePool", {x}, {"p"});
    format::Attribute& window = Model::attribute(pool, "kernel_shape");
    window.add_integers(2), window.add_integers(2);
    if (padded) {
      format::Attribute& pads = Model::attribute(pool, "pads");
      for (const int64_t amount : {1, 1, 0, 0}) pads.add_integers(amount);
      Model::attribute(pool, "count_include_pad").set_integer(1);
    }
    const std::string p = quantised(model, "p", 0.5f);
    model.node("Identity", {p}, {"y"});
    const auto module = model.read();
    ASSERT_TRUE(module.ok()) << module.error().to_string();
    EXPECT_EQ(std::ranges::count(kinds_of(*module), OpKind::DepthwiseConv2d), 1);
    const std::vector<float> found = result_of(*module, {2, 4, 8, 16});
    if (padded)
      EXPECT_THAT(found, ElementsAre(0.5f, 1.5f, 2.5f, 7.5f));
    else
      EXPECT_THAT(found, ElementsAre(7.5f));
  }
}

// Behind bytes around 0, what Relu and Clip are as activations is one operator, of which a convolution takes either.
TEST(OnnxQuantisers, LimitsThatAreActivations) {
  const auto kinds = [](float least, float most) {
    Model model(17);
    model.input("x", {4}).output("y");
    const std::string x = quantised(model, "x", 0.0625f);
    real(model, "least", least), real(model, "most", most);
    model.node("Clip", {x, "least", "most"}, {"c"});
    const std::string c = quantised(model, "c", 0.0625f);
    model.node("Identity", {c}, {"y"});
    const auto module = model.read();
    EXPECT_TRUE(module.ok());
    EXPECT_THAT(
        result_of(*module, {-3, -0.5f, 0.5f, 7}),
        ElementsAre(std::max(-3.0f, least), std::max(-0.5f, least), 0.5f, std::min(7.0f, most)));
    std::vector<OpKind> between = kinds_of(*module);
    return std::vector<OpKind>(between.begin() + 1, between.end() - 1);
  };
  EXPECT_THAT(kinds(0, 6), ElementsAre(OpKind::Relu));
  EXPECT_THAT(kinds(0, 5), ElementsAre(OpKind::Maximum, OpKind::Minimum));
  EXPECT_THAT(kinds(-2, 5), ElementsAre(OpKind::Maximum, OpKind::Minimum));
  EXPECT_THAT(kinds(-8, 7.9375f), ElementsAre());
}

// Bytes that are limited themselves, to what they can be.
TEST(OnnxQuantisers, LimitsOfBytesThatLimitNothing) {
  Model model(17);
  model.input("x", {3}, kInt8).output("y");
  zero(model, "least", -128), zero(model, "most", 15);
  model.node("Clip", {"x", "least", "most"}, {"y"});
  const auto module = model.read();
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  EXPECT_THAT(kinds_of(*module), ElementsAre(OpKind::Minimum));
}

// x of 16 bits around `zero_point`, a convolution by 0.5 and -0.5, and its result likewise.
graph::Module sixteen_bits(uint16_t zero_point, bool widen) {
  Model model(21);
  model.input("x", {1, 2, 1, 2}).output("y");
  const auto as_words = [&](const std::string& value) {
    real(model, value + "_scale", 0.25f);
    model.constant(value + "_zero", {}, kUint16).set_raw(raw_of(std::vector<uint16_t>{zero_point}));
    const std::vector<std::string> by{value + "_scale", value + "_zero"};
    model.node("QuantizeLinear", {value, by[0], by[1]}, {value + "_q"});
    model.node("DequantizeLinear", {value + "_q", by[0], by[1]}, {value + "_dq"});
    return value + "_dq";
  };
  const std::string x = as_words("x");
  model.constant("w", {1, 2, 1, 1}, kInt8).set_raw(raw_of(std::vector<int8_t>{1, -1}));
  real(model, "w_scale", 0.5f), zero(model, "w_zero");
  model.node("DequantizeLinear", {"w", "w_scale", "w_zero"}, {"w_dq"});
  model.node("Conv", {x, "w_dq"}, {"c"});
  model.node("Identity", {as_words("c")}, {"y"});
  const std::string text = model.raw_text();
  ImportOptions options;
  options.file = "some/m.onnx", options.widen_weights = widen;
  auto module = import_model({reinterpret_cast<const uint8_t*>(text.data()), text.size()}, options);
  EXPECT_TRUE(module.ok()) << module.error().to_string();
  return std::move(module.value());
}

DataType type_of_convolution(const graph::Module& module) {
  const graph::Function& main = module.entry_function();
  const auto node = std::ranges::find(main.nodes, OpKind::Conv2d, &graph::Node::kind);
  EXPECT_NE(node, main.nodes.end());
  return node == main.nodes.end() ? DataType::Bool : main.tensor(node->outputs[0]).type;
}

// Between reals they are computed around 0; what the range had no place for is its end still.
TEST(OnnxQuantisers, SixteenBitsAroundAnyZeroPoint) {
  for (const uint16_t zero_point : {0, 1000, 32768, 60000, 65535}) {
    const graph::Module module = sixteen_bits(zero_point, false);
    EXPECT_EQ(type_of_convolution(module), DataType::Int16);
    const std::vector<float> given{12000, -9000, -5000, 9000};
    const auto step_of = [&](double value) {
      const double most = (65535.0 - zero_point) * 0.25, least = -0.25 * zero_point;
      return std::clamp(value, least, most);
    };
    const std::vector<float> found = result_of(module, given);
    ASSERT_EQ(found.size(), 2u);
    for (size_t place = 0; place < 2; ++place) {
      const double expected =
          step_of(0.5 * step_of(given[place]) - 0.5 * step_of(given[2 + place]));
      EXPECT_NEAR(found[place], expected, 0.5) << zero_point << ' ' << place;
    }
  }
}

TEST(OnnxQuantisers, SixteenBitsInFloatsWhereWeightsAreWidened) {
  EXPECT_EQ(type_of_convolution(sixteen_bits(1000, true)), DataType::Float32);
}

}  // namespace
}  // namespace intarsia
