// `-sums=npu`: sums and differences in one operation that the NPU rounds, on the simulator, and how far their results are
// from the reference's.
#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include "compiled.h"
#include "graph_maker.h"
#include "intarsia/graph/tensor_values.h"

namespace intarsia::test::ethos_u {
namespace {

using graph::OpKind;
using graph::TensorId;
using testing::Random;

struct Scale {
  float scale;
  int64_t zero = 0;
};

graph::Module sum_of(OpKind kind, DataType type, const Shape& shape, Scale a, Scale b, Scale out,
                     graph::Activation activation = graph::Activation::None) {
  Graph g;
  const TensorId x = g.input(type, shape, a.scale, a.zero);
  const TensorId y = g.input(type, shape, b.scale, b.zero);
  return g.finish(
      g.node(kind, graph::BinaryAttrs{activation}, {x, y}, 1, type, out.scale, out.zero));
}

size_t rounded_operations(const graph::Module& module) {
  return legalise(module, module.entry_function(), {.rounds_sums = true}).operations.size();
}

// The largest difference of the simulated model from the reference, in steps; -1 where it cannot be run.
int32_t steps_apart(const graph::Module& module, const std::vector<graph::TensorValue>& inputs,
                    CompileRequest request = {}) {
  request.rounds_sums = true;
  const std::string text = graph::print(module);
  const Result<CompiledModel> model = compile_for({text.begin(), text.end()}, request);
  EXPECT_TRUE(model.ok()) << (model.ok() ? "" : model.error().to_string());
  if (!model.ok()) return -1;
  const auto expected = graph::Evaluator(module).run(inputs);
  const SimulatedRun run = simulate(*model, inputs);
  EXPECT_EQ(run.problem, "") << text;
  EXPECT_EQ(run.outputs.size(), expected->size());
  if (run.outputs.size() != expected->size()) return -1;
  const graph::Function& entry = module.entry_function();
  int32_t most = 0;
  for (size_t i = 0; i < expected->size(); ++i)
    most = std::max(
        most, graph::largest_steps(entry.tensor(entry.outputs[i]), (*expected)[i], run.outputs[i]));
  return most;
}

// Scales of which no registers are exact, near each other and far apart, and every pair of operands.
TEST(RoundedSums, OfEveryPairOf8Bits) {
  const auto [first, second] = every_pair_of_bytes();
  struct Scales {
    Scale a, b, out;
  };
  const Scales all[] = {{{0.0187f, -128}, {0.0524f, -4}, {0.0322f, -128}},
                        {{0.05f, 0}, {0.02f, 3}, {0.04f, -3}},
                        {{0.1f, 11}, {0.025f, -7}, {0.025f, 0}},
                        {{0.003f, 127}, {0.3f, -128}, {0.2f, 0}}};
  int rounded = 0;
  for (const Scales& s : all)
    for (const OpKind kind : {OpKind::Add, OpKind::Sub})
      for (const bool swapped : {false, true})
        for (const graph::Activation activation :
             {graph::Activation::None, graph::Activation::Relu}) {
          const graph::Module module = sum_of(kind, DataType::Int8, {256, 256}, swapped ? s.b : s.a,
                                              swapped ? s.a : s.b, s.out, activation);
          SCOPED_TRACE(graph::print(module));
          EXPECT_EQ(rounded_operations(module), 1u);
          const bool is_exact = operation_count(module) == 1;
          const int32_t most = steps_apart(module, {first, second});
          EXPECT_LE(most, is_exact ? 0 : 1);
          EXPECT_GE(most, 0);
          rounded += most;
        }
  EXPECT_GT(rounded, 0) << "nothing here tells the NPU's rounding from TFLite's";
}

// Random scales, with values at both ends of the range among the operands; on all configurations in turn.
TEST(RoundedSums, Of16Bits) {
  constexpr const char* kTargets[] = {"ethos-u55-32", "ethos-u55-128", "ethos-u65-256",
                                      "ethos-u65-512"};
  Random random(41);
  int rounded = 0;
  for (int round = 0; round < 48; ++round) {
    const auto scale = [&](int least, int most) {
      return Scale{static_cast<float>(random.range(least, most)) * 1e-6f};
    };
    const Scale a = scale(100, 9000), b = scale(100, 9000), out = scale(2000, 9000);
    const graph::Module module = sum_of(round % 3 == 0 ? OpKind::Sub : OpKind::Add, DataType::Int16,
                                        {1, 16, 16, 24}, a, b, out);
    SCOPED_TRACE(graph::print(module));
    EXPECT_EQ(rounded_operations(module), 1u);
    std::vector<graph::TensorValue> inputs = testing::random_inputs(random, module);
    for (size_t at = 0; at < 8; at += 2) {
      const int16_t ends[] = {-32768, 32767};
      for (size_t i = 0; i < 2; ++i) {
        const auto value = static_cast<uint16_t>(ends[at >> (i + 1) & 1]);
        inputs[i][at] = static_cast<uint8_t>(value);
        inputs[i][at + 1] = static_cast<uint8_t>(value >> 8);
      }
    }
    const int32_t most =
        steps_apart(module, inputs, {.target = kTargets[round % std::size(kTargets)]});
    EXPECT_LE(most, 1);
    EXPECT_GE(most, 0);
    rounded += most;
  }
  EXPECT_GT(rounded, 0);
}

// Results in steps so small that TFLite's roundings of an operand are several of them, and an operand that the closest factor of
// 15 bits is too coarse for: these stay exact.
TEST(RoundedSums, ExactWhereAStepWouldNotDo) {
  Random random(43);
  for (const auto& [a, b, out] : {std::array<Scale, 3>{Scale{1.0f}, Scale{0.3f}, Scale{1e-4f}},
                                  std::array<Scale, 3>{Scale{1.0f}, Scale{1e-5f}, Scale{0.9f}}}) {
    const graph::Module module = sum_of(OpKind::Add, DataType::Int16, {1, 4, 4, 8}, a, b, out);
    EXPECT_EQ(rounded_operations(module), operation_count(module));
    EXPECT_EQ(steps_apart(module, testing::random_inputs(random, module)), 0);
  }
}

// Keeping to what Arm's streams confirm comes first.
TEST(RoundedSums, AreExactWithConfirmedEncodingsAlone) {
  Random random(47);
  const graph::Module module =
      sum_of(OpKind::Add, DataType::Int16, {1, 4, 4, 8}, {0.0011f}, {0.0043f}, {0.0037f});
  EXPECT_EQ(rounded_operations(module), 1u);
  EXPECT_EQ(steps_apart(module, testing::random_inputs(random, module), {.confirmed_only = true}),
            0);
}

// Sums that read each other's results, with an operand that repeats and a constant: each gives up a step of its own, beside
// what the steps of the one before come to in its scale.
TEST(RoundedSums, InANetwork) {
  for (const DataType type : {DataType::Int8, DataType::Int16}) {
    Random random(53);
    Graph g;
    const TensorId x = g.input(type, {1, 9, 7, 20}, 0.05f, 0);
    const TensorId row = g.input(type, {1, 1, 1, 20}, 0.02f, 0);
    const TensorId c = g.constant(random, type, {1}, {{0.031f}, {0}, 0});
    const auto sum = [&](OpKind kind, TensorId a, TensorId b, float scale) {
      return g.node(kind, graph::BinaryAttrs{}, {a, b}, 1, type, scale, 0)[0];
    };
    const TensorId first = sum(OpKind::Add, x, row, 0.06f);
    const TensorId second = sum(OpKind::Add, first, x, 0.07f);
    const TensorId third = sum(OpKind::Sub, c, second, 0.08f);
    const graph::Module module = g.finish({first, second, third});
    EXPECT_EQ(rounded_operations(module), 3u);
    const std::vector<graph::TensorValue> inputs = testing::random_inputs(random, module);
    EXPECT_LE(steps_apart(module, inputs), 3);
  }
}

}  // namespace
}  // namespace intarsia::test::ethos_u
