// Recurrent layers of TensorFlow 1: what they become and what is refused. What they compute is recorded (tests/golden/operators).
#include <algorithm>

#include "import_support.h"

namespace intarsia::test {
namespace {

using graph::OpKind;
using testing::HasSubstr;

constexpr int32_t kLstmCell = 16, kRnn = 24, kSequenceRnn = 35, kSequenceLstm = 44, kTwoWayRnn = 46;

TensorSpec weights(const char* name, std::vector<int32_t> shape, bool is_integer) {
  size_t count = 1;
  for (const int32_t extent : shape) count *= static_cast<size_t>(extent);
  if (is_integer)
    return {name, std::move(shape), kInt8, {0.01f}, {0}, std::vector<uint8_t>(count, 3)};
  return {name, std::move(shape), kFloat32, {}, {}, bytes_of(std::vector<float>(count, 0.1f))};
}

TensorSpec state(const char* name, std::vector<int32_t> shape) {
  TensorSpec made = real(name, std::move(shape));
  made.variable = true;
  return made;
}

// [2,steps,3] -> [2,steps,4], batches first.
ModelSpec plain_sequence(int32_t steps, bool is_integer = false,
                         format::Activation activation = format::Activation::Tanh) {
  ModelSpec m;
  m.add(real("x", {2, steps, 3}));
  m.add(weights("w", {4, 3}, is_integer));
  m.add(weights("r", {4, 4}, is_integer));
  m.add(weights("b", {4}, false));
  m.add(state("h", {2, 4}));
  m.add(real("y", {2, steps, 4}));
  m.operators = {{kSequenceRnn,
                  {0, 1, 2, 3, 4},
                  {5},
                  options_of(&format::CreateSequenceRnnOptions, false, activation, false)}};
  m.inputs = {0};
  m.outputs = {5};
  return m;
}

size_t count_of(const graph::Function& function, OpKind kind) {
  return static_cast<size_t>(std::ranges::count(function.nodes, kind, &graph::Node::kind));
}

TEST(ImportSequence, StepsAreALoopAndOneStepIsNone) {
  const graph::Function many = imported(plain_sequence(5));
  EXPECT_EQ(count_of(many, OpKind::While), 1u);
  EXPECT_EQ(count_of(many, OpKind::Transpose), 2u);
  const graph::Function one = imported(plain_sequence(1));
  EXPECT_EQ(count_of(one, OpKind::While) + count_of(one, OpKind::Transpose), 0u);
  EXPECT_EQ(count_of(one, OpKind::Tanh), 1u);
  for (const graph::Function& function : {many, one}) {
    EXPECT_EQ(count_of(function, OpKind::ReadVariable), 1u);
    EXPECT_EQ(count_of(function, OpKind::AssignVariable), 1u);
  }
}

TEST(ImportSequence, IntegerWeightsQuantiseTheHiddenStateInEachStep) {
  const Result<graph::Module> module = import(plain_sequence(5, true));
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  size_t quantised = 0;
  for (const graph::Function& function : module->functions)
    quantised += count_of(function, OpKind::QuantizeRows);
  EXPECT_EQ(quantised, 2u);
  const Result<graph::Module> widened = import_model(
      build(plain_sequence(5, true)), {.file = "some/m.tflite", .widen_weights = true});
  ASSERT_TRUE(widened.ok()) << widened.error().to_string();
  for (const graph::Function& function : widened->functions)
    EXPECT_EQ(count_of(function, OpKind::QuantizeRows), 0u);
}

TEST(ImportSequence, SaysWhatALayerLacks) {
  const auto changed = [](auto&& change) {
    ModelSpec m = plain_sequence(5);
    change(m);
    return errors(m);
  };
  EXPECT_THAT(changed([](ModelSpec& m) { m.tensors[4].variable = false; }),
              HasSubstr("needs states that are variables of [2,4]"));
  EXPECT_THAT(changed([](ModelSpec& m) { m.operators[0].inputs[3] = -1; }),
              HasSubstr("lacks weights or biases of some of its gates"));
  EXPECT_THAT(changed([](ModelSpec& m) {
                m.tensors[2].data.clear(), m.inputs = {0, 2};
              }),
              HasSubstr("has gates whose constants are not alike; floats, or int8"));
  EXPECT_THAT(changed([](ModelSpec& m) {
                m.tensors[1] = weights("w", {4, 2}, false);
              }),
              HasSubstr("has operands whose shapes do not belong together"));
  EXPECT_THAT(changed([](ModelSpec& m) {
                m.tensors[0].shape = {10, 3};
              }),
              HasSubstr("reads sequences of [10,3]"));
  EXPECT_THAT(changed([](ModelSpec& m) {
                m.tensors[5].shape = {2, 5, 5};
              }),
              HasSubstr("makes [2,5,4], but its output has shape [2,5,5]"));
  EXPECT_THAT(errors(plain_sequence(5, false, format::Activation::SignBit)),
              HasSubstr("has an activation other than relu, relu6, relu_n1_to_1 and tanh"));
  EXPECT_THAT(
      changed([](ModelSpec& m) {
        m.tensors[0].type = m.tensors[5].type = kInt8;
        for (const size_t i : {0, 5}) m.tensors[i].scale = {0.5f}, m.tensors[i].zero_point = {0};
        m.tensors[1] = weights("w", {4, 3}, true), m.tensors[2] = weights("r", {4, 4}, true);
      }),
      HasSubstr("computes on i8; f32 is possible"));
  ModelSpec narrow = plain_sequence(5);
  narrow.operators[0].code = kRnn;
  narrow.operators[0].options =
      options_of(&format::CreateRnnOptions, format::Activation::Tanh, false);
  EXPECT_THAT(errors(narrow), HasSubstr("reads sequences of [2,5,3]"));
}

TEST(ImportSequence, TwoDirectionsAreTwoLoops) {
  ModelSpec m = plain_sequence(5);
  m.add(state("h2", {2, 4}));
  m.operators[0] = {
      kTwoWayRnn,
      {0, 1, 2, 3, 4, 1, 2, 3, 6, -1, -1, -1},
      {5},
      options_of(&format::CreateTwoWayRnnOptions, false, format::Activation::Tanh, true, false)};
  m.tensors[5].shape = {2, 5, 8};
  EXPECT_EQ(count_of(imported(m), OpKind::While), 2u);
  ModelSpec second = m;
  second.operators[0].inputs[10] = second.operators[0].inputs[11] = 1;
  EXPECT_THAT(errors(second), HasSubstr("has weights for a second input, which it lacks"));
  m.operators[0].outputs = {5, 5};
  EXPECT_THAT(errors(m), HasSubstr("has 2 outputs, but makes 1"));
}

// One gate's weights of integers are no layer of any kernel.
TEST(ImportSequence, GatesOfAnLstmAreAlike) {
  ModelSpec m;
  m.add(real("x", {1, 2, 3}));
  std::vector<int32_t> operands{0};
  const auto four = [&](const char* name, const std::vector<int32_t>& shape) {
    for (int i = 0; i < 4; ++i) {
      operands.push_back(static_cast<int32_t>(m.tensors.size()));
      m.add(weights((name + std::to_string(i)).c_str(), shape, false));
    }
  };
  four("w", {4, 3});
  four("r", {4, 4});
  operands.insert(operands.end(), 3, -1);
  four("b", {4});
  operands.insert(operands.end(), 2, -1);
  for (const char* name : {"h", "c"}) {
    operands.push_back(static_cast<int32_t>(m.tensors.size()));
    m.add(state(name, {1, 4}));
  }
  m.add(real("y", {1, 2, 4}));
  const auto last = static_cast<int32_t>(m.tensors.size()) - 1;
  m.operators = {{kSequenceLstm,
                  operands,
                  {last},
                  options_of(&format::CreateLstmOptions, format::Activation::Tanh, 0.0f, 0.0f,
                             false, false, false)}};
  m.inputs = {0};
  m.outputs = {last};
  EXPECT_EQ(count_of(imported(m), OpKind::Lstm), 1u);
  for (const size_t gate : {1, 2, 6}) {
    ModelSpec mixed = m;
    mixed.tensors[gate] = weights("mixed", gate < 5 ? std::vector{4, 3} : std::vector{4, 4}, true);
    EXPECT_NE(errors(mixed), "") << gate;
  }
}

TEST(ImportSequence, TheBasicCellHasItsStatesAsOperands) {
  ModelSpec m;
  m.add(real("x", {2, 3}));
  m.add(real("h", {2, 4}));
  m.add(weights("w", {16, 7}, false));
  m.add(weights("b", {16}, false));
  m.add(real("c", {2, 4}));
  for (const auto& [name, extent] : {std::pair("h2", 4), {"c2", 4}, {"joined", 7}, {"sums", 16}})
    m.add(real(name, {2, extent}));
  m.operators = {{kLstmCell,
                  {0, 1, 2, 3, 4},
                  {5, 6, 7, 8},
                  options_of(&format::CreateLstmCellOptions, format::Activation::Tanh, 0.0f, 0.0f,
                             int8_t{1}, false)}};
  m.inputs = {0, 1, 4};
  m.outputs = {5, 6};
  EXPECT_EQ(count_of(imported(m), OpKind::ReadVariable), 0u);
  m.tensors[2] = weights("w", {16, 6}, false);
  EXPECT_THAT(errors(m), HasSubstr("has operands whose shapes do not belong together"));
}

}  // namespace
}  // namespace intarsia::test
