// LSTM, GRU and RNN of ONNX: what they become, and what is refused in which words. What they compute is compared with
// onnxruntime in tests/golden/onnx_layers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "onnx_model.h"

namespace intarsia {
namespace {

using namespace onnx_models;
using testing::HasSubstr;

// Two units, three inputs.
Model lstm(int64_t steps, const std::vector<std::string>& outputs,
           std::vector<std::string> inputs = {"x", "w", "r"}) {
  Model model;
  model.input("x", {steps, 1, 3});
  model.constant("w", {1, 8, 3}), model.constant("r", {1, 8, 2});
  for (const std::string& output : outputs)
    if (!output.empty()) model.output(output);
  Model::attribute(model.node("LSTM", inputs, outputs), "hidden_size").set_integer(2);
  return model;
}

format::Node& layer(Model& model) {
  return *model.graph().mutable_node(0);
}

const graph::Node& recurrent(const graph::Module& module) {
  return *std::ranges::find(module.entry_function().nodes, graph::OpKind::Recurrent,
                            &graph::Node::kind);
}

TEST(OnnxRecurrent, IsOneOperatorHoweverLongTheSequence) {
  const auto few = lstm(2, {"y", "h", "c"}).read(), many = lstm(2000, {"y", "h", "c"}).read();
  ASSERT_TRUE(few.ok() && many.ok());
  EXPECT_EQ(many->entry_function().nodes.size(), few->entry_function().nodes.size());
  EXPECT_EQ(recurrent(*many).outputs.size(), 3u);
}

TEST(OnnxRecurrent, StatesOfAllStepsAreMadeWhereSomethingReadsThem) {
  const auto module = lstm(9, {"", "h"}).read();
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  EXPECT_FALSE(recurrent(*module).attrs<graph::RecurrentAttrs>().sequence);
  EXPECT_EQ(recurrent(*module).outputs.size(), 2u);
}

TEST(OnnxRecurrent, WeightsOfOtherSizes) {
  Model model = lstm(2, {"y"});
  layer(model).mutable_attribute(0)->set_integer(5);
  EXPECT_THAT(model.refusal(),
              HasSubstr("operator 0 'the_LSTM' (LSTM, operator set 17): has operands that do not "
                        "fit 1 direction of 5 units and inputs [2,1,3]"));
}

// Made floats, weights of bytes are those of the LSTM that onnxruntime's operator stands for, which has them in columns.
TEST(OnnxRecurrent, WeightsOfBytesBecomeFloats) {
  const auto byte = [](int64_t row, int64_t column) {
    return static_cast<int8_t>(row * 7 - column * 11);
  };
  const auto evaluated = [](const Model& model) {
    const std::string text = model.raw_text();
    const auto module = import_model({reinterpret_cast<const uint8_t*>(text.data()), text.size()},
                                     {.file = "some/m.onnx", .widen_weights = true});
    EXPECT_TRUE(module.ok()) << module.error().to_string();
    if (!module.ok()) return std::vector<uint8_t>{};
    std::vector<float> x(12);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) / 8 - 0.5f;
    std::vector<uint8_t> bytes(x.size() * sizeof(float));
    std::memcpy(bytes.data(), x.data(), bytes.size());
    graph::Evaluator evaluator(*module);
    const auto outputs = evaluator.run({bytes});
    EXPECT_TRUE(outputs.ok()) << outputs.error().to_string();
    return outputs.ok() ? outputs->at(0) : std::vector<uint8_t>{};
  };
  const auto raw = [](const auto& numbers) {
    return std::string(reinterpret_cast<const char*>(numbers.data()),
                       numbers.size() * sizeof numbers[0]);
  };
  for (const bool per_column : {false, true}) {
    Model real = lstm(4, {"y"});
    real.graph().clear_initialiser();
    Model bytes;
    bytes.input("x", {4, 1, 3}).output("y");
    bytes.raw().add_operator_set()->set_version(1);
    bytes.raw().mutable_operator_set(1)->set_domain("com.microsoft");
    std::vector<float> scales;
    std::vector<int8_t> zeros;
    for (int i = 0; i < (per_column ? 8 : 1); ++i)
      scales.push_back(0.01f * static_cast<float>(i + 1)),
          zeros.push_back(static_cast<int8_t>(i - 3));
    const std::vector<int64_t> spread =
        per_column ? std::vector<int64_t>{1, 8} : std::vector<int64_t>{1};
    for (const auto& [name, columns] : {std::pair{"w", 3}, std::pair{"r", 2}}) {
      std::vector<float> rows;
      std::vector<int8_t> turned(static_cast<size_t>(8 * columns));
      for (int64_t row = 0; row < 8; ++row)
        for (int64_t column = 0; column < columns; ++column) {
          const size_t at = per_column ? static_cast<size_t>(row) : 0;
          rows.push_back(static_cast<float>(byte(row, column) - zeros[at]) * scales[at]);
          turned[static_cast<size_t>(column * 8 + row)] = byte(row, column);
        }
      real.constant(name, {1, 8, columns}).set_raw(raw(rows));
      bytes.constant(name, {1, columns, 8}, kInt8).set_raw(raw(turned));
      bytes.constant(std::string(name) + "_scale", spread).set_raw(raw(scales));
      bytes.constant(std::string(name) + "_zero", spread, kInt8).set_raw(raw(zeros));
    }
    format::Node& node = bytes.node(
        "DynamicQuantizeLSTM",
        {"x", "w", "r", "", "", "", "", "", "w_scale", "w_zero", "r_scale", "r_zero"}, {"y"});
    node.set_domain("com.microsoft");
    Model::attribute(node, "hidden_size").set_integer(2);
    const std::vector<uint8_t> expected = evaluated(real);
    EXPECT_FALSE(expected.empty());
    EXPECT_EQ(evaluated(bytes), expected);
  }
}

TEST(OnnxRecurrent, UnknownDirection) {
  Model model = lstm(2, {"y"});
  Model::attribute(layer(model), "direction").set_text("sideways");
  EXPECT_THAT(model.refusal(), HasSubstr("has the direction 'sideways'; forward, reverse and "
                                         "bidirectional are possible"));
}

TEST(OnnxRecurrent, BothDirectionsWithWeightsOfOne) {
  Model model = lstm(2, {"y"});
  Model::attribute(layer(model), "direction").set_text("bidirectional");
  EXPECT_THAT(model.refusal(), HasSubstr("do not fit 2 directions"));
}

TEST(OnnxRecurrent, UnknownActivation) {
  Model model = lstm(2, {"y"});
  format::Attribute& activations = Model::attribute(layer(model), "activations");
  for (const char* name : {"Sigmoid", "Swirl", "Tanh"}) activations.add_texts(name);
  EXPECT_THAT(model.refusal(), HasSubstr("has the activation 'Swirl'"));
  activations.clear_texts();
  activations.add_texts("Sigmoid");
  EXPECT_THAT(model.refusal(), HasSubstr("names 1 activations, needs 3"));
}

TEST(OnnxRecurrent, LengthsOfTheRunningModel) {
  Model model = lstm(2, {"y"}, {"x", "w", "r", "", "lengths"});
  model.input("lengths", {1}, 6);
  EXPECT_THAT(model.refusal(), HasSubstr("takes the lengths of its sequences from 'lengths', which "
                                         "is known only when the model runs"));
}

TEST(OnnxRecurrent, LengthsBeyondTheSequence) {
  Model model = lstm(2, {"y"}, {"x", "w", "r", "", "lengths"});
  model.integers("lengths", {3});
  EXPECT_THAT(model.refusal(), HasSubstr("has a sequence of 3 steps of 2"));
}

TEST(OnnxRecurrent, NegativeClip) {
  Model model = lstm(2, {"y"});
  Model::attribute(layer(model), "clip").set_real(-1);
  EXPECT_THAT(model.refusal(), HasSubstr("the clip is no limit"));
}

}  // namespace
}  // namespace intarsia
