// Random operators and networks through lowering, plan, package, driver and an OpenCL device give what the
// reference evaluator gives, bit for bit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kinds.h"
#include "needs.h"
#include "support/device_end_to_end.h"
#include "support/operators_on_devices.h"
#include "support/random_operator.h"

namespace intarsia::test::opencl {
namespace {

TEST(EndToEnd, RandomOperators) {
  OpenDevice device;
  if (!device.answers) GTEST_SKIP() << needs("opencl-device") << "the ICD loader finds none";
  const TargetRegistry registry = make_registry();
  const TargetSpec target = parsed_target(registry, "c + opencl");
  const auto ran =
      random_operators_match(registry, target, "opencl", [](const auto& model, const auto& inputs) {
        OpenDevice
            fresh;  // programs are known by their address, which the next model may have again
        return run_compiled(model, {{"opencl", &fresh.opencl.device}}, inputs);
      });
  expect_most_ran(ran);
}

TEST(EndToEnd, ANetworkIsOneStreamThatRunsAgainAndAgain) {
  OpenDevice device;
  if (!device.answers) GTEST_SKIP() << needs("opencl-device") << "the ICD loader finds none";
  const TargetRegistry registry = make_registry();
  const graph::Module module = parsed_graph(kTwoKernelsAndABranch);
  const Result<CompiledModel> model =
      compile_module(module, registry, parsed_target(registry, "c + opencl"), options_with_ram());
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  ASSERT_TRUE(all_on(*model, "opencl"));
  EXPECT_EQ(model->program().emitted.streams.size(), 1u);
  intarsia::testing::Random random(5);
  graph::Evaluator evaluator(module);
  for (int i = 0; i < 3; ++i) {
    const std::vector<graph::TensorValue> inputs = intarsia::testing::random_inputs(random, module);
    OpenDevice fresh;
    EXPECT_EQ(run_compiled(*model, {{"opencl", &fresh.opencl.device}}, inputs),
              *evaluator.run(inputs));
  }
}

}  // namespace
}  // namespace intarsia::test::opencl
