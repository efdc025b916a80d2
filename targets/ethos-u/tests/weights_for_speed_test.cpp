// Large kernels, whose blocks read all weights of an operation again: fast memory for them where time counts.
#include <gtest/gtest.h>

#include "compiled.h"
#include "graph_maker.h"
#include "timed_compiled.h"

namespace intarsia::test::ethos_u {
namespace {

using graph::OpKind;
using graph::TensorId;

constexpr int64_t kSize = 16, kChannels = 16, kKernel = 9;
constexpr int64_t kMap = kSize * kSize * kChannels,
                  kWeights = kKernel * kKernel * kChannels * kChannels;

struct Taken {
  double cycles = 0;
  int64_t sram = 0;
};

Taken taken(const std::string& target, LoweringOptions::Optimise optimise) {
  const std::string mode = "shared-sram";
  testing::Random random(85);
  Graph g;
  TensorId y = g.input(DataType::Int8, {1, kSize, kSize, kChannels}, 0.05f, 3);
  graph::Conv2dAttrs window;
  const int64_t around = kKernel / 2;
  window.padding = {around, around, around, around};
  for (int i = 0; i < 2; ++i) {
    const TensorId w = g.constant(random, DataType::Int8, {kChannels, kKernel, kKernel, kChannels},
                                  {{0.01f}, {0}, 0});
    const TensorId b = g.constant(random, DataType::Int32, {kChannels}, {{0.0005f}, {0}, 0});
    y = g.node(OpKind::Conv2d, window, {y, w, b}, 1, DataType::Int8, 0.05f, 3)[0];
  }
  const graph::Module module = g.finish({y});
  const std::string text = graph::print(module);
  const Result<CompiledModel> model = compile_for(
      {text.begin(), text.end()}, {.target = target, .memory_mode = mode, .optimise = optimise});
  EXPECT_TRUE(model.ok()) << model.error().to_string();
  if (!model.ok()) return {};
  const auto inputs = testing::random_inputs(random, module);
  const SimulatedRun run = simulate(*model, inputs);
  EXPECT_EQ(run.problem, "") << target;
  EXPECT_EQ(run.outputs, *graph::Evaluator(module).run(inputs)) << target;
  const TimedRun timed = run_timed(*model, model->program().emitted.streams.at(0), mode);
  EXPECT_EQ(timed.problem, "");
  return {timed.totals.cycles, sram_bytes(*model)};
}

// A kernel takes more than the maps, and blocks of them read it four times from flash otherwise.
TEST(WeightsForSpeed, AreFetchedOnce) {
  const char* target = "ethos-u55-128";
  const Taken balanced = taken(target, LoweringOptions::Optimise::Balanced),
              speed = taken(target, LoweringOptions::Optimise::Speed);
  EXPECT_LT(speed.cycles, 0.9 * balanced.cycles);
  EXPECT_LE(balanced.sram, 2 * kMap + kWeights / 2);
  // What one convolution needs that has its maps and its weights there.
  EXPECT_GT(speed.sram, 2 * kMap + kWeights / 2);
  EXPECT_LE(speed.sram, 2 * kMap + kWeights * 11 / 10);
}

// Half of the units take as long to multiply as the flash to bring the weights so often.
TEST(WeightsForSpeed, TakeNoMemoryWhereThatSavesNoTime) {
  const char* target = "ethos-u55-64";
  EXPECT_EQ(taken(target, LoweringOptions::Optimise::Speed).sram,
            taken(target, LoweringOptions::Optimise::Balanced).sram);
}

}  // namespace
}  // namespace intarsia::test::ethos_u
