// ONNX files made here: what is refused, and in which words; what operators become.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "onnx_model.h"

namespace intarsia {
namespace {

using namespace onnx_models;
using testing::HasSubstr;

Model relu() {
  Model model;
  model.input("x", {1, 2}).output("y");
  model.node("Relu", {"x"}, {"y"});
  return model;
}

TEST(OnnxFile, EveryPrefixIsRefusedOrTaken) {
  const std::string whole = relu().raw().SerializeAsString();
  for (size_t size = 0; size < whole.size(); ++size) {
    const auto module =
        import_model({reinterpret_cast<const uint8_t*>(whole.data()), size}, {"m.onnx"});
    if (module.ok()) continue;
    EXPECT_THAT(module.error().to_string(), HasSubstr("m.onnx"));
  }
  EXPECT_EQ(relu().refusal(), "is taken");
}

TEST(OnnxFile, CutOff) {
  std::string text = relu().raw().SerializeAsString();
  text.resize(text.size() - 9);
  const auto module =
      import_model({reinterpret_cast<const uint8_t*>(text.data()), text.size()}, {"m.onnx"});
  ASSERT_FALSE(module.ok());
  EXPECT_EQ(module.error().to_string(),
            "m.onnx: is not a whole ONNX model: its protocol buffer does not parse; the file is "
            "cut off or "
            "damaged; export or fetch it again\n");
}

TEST(OnnxFile, OperatorSetOfTheFuture) {
  Model model(99);
  model.input("x", {1}).output("y");
  model.node("Relu", {"x"}, {"y"});
  EXPECT_THAT(model.refusal(), HasSubstr("is written in operator set 99"));
}

TEST(OnnxFile, UnknownOperatorsAreReportedTogether) {
  Model model;
  model.input("x", {1, 2}).output("y");
  model.node("Frobnicate", {"x"}, {"a"});
  model.node("Scramble", {"a"}, {"y"}).set_domain("ai.example");
  const std::string refusal = model.refusal();
  EXPECT_THAT(refusal, HasSubstr("operator 0 'the_Frobnicate' (Frobnicate, operator set 17): is an "
                                 "operator Intarsia does not have"));
  EXPECT_THAT(refusal,
              HasSubstr("operator 1 'the_Scramble' (ai.example.Scramble, operator set 0)"));
  EXPECT_THAT(refusal, HasSubstr("docs/onnx.md"));
}

TEST(OnnxFile, WhatIsLaidOutForOneMachineSaysHowToSaveIt) {
  Model model;
  model.input("x", {1, 2}).output("y");
  model.node("Conv", {"x"}, {"y"}).set_domain("com.microsoft.nchwc");
  EXPECT_THAT(model.refusal(), HasSubstr("save it with ORT_ENABLE_EXTENDED or less"));
}

TEST(OnnxFile, Cycle) {
  Model model;
  model.input("x", {1, 2}).output("y");
  model.node("Add", {"x", "b"}, {"a"});
  model.node("Relu", {"a"}, {"b"});
  model.node("Relu", {"x"}, {"y"});
  EXPECT_THAT(model.refusal(),
              HasSubstr("operator 0 'the_Add' (Add, operator set 17): is part of a cycle"));
}

TEST(OnnxFile, OrderOfTheFileDoesNotMatter) {
  Model model;
  model.input("x", {1, 2}).output("y");
  model.node("Relu", {"a"}, {"y"});
  model.node("Neg", {"x"}, {"a"});
  EXPECT_EQ(model.refusal(), "is taken");
}

TEST(OnnxFile, ValueFromNowhere) {
  Model model;
  model.input("x", {1, 2}).output("y");
  model.node("Add", {"x", "lost"}, {"y"});
  EXPECT_THAT(model.refusal(), HasSubstr("reads 'lost', which nothing makes"));
  EXPECT_THAT(model.refusal(), HasSubstr("onnx.checker.check_model"));
}

TEST(OnnxFile, InputTwice) {
  Model model;
  model.input("x", {1, 2}).input("x", {1, 2}).output("y");
  model.node("Add", {"x", "x"}, {"y"});
  EXPECT_THAT(model.refusal(),
              HasSubstr("model input 'x': is there twice; give each input a name"));
}

TEST(OnnxFile, DataElsewhereThatIsMissing) {
  Model model = relu();
  format::Tensor& tensor = model.constant("w", {4});
  tensor.clear_raw(), tensor.set_location(1);
  format::Entry& entry = *tensor.add_elsewhere();
  entry.set_key("location"), entry.set_value("weights.bin");
  EXPECT_THAT(
      model.refusal(),
      HasSubstr("initialiser 'w': lies in the file 'some/weights.bin', which cannot be read"));
  entry.set_value("../weights.bin");
  EXPECT_THAT(model.refusal(), HasSubstr("which is not beside the model"));
  entry.set_value("/etc/passwd");
  EXPECT_THAT(model.refusal(), HasSubstr("which is not beside the model"));
}

TEST(OnnxFile, InitialiserOfWrongSize) {
  Model model = relu();
  model.constant("w", {4}).set_raw("abc");
  EXPECT_THAT(model.refusal(),
              HasSubstr("initialiser 'w': needs 16 bytes for its shape, but holds 3"));
}

TEST(OnnxFile, TypesOfNoMicrocontroller) {
  Model model = relu();
  model.constant("w", {1}, 8).set_raw("12345678");
  EXPECT_THAT(model.refusal(), HasSubstr("initialiser 'w': is of string"));
}

TEST(OnnxFile, OpenBatchBecomesOne) {
  Model model;
  model.input("x", {-1, 2}).output("y");
  model.node("Relu", {"x"}, {"y"});
  Diagnostics notes;
  const auto module = model.read(&notes);
  ASSERT_TRUE(module.ok());
  EXPECT_EQ(module->entry_function().tensors[0].shape, (Shape{1, 2}));
  EXPECT_EQ(notes.to_string(),
            "some/m.onnx: model input 'x': has an open batch (N), which becomes 1\n");
}

TEST(OnnxFile, OtherOpenExtents) {
  Model model;
  model.input("x", {1, -1}).output("y");
  model.node("Relu", {"x"}, {"y"});
  EXPECT_THAT(model.refusal(), HasSubstr("model input 'x': has an open extent along axis 1 (N)"));
}

TEST(OnnxOperator, ShapesThatDoNotBroadcast) {
  Model model;
  model.input("x", {1, 2}).input("z", {1, 3}).output("y");
  model.node("Add", {"x", "z"}, {"y"});
  EXPECT_THAT(model.refusal(), HasSubstr("operator 0 'the_Add' (Add, operator set 17): shapes "
                                         "[1,2] and [1,3] cannot be broadcast"));
}

TEST(OnnxOperator, AxisOutOfRange) {
  Model model;
  model.input("x", {1, 2}).output("y");
  format::Attribute& axis = *model.node("Softmax", {"x"}, {"y"}).add_attribute();
  axis.set_name("axis"), axis.set_integer(5);
  EXPECT_THAT(
      model.refusal(),
      HasSubstr("operator 0 'the_Softmax' (Softmax, operator set 17): names axis 5 of a tensor of "
                "rank 2; -2 to 1 are possible"));
}

TEST(OnnxOperator, WeightsThatDoNotFit) {
  Model model;
  model.input("x", {1, 3, 8, 8}).output("y");
  model.constant("w", {4, 2, 3, 3});
  model.node("Conv", {"x", "w"}, {"y"});
  EXPECT_THAT(model.refusal(), HasSubstr("has weights [4,2,3,3] for 3 channels in 1 groups"));
}

TEST(OnnxOperator, ShapeOfTheRunningModel) {
  Model model;
  model.input("x", {4}).input("s", {2}, kInt64).output("y");
  model.node("Reshape", {"x", "s"}, {"y"});
  EXPECT_THAT(model.refusal(),
              HasSubstr("takes its shape from 's', which is known only when the model runs"));
}

TEST(OnnxOperator, ShapesAreComputedAtImport) {
  Model model;
  model.input("x", {1, 6, 2}).output("y");
  model.integers("first", {0}), model.integers("rest", {-1});
  model.node("Shape", {"x"}, {"shape"});
  model.node("Gather", {"shape", "first"}, {"batch"});
  model.node("Concat", {"batch", "rest"}, {"wanted"}).add_attribute()->set_name("axis");
  model.node("Reshape", {"x", "wanted"}, {"y"});
  const auto module = model.read();
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  ASSERT_EQ(module->entry_function().nodes.size(), 1u);
  EXPECT_EQ(module->entry_function().tensor(module->entry_function().outputs[0]).shape,
            (Shape{1, 12}));
}

}  // namespace
}  // namespace intarsia
