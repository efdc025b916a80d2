// Branches, loops, lists and suppression of ONNX: what is refused in which words. What they compute is compared with onnxruntime in
// tests/golden/onnx_layers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "onnx_model.h"

namespace intarsia {
namespace {

using namespace onnx_models;
using testing::HasSubstr;

// y = x after `steps` steps of Relu, where they are known; `limits` are the loop's first two operands.
Model loop(const std::vector<std::string>& limits, int64_t steps = 3) {
  Model model;
  model.input("x", {2, 3}).output("y");
  model.integers("steps", {steps});
  format::Node& node = model.node("Loop", {limits[0], limits[1], "x"}, {"y"});
  format::Graph& body = *Model::attribute(node, "body").mutable_graph();
  for (const char* input : {"step", "goes_on", "state"}) body.add_input()->set_name(input);
  for (const auto& [type, from, to] :
       {std::tuple("Identity", "goes_on", "again"), std::tuple("Relu", "state", "next")}) {
    format::Node& inner = *body.add_node();
    inner.set_type(type), inner.add_input(from), inner.add_output(to);
  }
  for (const char* output : {"again", "next"}) body.add_output()->set_name(output);
  return model;
}

TEST(OnnxLoop, IsWrittenOut) {
  const auto module = loop({"steps", ""}).read();
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  EXPECT_EQ(module->entry_function().nodes.size(), 3u);
}

TEST(OnnxLoop, StepsThatAreTooManyOrUnknown) {
  EXPECT_THAT(loop({"steps", ""}, 5000).refusal(), HasSubstr("runs 2 operators 4097 times"));
  EXPECT_THAT(loop({"", ""}).refusal(), HasSubstr("runs 2 operators 4097 times"));
  Model number = loop({"given", ""});
  number.input("given", {1}, kInt64);
  EXPECT_THAT(number.refusal(),
              HasSubstr("takes how often it runs at most from 'given', which is"));
  Model condition = loop({"", "given"});
  condition.input("given", {1}, kBool);
  EXPECT_THAT(condition.refusal(), HasSubstr("runs as often as only the running model knows"));
  Model no_body = loop({"steps", ""});
  no_body.graph().mutable_node(0)->clear_attribute();
  EXPECT_THAT(no_body.refusal(), HasSubstr("has no body"));
  Model other = loop({"steps", ""});
  other.graph().mutable_node(0)->add_output("more");
  EXPECT_THAT(other.refusal(), HasSubstr("carries 1 values and has 2 outputs, but its body 2"));
}

TEST(OnnxScan, WhatItTakesApart) {
  Model model;
  model.input("x", {2, 3}).output("y");
  format::Node& node = model.node("Scan", {"x"}, {"y"});
  format::Graph& body = *Model::attribute(node, "body").mutable_graph();
  body.add_input()->set_name("row");
  format::Node& inner = *body.add_node();
  inner.set_type("Relu"), inner.add_input("row"), inner.add_output("made");
  body.add_output()->set_name("made");
  EXPECT_THAT(model.refusal(), HasSubstr("has 1 inputs, 0 of them sequences"));
  Model::attribute(node, "num_scan_inputs").set_integer(1);
  EXPECT_EQ(model.refusal(), "is taken");
  Model::attribute(node, "scan_input_axes").add_integers(2);
  EXPECT_THAT(model.refusal(), HasSubstr("names axis 2 of a tensor of rank 2"));
}

TEST(OnnxSuppression, WhatItCannotTake) {
  const auto suppression = [](std::vector<int64_t> boxes, std::vector<int64_t> scores,
                              int64_t most) {
    Model model;
    model.input("boxes", boxes).input("scores", scores).output("y");
    model.integers("most", {most});
    model.node("NonMaxSuppression", {"boxes", "scores", "most"}, {"y"});
    return model.refusal();
  };
  EXPECT_EQ(suppression({1, 9, 4}, {1, 2, 9}, 3), "is taken");
  EXPECT_THAT(
      suppression({1, 9, 4}, {1, 2, 8}, 3),
      HasSubstr("takes boxes [1,9,4] and scores [1,2,8]; boxes [N,B,4] and scores [N,C,B]"));
  EXPECT_THAT(suppression({1, 9, 4}, {1, 2, 9}, 0), HasSubstr("takes no box of a class"));
  EXPECT_THAT(suppression({1, 900, 4}, {1, 80, 900}, 900),
              HasSubstr("may give 72000 boxes: 900 of 80 classes in 1 images"));
}

TEST(OnnxSuppression, ANoteSaysHowManyRowsThereAre) {
  Model model;
  model.input("boxes", {1, 9, 4}).input("scores", {1, 2, 9}).output("y");
  model.integers("most", {3});
  model.node("NonMaxSuppression", {"boxes", "scores", "most"}, {"y"});
  Diagnostics notes;
  ASSERT_TRUE(model.read(&notes).ok());
  EXPECT_THAT(notes.to_string(), HasSubstr("gives 6 rows, as many as there can be"));
}

TEST(OnnxList, PlacesAndTensorsThatDoNotFit) {
  const auto at = [](int64_t place, const char* list = "list") {
    Model model;
    model.input("x", {2, 3}).output("y");
    model.integers("place", {place});
    model.node("SequenceConstruct", {"x", "x"}, {"list"});
    model.node("SequenceAt", {list, "place"}, {"y"});
    return model.refusal();
  };
  EXPECT_EQ(at(-2), "is taken");
  EXPECT_THAT(at(2), HasSubstr("takes place 2 of a list of 2"));
  EXPECT_THAT(at(0, "x"), HasSubstr("takes a tensor where it needs a list of them"));
  Model model;
  model.input("x", {2, 3}).output("y");
  model.node("SequenceConstruct", {"x"}, {"list"});
  model.node("Relu", {"list"}, {"y"});
  EXPECT_THAT(model.refusal(), HasSubstr("takes a list of tensors where it needs a tensor"));
}

TEST(OnnxWholeNumbers, OfMoreThan32Bits) {
  Model model;
  model.input("x", {2}, kInt64).output("y");
  model.integers("large", {int64_t{1} << 31});
  model.node("Add", {"x", "large"}, {"y"});
  EXPECT_THAT(model.refusal(), HasSubstr("computes with 2147483648, which has more than 32 bits"));
}

}  // namespace
}  // namespace intarsia
