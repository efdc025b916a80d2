// Random operators and networks through lowering, plan, package and driver give what the reference evaluator gives, bit
// for bit: on the stand-in, which runs the same CUDA C on this machine, and on a GPU where there is one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "float_values.h"
#include "kinds.h"
#include "needs.h"
#include "support/device_end_to_end.h"
#include "support/operators_on_devices.h"

namespace intarsia::test::cuda {
namespace {

using EndToEnd = StandIn;

std::map<graph::OpKind, int> random_operators_run() {
  const TargetRegistry registry = make_registry();
  const TargetSpec target = parsed_target(registry, "c + cuda");
  return random_operators_match(
      registry, target, "cuda", [](const auto& model, const auto& inputs) {
        OpenDevice fresh;
        return run_compiled(model, {{"cuda", &fresh.cuda.device}}, inputs);
      });
}

TEST_F(EndToEnd, RandomOperators) {
  expect_most_ran(random_operators_run());
  EXPECT_GT(seen().launches, 30);
  expect_nothing_left();
}

// The reference evaluator adds in another order than loops do.
void run_operators_on_floats() {
  const TargetRegistry registry = make_registry();
  const TargetSpec target = parsed_target(registry, "c + cuda");
  intarsia::testing::Random random(7);
  int ran = 0;
  for (const graph::OpKind kind :
       {graph::OpKind::Conv2d, graph::OpKind::DepthwiseConv2d, graph::OpKind::FullyConnected,
        graph::OpKind::AveragePool2d, graph::OpKind::MaxPool2d, graph::OpKind::Add,
        graph::OpKind::Mul, graph::OpKind::Relu, graph::OpKind::Concat, graph::OpKind::Mean}) {
    const graph::Module module =
        intarsia::testing::random_operator(random, kind, DataType::Float32);
    const Result<CompiledModel> model =
        compile_module(module, registry, target, options_with_ram());
    if (!model.ok() || !all_on(*model, "cuda")) continue;
    const std::vector<graph::TensorValue> inputs = intarsia::testing::random_inputs(random, module);
    graph::Evaluator evaluator(module);
    const auto expected = evaluator.run(inputs);
    ASSERT_TRUE(expected.ok()) << expected.error().to_string();
    OpenDevice fresh;
    const auto outputs = run_compiled(*model, {{"cuda", &fresh.cuda.device}}, inputs);
    for (size_t i = 0; i < outputs.size(); ++i)
      EXPECT_EQ(float_difference(outputs[i], expected->at(i), kOtherOrder), "")
          << graph::print(module);
    ++ran;
  }
  EXPECT_GT(ran, 7);
}

TEST_F(EndToEnd, OperatorsOnFloats) {
  run_operators_on_floats();
  expect_nothing_left();
}

TEST(OnAGpu, OperatorsOnFloats) {
  OpenDevice device;
  if (!device.answers) GTEST_SKIP() << needs("nvidia-gpu") << "the CUDA driver finds none";
  run_operators_on_floats();
}

TEST(OnAGpu, RandomOperators) {
  OpenDevice device;
  if (!device.answers) GTEST_SKIP() << needs("nvidia-gpu") << "the CUDA driver finds none";
  expect_most_ran(random_operators_run());
}

TEST_F(EndToEnd, ANetworkIsOneStreamThatRunsAgainAndAgain) {
  const TargetRegistry registry = make_registry();
  const graph::Module module = parsed_graph(kTwoKernelsAndABranch);
  for (const char* target : {"c + cuda", "c + cuda -threads-per-block=32"}) {
    const Result<CompiledModel> model =
        compile_module(module, registry, parsed_target(registry, target), options_with_ram());
    ASSERT_TRUE(model.ok()) << model.error().to_string();
    ASSERT_TRUE(all_on(*model, "cuda"));
    ASSERT_EQ(model->program().emitted.streams.size(), 1u);
    intarsia::testing::Random random(5);
    graph::Evaluator evaluator(module);
    for (int i = 0; i < 3; ++i) {
      const std::vector<graph::TensorValue> inputs =
          intarsia::testing::random_inputs(random, module);
      const intarsia_stand_in_counts before = seen();
      OpenDevice fresh;
      EXPECT_EQ(run_compiled(*model, {{"cuda", &fresh.cuda.device}}, inputs),
                *evaluator.run(inputs));
      // Both inputs, weights and biases go in; scores and sums come back, and not what lies between.
      EXPECT_EQ(seen().bytes_in - before.bytes_in, 2 * 32 + 32 + 2 * 4);
      EXPECT_EQ(seen().bytes_out - before.bytes_out, 4 + 32);
    }
  }
  expect_nothing_left();
}

}  // namespace
}  // namespace intarsia::test::cuda
