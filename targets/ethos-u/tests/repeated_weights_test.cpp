// Steps of a recurrent network: the same weights with scales of their own, from one copy where that pays. Results are the
// reference's, and the checker finds the copy's bytes there for every step.
#include <algorithm>

#include <gtest/gtest.h>

#include "compiled.h"
#include "graph_maker.h"
#include "kinds.h"
#include "timed_compiled.h"

namespace intarsia::test::ethos_u {
namespace {

using graph::OpKind;
using graph::TensorId;

// h = tanh(x W + h U) for each of the rows of x, with other scales of both products each time. `through`: x is a result itself.
graph::Module recurrent(DataType type, int32_t steps, int32_t inputs, int32_t units,
                        bool through = false) {
  Graph graph;
  testing::Random random{81};
  const float small = type == DataType::Int8 ? 0.02f : 0.0001f;
  const float of_one = type == DataType::Int8 ? 1.0f / 128 : 1.0f / 32768;
  TensorId x = graph.input(type, {steps, inputs}, small, 0);
  if (through) x = graph.node(OpKind::Tanh, graph::NoAttrs{}, {x}, 1, type, of_one, 0)[0];
  const auto weights = [&](int32_t from) {
    return graph.constant(random, DataType::Int8, {units, from}, {{0.003f}, {0}, 0});
  };
  const TensorId w = weights(inputs), u = weights(units);
  const std::vector<TensorId> rows = graph.like(
      OpKind::Split, graph::SplitAttrs{0, std::vector<int64_t>(static_cast<size_t>(steps), 1)}, {x},
      static_cast<size_t>(steps));
  const auto product = [&](TensorId of, TensorId with, float scale) {
    return graph.node(OpKind::FullyConnected, graph::FullyConnectedAttrs{}, {of, with, TensorId{}},
                      1, type, scale, 0)[0];
  };
  TensorId h;
  for (int32_t step = 0; step < steps; ++step) {
    const float other = small * (1 + 0.07f * static_cast<float>(step));
    TensorId sum = product(rows[static_cast<size_t>(step)], w, other);
    if (step > 0)
      sum = graph.node(OpKind::Add, graph::BinaryAttrs{}, {sum, product(h, u, other)}, 1, type,
                       2 * other, 0)[0];
    h = graph.node(OpKind::Tanh, graph::NoAttrs{}, {sum}, 1, type, of_one, 0)[0];
  }
  return graph.finish({h});
}

void expect_exact(const graph::Module& module, const CompileRequest& request) {
  SCOPED_TRACE(request.target + " " + request.memory_mode);
  const std::string text = graph::print(module);
  const Result<CompiledModel> model = compile_for({text.begin(), text.end()}, request);
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  testing::Random random(82);
  for (int round = 0; round < 2; ++round) {
    const auto inputs = testing::random_inputs(random, module);
    const SimulatedRun run = simulate(*model, inputs);
    EXPECT_EQ(run.problem, "");
    EXPECT_EQ(run.outputs, *graph::Evaluator(module).run(inputs));
  }
}

class RepeatedWeights : public ::testing::TestWithParam<DataType> {};

TEST_P(RepeatedWeights, ResultsAreTheReferences) {
  for (const auto& [steps, inputs, units] :
       {std::tuple(9, 10, 24), std::tuple(12, 40, 64), std::tuple(2, 16, 16)}) {
    const graph::Module module = recurrent(GetParam(), steps, inputs, units);
    for (const char* target :
         {"ethos-u55-32", "ethos-u55-128", "ethos-u55-256", "ethos-u65-256", "ethos-u65-512"})
      expect_exact(module, {.target = target});
    expect_exact(module, {.target = "ethos-u65-256", .memory_mode = "shared-sram"});
    expect_exact(module, {.target = "ethos-u65-512", .optimise = LoweringOptions::Optimise::Size});
    expect_exact(module, {.target = "ethos-u65-256", .sram_limit = 4096});
  }
}

// A memory of the NPU's own holds them for all steps.
TEST_P(RepeatedWeights, StayInOwnMemory) {
  const graph::Module module = recurrent(GetParam(), 12, 40, 64);
  const std::string text = graph::print(module);
  const Result<CompiledModel> model =
      compile_for({text.begin(), text.end()}, {.target = "ethos-u65-256"});
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  EXPECT_GT(sram_bytes(*model), int64_t{64} * 64) << "the weights of the state";
}

// By default they take no more of it than one product does that has its constants there.
TEST_P(RepeatedWeights, TakeNoMoreThanOneProduct) {
  constexpr int32_t kUnits = 64, kInputs = 40;
  const graph::Module module = recurrent(GetParam(), 12, kInputs, kUnits);
  const std::string text = graph::print(module);
  const auto bytes_for = [&](LoweringOptions::Optimise optimise) {
    const Result<CompiledModel> model =
        compile_for({text.begin(), text.end()}, {.target = "ethos-u65-256", .optimise = optimise});
    EXPECT_TRUE(model.ok()) << model.error().to_string();
    return model.ok() ? sram_bytes(*model) : 0;
  };
  // Both matrices, and one with its scales and two vectors; what is encoded is a quarter larger at most.
  const int64_t both = kUnits * (kUnits + kInputs);
  const int64_t one = kUnits * kUnits * 5 / 4 + kUnits * 10 + 2 * kUnits * bits(GetParam()) / 8;
  EXPECT_GT(bytes_for(LoweringOptions::Optimise::Speed), both);
  EXPECT_LE(bytes_for(LoweringOptions::Optimise::Balanced), one);
}

// Maps make room for them where there is slower memory: with more memory the network is not slower.
TEST_P(RepeatedWeights, MoreMemoryIsNotSlower) {
  const graph::Module module = recurrent(GetParam(), 24, 192, 64, true);
  const std::string text = graph::print(module);
  constexpr double kChance = 1.15;  // plans are made from estimates
  double least = 0;
  for (const int64_t limit : {16000, 12000, 9000, 6000, 4500, 3000}) {
    SCOPED_TRACE(limit);
    const CompileRequest request = {
        .target = "ethos-u65-256", .memory_mode = "dedicated-sram", .sram_limit = limit};
    const Result<CompiledModel> model = compile_for({text.begin(), text.end()}, request);
    ASSERT_TRUE(model.ok()) << model.error().to_string();
    EXPECT_LE(sram_bytes(*model), limit);
    const TimedRun run =
        run_timed(*model, model->program().emitted.streams.at(0), request.memory_mode);
    EXPECT_EQ(run.problem, "");
    EXPECT_GE(run.totals.cycles * kChance, least) << "less memory is faster";
    least = std::max(least, run.totals.cycles);
  }
}

// Lines about the functions of a recurrent network.
std::vector<std::string> notes_with(LoweringOptions::Optimise optimise) {
  const TargetRegistry registry = make_registry();
  const auto target = parse_target(registry.catalogue(), "ethos-u55-128");
  const std::string text = graph::print(recurrent(DataType::Int8, 24, 32, 96));
  CompileOptions options;
  options.lowering.optimise = optimise;
  const std::vector<uint8_t> bytes(text.begin(), text.end());
  const Result<CompiledModel> model = compile(bytes, "model", registry, *target, options);
  EXPECT_TRUE(model.ok());
  std::vector<std::string> lines;
  for (const graph::Function& function : model->partitioned.module.functions)
    if (const Target* device = target->device(function.target))
      for (std::string& line :
           registry.kind_of(*device).notes(*device, model->partitioned.module, function))
        lines.push_back(std::move(line));
  return lines;
}

// The default spares memory; what time alone would bring is told, with both figures.
TEST(RepeatedWeightsNote, TellsWhatSpeedWouldTake) {
  const std::vector<std::string> balanced = notes_with(LoweringOptions::Optimise::Balanced);
  ASSERT_EQ(balanced.size(), 1u);
  EXPECT_NE(balanced[0].find("--optimise speed would take about"), std::string::npos);
  EXPECT_TRUE(notes_with(LoweringOptions::Optimise::Speed).empty());
}

INSTANTIATE_TEST_SUITE_P(Types, RepeatedWeights, ::testing::ValuesIn(kTypes), [](const auto& info) {
  return std::string(info.param == DataType::Int8 ? "i8" : "i16");
});

}  // namespace
}  // namespace intarsia::test::ethos_u
