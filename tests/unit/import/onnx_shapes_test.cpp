// Shapes that are given to inputs of ONNX models whose extents are open (`--shape`).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "onnx_model.h"

namespace intarsia {
namespace {

using namespace onnx_models;
using testing::HasSubstr;

// Both open extents are of the symbol N.
Model sum_of_two() {
  Model model;
  model.input("a", {1, -1, 2}).input("b", {1, -1, 2}).output("y");
  model.node("Add", {"a", "b"}, {"y"});
  return model;
}

Shape result_of(const Model& model, const std::map<std::string, Shape>& shapes) {
  const auto module = model.read(nullptr, shapes);
  EXPECT_TRUE(module.ok()) << module.error().to_string();
  if (!module.ok()) return {};
  const graph::Function& entry = module->entry_function();
  return entry.tensor(entry.outputs[0]).shape;
}

TEST(OnnxShapes, OneInputGivesTheExtentOfASharedSymbol) {
  EXPECT_EQ(result_of(sum_of_two(), {{"a", {1, 5, 2}}}), (Shape{1, 5, 2}));
  EXPECT_EQ(result_of(sum_of_two(), {{"b", {1, 7, 2}}}), (Shape{1, 7, 2}));
}

TEST(OnnxShapes, SeveralInputsAgree) {
  EXPECT_EQ(result_of(sum_of_two(), {{"a", {1, 5, 2}}, {"b", {1, 5, 2}}}), (Shape{1, 5, 2}));
}

TEST(OnnxShapes, OneSymbolWithTwoExtents) {
  EXPECT_THAT(
      sum_of_two().refusal({{"a", {1, 5, 2}}, {"b", {1, 6, 2}}}),
      HasSubstr("model input 'b': has 6 elements along axis 1 by its --shape, but 'N' is 5 by that "
                "of 'a'; axes with one symbol have one extent"));
}

TEST(OnnxShapes, TheBatchIsGivenToo) {
  Model model;
  model.input("a", {-1, 2}).input("b", {-1, 2}).output("y");
  model.node("Add", {"a", "b"}, {"y"});
  EXPECT_EQ(result_of(model, {}), (Shape{1, 2}));
  EXPECT_EQ(result_of(model, {{"b", {4, 2}}}), (Shape{4, 2}));
}

// A state of a recurrent layer has the batch as its second axis, and its input has it first.
TEST(OnnxShapes, AnOpenBatchIsOneWhereverItsSymbolStands) {
  Model model;
  model.input("x", {-1, 3}, kFloat, "batch")
      .input("state", {2, -1, 3}, kFloat, "batch")
      .output("y");
  model.node("Add", {"x", "state"}, {"y"});
  EXPECT_EQ(result_of(model, {}), (Shape{2, 1, 3}));
  EXPECT_EQ(result_of(model, {{"x", {4, 3}}}), (Shape{2, 4, 3}));
  EXPECT_EQ(result_of(model, {{"state", {2, 4, 3}}}), (Shape{2, 4, 3}));
}

// The only axis of a vector, and the first axis of an input whose shape is given, say nothing about others.
TEST(OnnxShapes, OtherSymbolsStayOpen) {
  Model model;
  model.input("lengths", {-1}, kFloat, "time").input("x", {1, -1}, kFloat, "time").output("y");
  model.node("Add", {"lengths", "x"}, {"y"});
  EXPECT_THAT(model.refusal(),
              HasSubstr("model input 'x': has an open extent along axis 1 (time)"));
}

// Marks are no names: Paddle's exporter writes "?" for every open axis.
TEST(OnnxShapes, MarksWithoutALetterAreNoNames) {
  Model model;
  model.input("x", {1, -1, -1}, kFloat, "?").output("y");
  model.node("Relu", {"x"}, {"y"});
  EXPECT_EQ(result_of(model, {{"x", {1, 5, 6}}}), (Shape{1, 5, 6}));
  EXPECT_THAT(
      model.refusal(),
      HasSubstr("model input 'x': has open extents along axes 1 (?) and 2 (?); give numbers "
                "for the marks in --shape x=1x?x?"));
}

// Not what operators make of it.
TEST(OnnxShapes, WhatIsMissingIsSaidAlone) {
  Model model;
  model.input("x", {1, 3, -1, -1}).output("y");
  model.constant("w", {4, 3, 1, 1});
  model.node("Conv", {"x", "w"}, {"y"});
  EXPECT_THAT(model.refusal(), testing::Not(HasSubstr("operator")));
}

TEST(OnnxShapes, WhatIsMissingIsSaidAsTheOptionToGive) {
  const std::string refusal = sum_of_two().refusal();
  EXPECT_THAT(refusal,
              HasSubstr("model input 'a': has an open extent along axis 1 (N); give numbers "
                        "for the marks in --shape a=1x?x2"));
  EXPECT_THAT(refusal, HasSubstr("--shape b=1x?x2"));
}

// What PyTorch writes for x[places] = values: the shape of the places, then the axes of x behind the first, of which there are
// none here. Arithmetic on such a part is folded like other arithmetic on shapes.
TEST(OnnxShapes, APartOfNoAxes) {
  Model model;
  model.input("x", {6}).input("values", {2, 2}).output("y");
  model.integers("one", {1}), model.integers("zero", {0}), model.integers("many", {1 << 20});
  model.integers("places_shape", {2, 2});
  model.node("Shape", {"x"}, {"shape"});
  model.node("Slice", {"shape", "one", "many", "zero"}, {"rest"});
  model.node("Mul", {"rest", "one"}, {"same_rest"});
  Model::attribute(model.node("Concat", {"places_shape", "same_rest"}, {"wanted"}), "axis")
      .set_integer(0);
  model.node("Reshape", {"values", "wanted"}, {"y"});
  EXPECT_EQ(result_of(model, {}), (Shape{2, 2}));
}

TEST(OnnxShapes, OfANumber) {
  Model model;
  model.input("x", {}).output("y").output("count").output("filled");
  model.node("Shape", {"x"}, {"shape"});
  model.node("Expand", {"x", "shape"}, {"y"});
  Model::attribute(model.node("ReduceProd", {"shape"}, {"count"}), "keepdims").set_integer(0);
  model.node("ConstantOfShape", {"shape"}, {"filled"});
  const auto module = model.read();
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  const graph::Function& entry = module->entry_function();
  ASSERT_EQ(entry.outputs.size(), 3u);
  for (const graph::TensorId output : entry.outputs) EXPECT_EQ(entry.tensor(output).shape, Shape{});
}

TEST(OnnxShapes, NothingAsAResult) {
  Model model;
  model.input("x", {}).output("shape");
  model.node("Shape", {"x"}, {"shape"});
  EXPECT_THAT(model.refusal(), HasSubstr("model output 'shape': has no element"));
}

TEST(OnnxShapes, ThatDoNotFit) {
  EXPECT_THAT(sum_of_two().refusal({{"a", {1, 5}}}), HasSubstr("model input 'a': has rank 3"));
  EXPECT_THAT(sum_of_two().refusal({{"a", {1, 5, 3}}}),
              HasSubstr("model input 'a': has the extent 2 along axis 2"));
  EXPECT_THAT(sum_of_two().refusal({{"a", {1, 5, 2}}, {"c", {1}}}),
              HasSubstr("has no input 'c' to give a shape to; its inputs are a, b"));
}

// Exporters that were told another shape write it down; the computed one holds.
TEST(OnnxShapes, OutputsThatAreDeclaredWithOthers) {
  const auto noted = [](std::vector<int64_t> declared) {
    Model model;
    model.input("x", {1, 4}).output("y");
    model.node("Relu", {"x"}, {"y"});
    format::Extents& extents =
        *model.graph().mutable_output(0)->mutable_kind()->mutable_tensor()->mutable_extents();
    for (const int64_t extent : declared)
      if (extent < 0)
        extents.add_dimension()->set_symbol("N");
      else
        extents.add_dimension()->set_extent(extent);
    Diagnostics notes;
    EXPECT_TRUE(model.read(&notes).ok());
    return notes.to_string();
  };
  EXPECT_EQ(noted({1, 4}), "");
  EXPECT_EQ(noted({-1, 4}), "");
  EXPECT_EQ(noted({1, 5}),
            "some/m.onnx: model output 'y': has the shape [1,4], where the file says [1,5]\n");
  EXPECT_EQ(noted({4}),
            "some/m.onnx: model output 'y': has the shape [1,4], where the file says [4]\n");
}

// ---- values that are given to inputs (`--input-value`) ----

Result<graph::Module> with_values(const Model& model,
                                  const std::map<std::string, std::vector<double>>& values) {
  const std::string text = model.raw_text();
  ImportOptions options;
  options.file = "some/m.onnx", options.input_values = values;
  return import_model({reinterpret_cast<const uint8_t*>(text.data()), text.size()}, options);
}

// x[1,6] becomes [2,3] where rate is 8000, and [2,7] where it is not, which cannot be.
Model choice_by_rate() {
  Model model;
  model.input("x", {1, 6}).input("rate", {}, kInt64).output("y");
  model.integers("low", {8000}), model.integers("narrow", {2, 3}), model.integers("wide", {2, 7});
  model.node("Equal", {"rate", "low"}, {"is_low"});
  format::Node& choice = model.node("If", {"is_low"}, {"y"});
  for (const auto& [branch, shape] :
       {std::pair{"then_branch", "narrow"}, std::pair{"else_branch", "wide"}}) {
    format::Graph& graph = *Model::attribute(choice, branch).mutable_graph();
    format::Node& node = *graph.add_node();
    node.set_type("Reshape"), node.add_output("made"), node.add_input("x"), node.add_input(shape);
    graph.add_output()->set_name("made");
  }
  return model;
}

TEST(OnnxInputValues, ChooseABranch) {
  EXPECT_FALSE(choice_by_rate().read().ok());
  const auto module = with_values(choice_by_rate(), {{"rate", {8000}}});
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  const graph::Function& entry = module->entry_function();
  EXPECT_EQ(entry.inputs.size(), 1u);
  EXPECT_EQ(entry.tensor(entry.outputs[0]).shape, (Shape{2, 3}));
  EXPECT_FALSE(with_values(choice_by_rate(), {{"rate", {16000}}}).ok());
}

TEST(OnnxInputValues, TakeThePlaceOfDefaults) {
  Model model;
  model.input("x", {2}).input("gain", {2}).output("y");
  model.constant("gain", {2});
  model.node("Mul", {"x", "gain"}, {"y"});
  const auto module = with_values(model, {{"gain", {3, 4}}});
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  const graph::Function& entry = module->entry_function();
  const graph::Tensor& gain = entry.tensor(entry.nodes.at(0).inputs.at(1));
  ASSERT_TRUE(gain.constant.valid());
  float values[2];
  std::memcpy(values, module->constant(gain.constant).bytes.data(), sizeof values);
  EXPECT_EQ(values[0], 3.0f);
  EXPECT_EQ(values[1], 4.0f);
}

TEST(OnnxInputValues, ThatInputsCannotHave) {
  EXPECT_THAT(with_values(choice_by_rate(), {{"rate", {0.5}}}).error().to_string(),
              HasSubstr("model input 'rate': is of i64, which --input-value's 0.5 is not"));
  EXPECT_THAT(with_values(choice_by_rate(), {{"x", {1, 2}}}).error().to_string(),
              HasSubstr("has 6 elements, but --input-value gives it 2"));
  EXPECT_THAT(with_values(choice_by_rate(), {{"sr", {1}}}).error().to_string(),
              HasSubstr("has no input 'sr' to give a value to; its inputs are x, rate"));
}

}  // namespace
}  // namespace intarsia
