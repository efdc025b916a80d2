// LSTM, GRU and RNN of ONNX: what they become, and what is refused in which words. What they compute is compared with
// onnxruntime in tests/golden/onnx_layers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

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
