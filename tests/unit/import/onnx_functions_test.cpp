// Functions that a model defines of its own: their operators stand where they are called.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "onnx_model.h"

namespace intarsia::onnx_models {
namespace {

using graph::OpKind;
using ::testing::Contains;
using ::testing::HasSubstr;

format::Function& add_function(Model& m, const std::string& name,
                               const std::vector<std::string>& inputs,
                               const std::vector<std::string>& outputs) {
  format::Function& function = *m.raw().add_function();
  function.set_name(name), function.set_domain("own");
  for (const std::string& input : inputs) function.add_input(input);
  for (const std::string& output : outputs) function.add_output(output);
  function.add_operator_set()->set_version(17);
  return function;
}

format::Node& add_to(format::Function& function, const std::string& domain, const std::string& type,
                     const std::vector<std::string>& inputs,
                     const std::vector<std::string>& outputs) {
  format::Node& node = *function.add_node();
  node.set_type(type), node.set_domain(domain), node.set_name(type);
  for (const std::string& input : inputs) node.add_input(input);
  for (const std::string& output : outputs) node.add_output(output);
  return node;
}

format::Node& call(Model& m, const std::string& type, const std::vector<std::string>& inputs,
                   const std::vector<std::string>& outputs, const std::string& name) {
  format::Node& node = m.node(type, inputs, outputs);
  node.set_domain("own"), node.set_name(name);
  return node;
}

// Names of values within stand for nothing outside, and what is within another function is found.
Model with_functions() {
  Model m;
  m.input("x", {2, 3}).output("y").output("z");
  format::Function& squared = add_function(m, "Squared", {"a"}, {"b"});
  add_to(squared, "", "Mul", {"a", "a"}, {"b"});
  format::Function& scaled = add_function(m, "Scaled", {"a", "by"}, {"b", "c"});
  add_to(scaled, "", "Mul", {"a", "by"}, {"x"});
  add_to(scaled, "own", "Squared", {"x"}, {"b"});
  add_to(scaled, "", "Neg", {"b"}, {"c"});
  m.constant("by", {3});
  call(m, "Scaled", {"x", "by"}, {"y"}, "first");
  call(m, "Scaled", {"x", "by"}, {"", "z"}, "second");
  return m;
}

TEST(OnnxFunctions, AreWrittenOutWhereTheyAreCalled) {
  const Result<graph::Module> module = with_functions().read();
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  std::vector<std::string> names;
  std::vector<OpKind> kinds;
  for (const graph::Node& node : module->entry_function().nodes) {
    names.push_back(node.name);
    kinds.push_back(node.kind);
  }
  EXPECT_EQ(std::ranges::count(kinds, OpKind::Mul), 4);
  EXPECT_EQ(std::ranges::count(kinds, OpKind::Neg),
            1);  // what the first call gives beside is not read
  EXPECT_THAT(names, Contains("first_Squared"));
  EXPECT_THAT(names, Contains("second_Squared"));
}

// An attribute that a body takes from the call, from the function, or from neither.
TEST(OnnxFunctions, TakeAttributesOfTheCall) {
  const auto alpha_of = [](bool given, bool has_default) -> float {
    Model m;
    m.input("x", {2, 3}).output("y");
    format::Function& leaky = add_function(m, "Leaky", {"a"}, {"b"});
    format::Node& node = add_to(leaky, "", "LeakyRelu", {"a"}, {"b"});
    Model::attribute(node, "alpha").set_reference("slope");
    if (has_default) {
      format::Attribute& slope = *leaky.add_attribute_default();
      slope.set_name("slope"), slope.set_real(0.25f);
    }
    format::Node& called = call(m, "Leaky", {"x"}, {"y"}, "leak");
    if (given) Model::attribute(called, "slope").set_real(0.5f);
    const Result<graph::Module> module = m.read();
    EXPECT_TRUE(module.ok()) << (module.ok() ? "" : module.error().to_string());
    if (!module.ok()) return -1;
    for (const graph::Node& made : module->entry_function().nodes)
      if (made.kind == OpKind::LeakyRelu) return made.attrs<graph::LeakyReluAttrs>().alpha;
    return -1;
  };
  EXPECT_EQ(alpha_of(true, true), 0.5f);
  EXPECT_EQ(alpha_of(false, true), 0.25f);
  EXPECT_EQ(alpha_of(false, false), 0.01f);
}

TEST(OnnxFunctions, MayGiveWhatTheyTake) {
  Model m;
  m.input("x", {2, 3}).output("y").output("z");
  format::Function& pair = add_function(m, "Pair", {"a"}, {"a", "b"});
  add_to(pair, "", "Relu", {"a"}, {"b"});
  call(m, "Pair", {"x"}, {"y", "z"}, "pair");
  const Result<graph::Module> module = m.read();
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  EXPECT_EQ(module->entry_function().outputs.size(), 2u);
}

TEST(OnnxFunctions, RefusesWhatHasNoMeaning) {
  Model endless;
  endless.input("x", {2}).output("y");
  add_to(add_function(endless, "Self", {"a"}, {"b"}), "own", "Self", {"a"}, {"b"});
  call(endless, "Self", {"x"}, {"y"}, "self");
  EXPECT_THAT(endless.refusal(), HasSubstr("function 'Self': is called by itself"));

  Model old = with_functions();
  old.raw().mutable_function(0)->mutable_operator_set(0)->set_version(12);
  EXPECT_THAT(old.refusal(),
              HasSubstr("function 'Squared': is written in operator set 12, the model in 17"));

  Model wide = with_functions();
  wide.graph().mutable_node(0)->add_input("x");
  EXPECT_THAT(wide.refusal(), HasSubstr("takes 2 values and gives 2, but a call has 3 and 1"));
}

}  // namespace
}  // namespace intarsia::onnx_models
