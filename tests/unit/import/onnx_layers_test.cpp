// Layers of ONNX that become several operators: what they become, and what is refused in which words. What they compute is
// compared with onnxruntime in tests/golden/onnx_layers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "onnx_model.h"

namespace intarsia {
namespace {

using namespace onnx_models;
using testing::HasSubstr;

Model einsum(const std::string& equation, const std::vector<std::vector<int64_t>>& shapes) {
  Model model;
  std::vector<std::string> names;
  for (const std::vector<int64_t>& shape : shapes) {
    names.push_back("x" + std::to_string(names.size()));
    model.input(names.back(), shape);
  }
  model.output("y");
  Model::attribute(model.node("Einsum", names, {"y"}), "equation").set_text(equation);
  return model;
}

TEST(OnnxEinsum, ProductOfMatricesIsOneOperator) {
  const auto module = einsum("bij,bkj->bik", {{2, 3, 4}, {2, 5, 4}}).read();
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  ASSERT_EQ(module->entry_function().nodes.size(), 1u);
  EXPECT_EQ(module->entry_function().nodes[0].kind, graph::OpKind::BatchMatmul);
}

TEST(OnnxEinsum, EquationsThatDoNotFit) {
  EXPECT_THAT(einsum("ij,jk->ik", {{2, 3}}).refusal(),
              HasSubstr("has the equation 'ij,jk->ik', which is of 2 operands, and 1 of them"));
  EXPECT_THAT(einsum("ij->i", {{2, 3, 4}}).refusal(),
              HasSubstr("whose operand 0 has the shape [2,3,4]"));
  EXPECT_THAT(einsum("ij,jk->ik", {{2, 3}, {4, 5}}).refusal(),
              HasSubstr("in which an axis has 3 and 4 elements"));
  EXPECT_THAT(einsum("ij->ix", {{2, 3}}).refusal(),
              HasSubstr("whose result names an axis that is not there once"));
  EXPECT_THAT(einsum("i!->i", {{2, 3}}).refusal(), HasSubstr("whose operand 0 has the shape"));
  EXPECT_THAT(einsum("", {{2, 3}}).refusal(), HasSubstr("whose operand 0 has the shape"));
  EXPECT_THAT(einsum("ii->i", {{2, 3}}).refusal(), HasSubstr("an axis has 2 and 3 elements"));
  EXPECT_THAT(einsum("...i->....", {{2, 3}}).refusal(), HasSubstr("whose result cannot be read"));
}

TEST(OnnxNormalization, GroupsThatDoNotDivideTheChannels) {
  Model model(21);
  model.input("x", {1, 6, 4}).output("y");
  model.constant("factor", {6}), model.constant("offset", {6});
  Model::attribute(model.node("GroupNormalization", {"x", "factor", "offset"}, {"y"}), "num_groups")
      .set_integer(4);
  EXPECT_THAT(model.refusal(), HasSubstr("normalises [1,6,4] in 4 groups of channels"));
}

TEST(OnnxNormalization, FactorsOfChannelsInAnOldOperatorSet) {
  Model model(18);
  model.input("x", {1, 6, 4}).output("y");
  model.constant("factor", {6}), model.constant("offset", {6});
  Model::attribute(model.node("GroupNormalization", {"x", "factor", "offset"}, {"y"}), "num_groups")
      .set_integer(3);
  EXPECT_THAT(model.refusal(), HasSubstr("has [6] factors or offsets for 3 groups"));
}

TEST(OnnxNormalization, KnownStatisticsGoIntoTheConvolution) {
  Model model;
  model.input("x", {1, 2, 4, 4}).output("y");
  model.constant("w", {3, 2, 1, 1});
  for (const char* name : {"factor", "offset", "mean", "variance"}) model.constant(name, {3});
  model.node("Conv", {"x", "w"}, {"a"});
  model.node("BatchNormalization", {"a", "factor", "offset", "mean", "variance"}, {"y"});
  const auto module = model.read();
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  for (const graph::Node& node : module->entry_function().nodes)
    EXPECT_TRUE(node.kind == graph::OpKind::Conv2d || node.kind == graph::OpKind::Transpose)
        << to_string(node.kind);
}

TEST(OnnxNormalization, OtherNorms) {
  Model model;
  model.input("x", {2, 3}).output("y");
  Model::attribute(model.node("LpNormalization", {"x"}, {"y"}), "p").set_integer(3);
  EXPECT_THAT(model.refusal(), HasSubstr("has the norm 3; 1 and 2 are possible"));
}

TEST(OnnxPick, PlacesOutside) {
  Model model;
  model.input("x", {2, 3}).output("y");
  model.integers("places", {5});
  model.node("GatherElements", {"x", "places"}, {"y"});
  EXPECT_THAT(model.refusal(), HasSubstr("picks [1] from [2,3]"));
  Model rows;
  rows.input("x", {4}).output("y");
  rows.integers("places", {5});
  rows.node("GatherElements", {"x", "places"}, {"y"});
  EXPECT_THAT(rows.refusal(), HasSubstr("takes element 5 of 4"));
}

TEST(OnnxPick, PlacesOfTheRunningModel) {
  Model model;
  model.input("x", {4}).input("places", {1, 1}, kInt64).input("z", {1}).output("y");
  model.node("ScatterND", {"x", "places", "z"}, {"y"});
  EXPECT_THAT(model.refusal(), HasSubstr("takes the places from 'places', which is known only when "
                                         "the model runs"));
}

TEST(OnnxPick, ScatteringWithAReduction) {
  Model model;
  model.input("x", {4}).input("z", {1}).output("y");
  model.integers("places", {2});
  Model::attribute(model.node("ScatterElements", {"x", "places", "z"}, {"y"}), "reduction")
      .set_text("add");
  EXPECT_THAT(model.refusal(), HasSubstr("has the reduction 'add'"));
}

TEST(OnnxAttention, HeadsThatDoNotDivide) {
  Model model(23);
  model.input("q", {1, 3, 8}).input("k", {1, 3, 8}).input("v", {1, 3, 8}).output("y");
  format::Node& node = model.node("Attention", {"q", "k", "v"}, {"y"});
  Model::attribute(node, "q_num_heads").set_integer(3);
  Model::attribute(node, "kv_num_heads").set_integer(2);
  EXPECT_THAT(model.refusal(), HasSubstr("has the operand [1,3,8] of 3 heads"));
}

// Squeezes the last axis where it has one element, as exporters write it.
Model squeeze_if(int64_t last, bool known = true) {
  Model model;
  model.input("x", {1, 3, last}).output("y");
  model.integers("one", {1}), model.integers("axis", {2});
  Model::attribute(model.node("Shape", {"x"}, {"extent"}), "start").set_integer(2);
  if (known) {
    model.node("Equal", {"extent", "one"}, {"is_one"});
  } else {
    model.input("is_one", {1}, 9);
  }
  format::Node& choice = model.node("If", {"is_one"}, {"z"});
  const auto branch = [&](const char* name, const char* type, std::vector<std::string> inputs) {
    format::Graph& graph = *Model::attribute(choice, name).mutable_graph();
    format::Node& node = *graph.add_node();
    node.set_type(type), node.add_output("made");
    for (const std::string& input : inputs) node.add_input(input);
    graph.add_output()->set_name("made");
  };
  branch("then_branch", "Squeeze", {"x", "axis"});
  branch("else_branch", "Identity", {"x"});
  model.node("Relu", {"z"}, {"y"});
  return model;
}

TEST(OnnxIf, TheBranchIsTakenWhoseConditionIsKnown) {
  for (const int64_t last : {1, 4}) {
    const auto module = squeeze_if(last).read();
    ASSERT_TRUE(module.ok()) << module.error().to_string();
    const graph::Function& entry = module->entry_function();
    EXPECT_EQ(entry.tensor(entry.outputs[0]).shape, last == 1 ? (Shape{1, 3}) : (Shape{1, 3, 4}));
  }
}

TEST(OnnxIf, ConditionOfTheRunningModel) {
  EXPECT_THAT(squeeze_if(1, false).refusal(),
              HasSubstr("takes one of two ways by what is known only when the model runs"));
}

TEST(OnnxIf, ProblemsWithinABranchAreTold) {
  Model model = squeeze_if(1);
  for (format::Node& node : *model.graph().mutable_node())
    if (node.type() == "If")
      node.mutable_attribute(0)->mutable_graph()->mutable_node(0)->set_type("Frobnicate");
  EXPECT_THAT(model.refusal(), HasSubstr("(Frobnicate, operator set 17): is an operator"));
}

TEST(OnnxFile, HalfAndDoublePrecisionBecomeSingle) {
  Model model;
  model.input("x", {2}, 10).output("y");
  const double numbers[] = {0.5, -3.0};
  model.constant("w", {2}, 11)
      .set_raw(std::string(reinterpret_cast<const char*>(numbers), sizeof numbers));
  model.node("Add", {"x", "w"}, {"y"});
  Diagnostics notes;
  const auto module = model.read(&notes);
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  EXPECT_THAT(notes.to_string(), HasSubstr("model input 'x': is of float16, and becomes f32"));
  float values[2];
  std::memcpy(values, std::vector<uint8_t>(module->constants[0].bytes).data(), sizeof values);
  EXPECT_EQ(values[0], 0.5f);
  EXPECT_EQ(values[1], -3.0f);
}

TEST(OnnxFile, OutputsThatAreConstantsOrInputs) {
  Model model;
  model.input("x", {1, 3}).output("s").output("x").output("y");
  model.node("Shape", {"x"}, {"s"});
  model.node("Relu", {"x"}, {"y"});
  const auto module = model.read();
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  graph::Evaluator evaluator(*module);
  const std::vector<uint8_t> input(12, 0);
  const auto outputs = evaluator.run({input});
  ASSERT_TRUE(outputs.ok());
  int64_t shape[2];
  std::memcpy(shape, outputs->at(0).data(), sizeof shape);
  EXPECT_EQ(shape[1], 3);
  EXPECT_EQ(outputs->at(1), input);
}

}  // namespace
}  // namespace intarsia
