// Numbers at the ends of their types: infinite floats, integers that no float holds, bytes of either end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "onnx_values.h"

namespace intarsia::onnx_models {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kInt16 = 5, kInt32 = 6;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

template <typename T>
std::string raw_text(const std::vector<T>& values) {
  const graph::TensorValue bytes = raw_values(values);
  return {bytes.begin(), bytes.end()};
}

// All results of a model.
std::vector<graph::TensorValue> results_of(const Model& model,
                                           const std::vector<graph::TensorValue>& inputs) {
  const auto module = model.read();
  EXPECT_TRUE(module.ok()) << module.error().to_string();
  if (!module.ok()) return {};
  graph::Evaluator evaluator(*module);
  const auto outputs = evaluator.run(inputs);
  EXPECT_TRUE(outputs.ok()) << outputs.error().to_string();
  return outputs.ok() ? *outputs : std::vector<graph::TensorValue>{};
}

template <typename T>
std::vector<T> values_of(const graph::TensorValue& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

template <typename T>
std::vector<T> clipped(int element, const std::vector<T>& x, T least, T most) {
  Model model;
  model.input("x", {static_cast<int64_t>(x.size())}, element).output("y");
  model.constant("least", {}, element).set_raw(raw_text<T>({least}));
  model.constant("most", {}, element).set_raw(raw_text<T>({most}));
  model.node("Clip", {"x", "least", "most"}, {"y"});
  const auto results = results_of(model, {raw_values(x)});
  return results.empty() ? std::vector<T>{} : values_of<T>(results[0]);
}

TEST(OnnxExtremes, LimitsOfIntegersAreThoseIntegers) {
  constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
  EXPECT_THAT(clipped<int32_t>(kInt32, {-5, 0, 7, kMost}, 0, kMost), ElementsAre(0, 0, 7, kMost));
  EXPECT_THAT(clipped<int32_t>(kInt32, {-20000000, 3, 20000000}, -16777217, 16777217),
              ElementsAre(-16777217, 3, 16777217));
  constexpr int64_t kMostOf64 = std::numeric_limits<int64_t>::max();
  EXPECT_THAT(clipped<int64_t>(kInt64, {-5, 0, 7}, 0, kMostOf64), ElementsAre(0, 0, 7));
  EXPECT_THAT(clipped<int64_t>(kInt64, {-5, 7}, -kMostOf64, kMostOf64), ElementsAre(-5, 7));
  EXPECT_THAT(clipped<int64_t>(kInt64, {-20000000, 20000000}, -16777217, 16777217),
              ElementsAre(-16777217, 16777217));
}

// With 32 bits, of which all operators have forms.
TEST(OnnxExtremes, WholeNumbersOf64BitsAreLimitedWith32) {
  for (const std::string type : {"Clip", "Max", "Min", "Relu"}) {
    Model model;
    model.input("x", {3}, kInt64).output("y");
    model.integers("limit", {4});
    if (type == "Clip") model.graph().mutable_initialiser(0)->clear_extent();
    model.node(
        type,
        type == "Relu" ? std::vector<std::string>{"x"} : std::vector<std::string>{"x", "limit"},
        {"y"});
    const auto module = model.read();
    ASSERT_TRUE(module.ok()) << module.error().to_string();
    for (const graph::Node& node : module->entry_function().nodes) {
      if (node.kind == graph::OpKind::Cast) continue;
      EXPECT_EQ(module->entry_function().tensor(node.outputs[0]).type, DataType::Int32);
    }
  }
  Model model;
  model.input("x", {3}, kInt64).output("y");
  model.constant("limit", {}, kInt64).set_raw(raw_text<int64_t>({int64_t{1} << 40}));
  model.node("Clip", {"x", "limit"}, {"y"});
  EXPECT_THAT(model.refusal(), HasSubstr("limits whole numbers to some that have more than 32"));
}

TEST(OnnxExtremes, PaddingOfIntegersIsThoseIntegers) {
  for (const int64_t after : {1, -1}) {
    Model model;
    model.input("x", {3}, kInt32).output("y");
    model.integers("pads", {1, after});
    model.constant("value", {}, kInt32).set_raw(raw_text<int32_t>({16777217}));
    model.node("Pad", {"x", "pads", "value"}, {"y"});
    const auto results = results_of(model, {raw_values(std::vector<int32_t>{1, 2, 3})});
    ASSERT_FALSE(results.empty());
    const auto expected = after == 1 ? std::vector<int32_t>{16777217, 1, 2, 3, 16777217}
                                     : std::vector<int32_t>{16777217, 1, 2};
    EXPECT_EQ(values_of<int32_t>(results[0]), expected);
  }
}

// Masked scores are infinite: each is found once, by few and by many.
TEST(OnnxExtremes, InfiniteElementsAreFoundOnceEach) {
  for (const bool largest : {true, false})
    for (const int64_t axis : {0, 1})
      for (const int64_t count : {3, 130}) {
        const int64_t extent = count + 2;
        Model model;
        model.input("x", axis == 0 ? std::vector<int64_t>{extent, 1} : std::vector{1L, extent});
        model.output("y").output("places");
        model.integers("count", {count});
        format::Node& node = model.node("TopK", {"x", "count"}, {"y", "places"});
        Model::attribute(node, "axis").set_integer(axis);
        Model::attribute(node, "largest").set_integer(largest ? 1 : 0);
        const float worst = largest ? -kInfinity : kInfinity;
        std::vector<float> x(static_cast<size_t>(extent), worst);
        x[2] = 1;
        const auto results = results_of(model, {raw_values(x)});
        ASSERT_EQ(results.size(), 2U);
        std::vector<float> values(static_cast<size_t>(count), worst);
        values[0] = 1;
        std::vector<int64_t> places{2, 0, 1};
        for (int64_t place = 3; place < count; ++place) places.push_back(place);
        EXPECT_EQ(values_of<float>(results[0]), values);
        EXPECT_EQ(values_of<int64_t>(results[1]), places);
      }
}

TEST(OnnxExtremes, SumsOfExponentialsThatNoFloatHolds) {
  Model model;
  model.input("x", {5, 3}).output("y");
  model.integers("axes", {1});
  format::Node& node = model.node("ReduceLogSumExp", {"x", "axes"}, {"y"});
  Model::attribute(node, "keepdims").set_integer(0);
  model.raw().mutable_operator_set(0)->set_version(18);
  const std::vector<float> x{1000,  1000,       1000,       -1000,      -1000,
                             -1000, 1,          2,          3,          -kInfinity,
                             4,     -kInfinity, -kInfinity, -kInfinity, -kInfinity};
  const std::vector<float> found = floats_of(model, {raw_values(x)});
  ASSERT_EQ(found.size(), 5U);
  EXPECT_FLOAT_EQ(found[0], 1000 + std::log(3.0f));
  EXPECT_FLOAT_EQ(found[1], -1000 + std::log(3.0f));
  EXPECT_FLOAT_EQ(found[2], std::log(std::exp(1.0f) + std::exp(2.0f) + std::exp(3.0f)));
  EXPECT_FLOAT_EQ(found[3], 4);
  EXPECT_EQ(found[4], -kInfinity);
}

// What lies beside the image is less than all that is in it.
TEST(OnnxExtremes, DilatedMaximaOfWords) {
  Model model(21);
  model.raw().set_format_version(10);
  model.input("x", {1, 1, 2, 2}, kInt16).output("y");
  model.constant("scale", {}).set_raw(raw_text<float>({1}));
  model.constant("zero", {}, kInt16).set_raw(raw_text<int16_t>({0}));
  model.node("DequantizeLinear", {"x", "scale", "zero"}, {"real"});
  format::Node& node = model.node("MaxPool", {"real"}, {"largest"});
  const auto list = [&](const char* name, const std::vector<int64_t>& values) {
    for (const int64_t value : values) {
      if (node.attribute().empty() || node.attribute(node.attribute_size() - 1).name() != name)
        Model::attribute(node, name);
      node.mutable_attribute(node.attribute_size() - 1)->add_integers(value);
    }
  };
  list("kernel_shape", {2, 2}), list("dilations", {2, 2}), list("pads", {1, 1, 1, 1});
  model.node("QuantizeLinear", {"largest", "scale", "zero"}, {"y"});
  const auto results = results_of(model, {raw_values(std::vector<int16_t>(4, -1000))});
  ASSERT_FALSE(results.empty());
  EXPECT_THAT(values_of<int16_t>(results[0]), ElementsAre(-1000, -1000, -1000, -1000));
}

// The digits of what is small, and no squares that no float holds.
TEST(OnnxExtremes, HyperbolasKeepTheirDigits) {
  struct Case {
    const char* type;
    double (*function)(double);
    std::vector<float> x;
  };
  const std::vector<Case> cases = {
      {"Sinh", std::sinh, {1e-6f, -1e-4f, 0.3f, -0.99f, 1.01f, 20, -89, 89.3f}},
      {"Cosh", std::cosh, {0, 1e-3f, -1, 20, -89, 89.3f}},
      {"Asinh", std::asinh, {1e-6f, -1e-4f, 0.3f, 0.51f, -3, 1e8f, 2e9f, -1e20f, 3e38f}},
      {"Acosh", std::acosh, {1.0001f, 1.01f, 1.2f, 3, 1e8f, 2e9f, 1e20f, 3e38f}},
      {"Atanh", std::atanh, {1e-6f, -1e-4f, 0.2f, -0.26f, 0.999f}}};
  for (const Case& c : cases) {
    Model model;
    model.input("x", {static_cast<int64_t>(c.x.size())}).output("y");
    model.node(c.type, {"x"}, {"y"});
    const std::vector<float> found = floats_of(model, {raw_values(c.x)});
    ASSERT_EQ(found.size(), c.x.size());
    for (size_t i = 0; i < found.size(); ++i) {
      const double expected = c.function(static_cast<double>(c.x[i]));
      EXPECT_NEAR(static_cast<double>(found[i]) / expected, 1, 1e-5) << c.type << ' ' << c.x[i];
    }
  }
  Model model;
  model.input("x", {3}).output("y");
  model.node("Acosh", {"x"}, {"y"});
  for (const float none : floats_of(model, {raw_values(std::vector<float>{0.5f, -1.5f, -100})}))
    EXPECT_TRUE(std::isnan(none));
}

TEST(OnnxExtremes, WhatHasNoAngleHasNone) {
  const float none = std::numeric_limits<float>::quiet_NaN();
  const std::vector<std::pair<std::string, std::vector<float>>> cases = {
      {"Atan", {none, none}}, {"Asin", {1.5f, -3, none}}, {"Acos", {1.5f, -3, none}}};
  for (const auto& [type, x] : cases) {
    Model model;
    model.input("x", {static_cast<int64_t>(x.size())}).output("y");
    model.node(type, {"x"}, {"y"});
    for (const float found : floats_of(model, {raw_values(x)}))
      EXPECT_TRUE(std::isnan(found)) << type;
  }
}

// In the steps of the result, not in those of the bytes that are averaged.
TEST(OnnxExtremes, AveragesOfBytesAsWords) {
  Model model(21);
  model.raw().set_format_version(10);
  model.input("x", {1, 5}, kInt8).output("y");
  model.constant("scale", {}).set_raw(raw_text<float>({1}));
  model.constant("zero", {}, kInt8).set_raw(raw_text<int8_t>({0}));
  model.constant("fine", {}).set_raw(raw_text<float>({1.0f / 256}));
  model.constant("none", {}, kInt16).set_raw(raw_text<int16_t>({0}));
  model.integers("axes", {1});
  model.node("DequantizeLinear", {"x", "scale", "zero"}, {"real"});
  model.node("ReduceMean", {"real", "axes"}, {"mean"});
  model.node("QuantizeLinear", {"mean", "fine", "none"}, {"y"});
  const auto results = results_of(model, {raw_values(std::vector<int8_t>{1, 2, 3, 4, 102})});
  ASSERT_FALSE(results.empty());
  EXPECT_NEAR(values_of<int16_t>(results[0])[0], 22.4 * 256, 1);
}

}  // namespace
}  // namespace intarsia::onnx_models
