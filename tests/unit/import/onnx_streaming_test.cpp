// Operators of networks that are run step by step: what is refused, in which words. What they compute is compared with the reference of
// the onnx package in tests/golden/onnx_layers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "onnx_model.h"

namespace intarsia {
namespace {

using namespace onnx_models;
using testing::HasSubstr;

TEST(OnnxAttention, MasksLengthsAndModesThatDoNotFit) {
  const auto attention = [](std::vector<int64_t> mask, std::vector<int64_t> lengths, int64_t mode) {
    Model model(24);
    model.input("q", {2, 2, 3, 4}).input("k", {2, 2, 5, 4}).input("v", {2, 2, 5, 4});
    model.input("mask", std::move(mask)).input("lengths", std::move(lengths), kInt64);
    model.output("y").output("scores");
    format::Node& node = model.node("Attention", {"q", "k", "v", "mask", "", "", "lengths"},
                                    {"y", "", "", "scores"});
    Model::attribute(node, "qk_matmul_output_mode").set_integer(mode);
    return model.refusal();
  };
  EXPECT_THAT(attention({3, 6}, {2}, 0), HasSubstr("has the mask [3,6] for 5 keys"));
  EXPECT_THAT(attention({3, 5}, {3}, 0), HasSubstr("has [3] lengths of keys for 2 samples"));
  EXPECT_THAT(attention({3, 5}, {2}, 4), HasSubstr("gives its scores by mode 4"));
}

TEST(OnnxTensorScatter, ShapesModesAndPlacesThatDoNotFit) {
  const auto scatter = [](std::vector<int64_t> update, std::vector<int64_t> places,
                          const std::string& mode, int64_t axis) {
    Model model(24);
    model.input("cache", {2, 8, 4}).input("update", std::move(update));
    model.input("places", std::move(places), kInt64).output("y");
    format::Node& node = model.node("TensorScatter", {"cache", "update", "places"}, {"y"});
    Model::attribute(node, "mode").set_text(mode);
    Model::attribute(node, "axis").set_integer(axis);
    return model.refusal();
  };
  EXPECT_THAT(scatter({2, 3, 4}, {2}, "backwards", 1), HasSubstr("writes in the mode 'backwards'"));
  EXPECT_THAT(scatter({2, 9, 4}, {2}, "linear", 1),
              HasSubstr("writes [2,9,4] into [2,8,4] along axis 1"));
  EXPECT_THAT(scatter({2, 8, 4}, {2}, "linear", 0),
              HasSubstr("writes [2,8,4] into [2,8,4] along axis 0"));
  EXPECT_THAT(scatter({2, 3, 4}, {3}, "linear", 1), HasSubstr("has the places [3] for 2 samples"));
}

TEST(OnnxCausalConvolution, WeightsStatesAndActivationsThatDoNotFit) {
  const auto convolution = [](std::vector<int64_t> weights, std::vector<int64_t> state,
                              const std::string& activation) {
    Model model(27);
    model.input("x", {1, 4, 6}).input("state", std::move(state)).output("y");
    model.constant("w", weights);
    format::Node& node = model.node("CausalConvWithState", {"x", "w", "", "state"}, {"y"});
    Model::attribute(node, "activation").set_text(activation);
    return model.refusal();
  };
  EXPECT_THAT(convolution({4, 2, 3}, {1, 4, 2}, "none"),
              HasSubstr("has weights [4,2,3] for an input [1,4,6]"));
  EXPECT_THAT(convolution({4, 1, 3}, {1, 4, 3}, "none"),
              HasSubstr("has the state [1,4,3], not [1,4,2]"));
  EXPECT_THAT(convolution({4, 1, 3}, {1, 4, 2}, "relu"), HasSubstr("has the activation 'relu'"));
}

TEST(OnnxLinearAttention, RulesShapesAndOperandsThatDoNotFit) {
  const auto attention = [](const std::string& rule, int64_t steps, std::vector<int64_t> keys,
                            std::vector<int64_t> decay) {
    Model model(27);
    model.input("q", {1, steps, 12}).input("k", std::move(keys)).input("v", {1, steps, 10});
    model.input("decay", std::move(decay)).output("y");
    format::Node& node = model.node("LinearAttention", {"q", "k", "v", "", "decay"}, {"y"});
    Model::attribute(node, "q_num_heads").set_integer(4);
    Model::attribute(node, "kv_num_heads").set_integer(2);
    Model::attribute(node, "update_rule").set_text(rule);
    return model.refusal();
  };
  EXPECT_THAT(attention("softmax", 3, {1, 3, 6}, {1, 3, 2}), HasSubstr("has the rule 'softmax'"));
  EXPECT_THAT(attention("gated", 3, {1, 3, 5}, {1, 3, 2}),
              HasSubstr("asks [1,3,12] of 4 heads with keys [1,3,5] and values [1,3,10] of 2"));
  EXPECT_THAT(attention("delta", 3, {1, 3, 6}, {1, 3, 2}),
              HasSubstr("has operands that do not suit the rule 'delta'"));
  EXPECT_THAT(attention("gated", 3, {1, 3, 6}, {1, 3, 4}),
              HasSubstr("has an operand [1,3,4] for 2 heads of 3 features"));
  EXPECT_THAT(attention("gated", 300, {1, 300, 6}, {1, 300, 2}),
              HasSubstr("takes 300 steps at once"));
}

TEST(OnnxCumProd, AxisThatIsNotKnown) {
  Model model(26);
  model.input("x", {2, 3}).input("axis", {}, kInt64).output("y");
  model.node("CumProd", {"x", "axis"}, {"y"});
  EXPECT_THAT(model.refusal(), HasSubstr("its axis"));
}

}  // namespace
}  // namespace intarsia
