// Variables, branches and loops of a file, and what is wrong with them.
#include <gmock/gmock.h>

#include "import_support.h"

namespace intarsia::test {
namespace {

using testing::HasSubstr;

// i = 0; while (i < 5) i = i + 1;
ModelSpec loop_model() {
  ModelSpec m;
  m.add({"first", {1}, kInt32, {}, {}, bytes_of(std::vector<int32_t>{0})});
  m.add({"last", {1}, kInt32, {}, {}});
  m.operators = {{kWhile, {0}, {1}, options_of(&format::CreateWhileOptions, 1, 2)}};
  m.outputs = {1};
  ModelSpec condition;
  condition.add({"i", {1}, kInt32, {}, {}});
  condition.add({"limit", {1}, kInt32, {}, {}, bytes_of(std::vector<int32_t>{5})});
  condition.add({"less", {1}, kBool, {}, {}});
  condition.operators = {{kLess, {0, 1}, {2}}};
  condition.inputs = {0}, condition.outputs = {2};
  ModelSpec body;
  body.add({"i", {1}, kInt32, {}, {}});
  body.add({"one", {1}, kInt32, {}, {}, bytes_of(std::vector<int32_t>{1})});
  body.add({"next", {1}, kInt32, {}, {}});
  body.operators = {
      {kAdd, {0, 1}, {2}, options_of(&format::CreateAddOptions, format::Activation::None)}};
  body.inputs = {0}, body.outputs = {2};
  m.subgraphs = {condition, body};
  return m;
}

TEST(ImportControl, ALoopIsANodeAndTwoFunctions) {
  const auto module = import(loop_model());
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  ASSERT_EQ(module->functions.size(), 3u);
  const graph::Node& node = module->entry_function().nodes.at(0);
  EXPECT_EQ(node.kind, graph::OpKind::While);
  EXPECT_EQ(node.attrs<graph::WhileAttrs>().condition, "part1");
  EXPECT_EQ(node.attrs<graph::WhileAttrs>().body, "part2");
  const auto result = graph::Evaluator(*module).run({});
  ASSERT_TRUE(result.ok()) << result.error().to_string();
  EXPECT_EQ((*result)[0], (graph::TensorValue{5, 0, 0, 0}));
}

TEST(ImportControl, ALoopThatMayRunForEverIsRefusedByName) {
  ModelSpec m = loop_model();
  m.subgraphs[1].operators[0].inputs = {0, 0};  // i = i + i
  EXPECT_THAT(errors(m), HasSubstr("operator 'last' (while): may run for ever"));
}

TEST(ImportControl, CirclesAreRefusedByName) {
  ModelSpec m = loop_model();
  m.subgraphs[1].operators.push_back(
      {kWhile, {2}, {2}, options_of(&format::CreateWhileOptions, 1, 2)});
  EXPECT_THAT(
      errors(m),
      HasSubstr("operator 1 'next_2' (WHILE v1) of subgraph 2: runs subgraph 2 'part2', which runs "
                "this operator: subgraphs call each other in a cycle"));
}

TEST(ImportControl, SubgraphsThatDoNotExist) {
  ModelSpec m = loop_model();
  m.operators[0].options = options_of(&format::CreateWhileOptions, -4, 3);
  const std::string text = errors(m);
  EXPECT_THAT(text, HasSubstr("runs subgraph -4, but the file has 3"));
  EXPECT_THAT(text, HasSubstr("runs subgraph 3, but the file has 3"));
}

TEST(ImportControl, OptionsOfAnotherOperatorRunNothing) {
  ModelSpec m = loop_model();
  m.operators[0].options = options_of(&format::CreateCallOnceOptions, 1);
  EXPECT_THAT(errors(m), HasSubstr("(WHILE v1): does not say which subgraphs it runs"));
  m = loop_model();
  m.subgraphs[1].operators[0].options = options_of(&format::CreateWhileOptions, 1'000'000'000, 2);
  EXPECT_THAT(errors(m),
              HasSubstr("(ADD v1) of subgraph 2: carries the options of another operator"));
}

TEST(ImportControl, OperandsThatTheSubgraphDoesNotTake) {
  ModelSpec m = loop_model();
  m.operators[0].inputs = {0, 0};
  EXPECT_THAT(errors(m), HasSubstr("hands 2 values to subgraph 1, which takes 1"));
}

// y = state + x; state = y. The state begins as 7 or as zeros.
ModelSpec state_model(bool initialised) {
  ModelSpec m;
  m.add({"x", {1}, kFloat32, {}, {}});
  m.add({"handle", {}, kResource, {}, {}});
  m.add({"old", {1}, kFloat32, {}, {}});
  m.add({"y", {1}, kFloat32, {}, {}});
  const auto handle = [](flatbuffers::FlatBufferBuilder& b) {
    const auto name = b.CreateString("sum");
    return std::pair(format::Options::VarHandleOptions,
                     format::CreateVarHandleOptions(b, 0, name).Union());
  };
  m.operators = {
      {kVarHandle, {}, {1}, handle},
      {kReadVariable, {1}, {2}},
      {kAdd, {2, 0}, {3}, options_of(&format::CreateAddOptions, format::Activation::None)},
      {kAssignVariable, {1, 3}, {}}};
  m.inputs = {0}, m.outputs = {3};
  if (!initialised) return m;
  m.operators.insert(m.operators.begin(),
                     {kCallOnce, {}, {}, options_of(&format::CreateCallOnceOptions, 1)});
  ModelSpec begin;
  begin.add({"handle", {}, kResource, {}, {}});
  begin.add({"seven", {1}, kFloat32, {}, {}, bytes_of(std::vector<float>{7})});
  begin.operators = {{kVarHandle, {}, {0}, handle}, {kAssignVariable, {0, 1}, {}}};
  m.subgraphs = {begin};
  return m;
}

TEST(ImportControl, ATensorThatIsBadBothAsAVariablesAndAsAResultIsReportedOnce) {
  ModelSpec m = state_model(false);
  m.tensors[3].type = 99;
  EXPECT_THAT(errors(m), HasSubstr("tensor 3 'y', used by operator 3 'assign_variable' "
                                   "(ASSIGN_VARIABLE v1): has element type 99"));
}

TEST(ImportControl, AProblemDeepInManyBranchesIsFoundAtOnce) {
  constexpr int kLevels = 40;
  ModelSpec level;
  level.add({"choice", {1}, kBool, {}, {}});
  for (const char* name : {"x", "y", "z"}) level.add({name, {1}, kFloat32, {}, {}});
  level.inputs = {0, 1}, level.outputs = {3};
  const auto branching = [&](int next) {
    const auto options = options_of(&format::CreateIfOptions, next, next);
    level.operators = {{kIf, {0, 0, 1}, {2}, options}, {kIf, {0, 0, 2}, {3}, options}};
    return level;
  };
  ModelSpec m = branching(1);
  for (int i = 2; i <= kLevels; ++i) m.subgraphs.push_back(branching(i));
  level.operators = {{kAdd, {1, 1}, {3}}};
  level.tensors[3].type = 99;
  m.subgraphs.push_back(level);
  EXPECT_THAT(errors(m), HasSubstr("has element type 99"));
}

std::vector<float> run(graph::Evaluator& evaluator, float x) {
  graph::TensorValue value(4);
  std::memcpy(value.data(), &x, 4);
  const auto result = evaluator.run({value});
  EXPECT_TRUE(result.ok());
  std::vector<float> out(1);
  std::memcpy(out.data(), (*result)[0].data(), 4);
  return out;
}

TEST(ImportControl, AVariableKeepsItsValue) {
  for (const bool initialised : {false, true}) {
    const auto module = import(state_model(initialised));
    ASSERT_TRUE(module.ok()) << module.error().to_string();
    EXPECT_EQ(module->functions.size(), 1u);  // initialisation has been done
    graph::Evaluator evaluator(*module), other(*module);
    const float begin = initialised ? 7 : 0;
    EXPECT_EQ(run(evaluator, 1), std::vector<float>{begin + 1});
    EXPECT_EQ(run(other, 10), std::vector<float>{begin + 10});
    EXPECT_EQ(run(evaluator, 2), std::vector<float>{begin + 3});
  }
}

TEST(ImportControl, InitialisationComesFirst) {
  ModelSpec m = state_model(true);
  std::rotate(m.operators.begin(), m.operators.begin() + 1, m.operators.end());
  EXPECT_THAT(errors(m), HasSubstr("initialises the variable 'sum' after it has been used"));
}

TEST(ImportControl, AVariableHasOneType) {
  ModelSpec m = state_model(false);
  m.tensors[2].shape = {2};
  EXPECT_THAT(
      errors(m),
      HasSubstr("operator 3 'assign_variable' (ASSIGN_VARIABLE v1): uses the variable 'sum' with "
                "another type, shape or quantisation"));
  m = state_model(false);
  m.operators[1].inputs = {0};
  EXPECT_THAT(errors(m), HasSubstr("works on something that is no handle of a variable"));
}

// The initialisation counts to `limit`.
ModelSpec counting_initialisation(int32_t limit) {
  ModelSpec m = state_model(true);
  ModelSpec loop = loop_model();
  loop.subgraphs[0].tensors[1].data = bytes_of(std::vector<int32_t>{limit});
  ModelSpec& begin = m.subgraphs[0];
  const int32_t first = begin.add(loop.tensors[0]), last = begin.add(loop.tensors[1]);
  begin.operators.push_back(
      {kWhile, {first}, {last}, options_of(&format::CreateWhileOptions, 2, 3)});
  m.subgraphs.insert(m.subgraphs.end(), loop.subgraphs.begin(), loop.subgraphs.end());
  return m;
}

TEST(ImportControl, InitialisationEnds) {
  EXPECT_EQ(errors(counting_initialisation(1000)), "");
  EXPECT_THAT(errors(counting_initialisation(2'000'000'000)),
              HasSubstr("is not run: more than 1000000 steps are needed until here"));
}

}  // namespace
}  // namespace intarsia::test
