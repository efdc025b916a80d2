// This target and a copy of its folder under another name, in one model and one program.
#include <random>

#include <gtest/gtest.h>

#include "end_to_end.h"
#include "intarsia/targets/example_npu/driver.h"
#include "intarsia/targets/example_npu/simulator.h"
#include "intarsia/targets/my_npu/driver.h"
#include "intarsia/targets/my_npu/simulator.h"

namespace intarsia::targets::my_npu {
void add_kinds(TargetRegistry& registry);
}

namespace intarsia::test::example_npu {
namespace {

constexpr const char* kNetwork = R"(intarsia.graph m
func @main(%0, %1) -> (%3) {
  %0 a: i8[2,16] q(0.1:5)
  %1 b: i8[2,16] q(0.2:-7)
  %2 c: i8[2,16] q(0.3:4)
  %3 d: i8[2,16] q(0.5:-3)
  add here(%0, %1) -> (%2)
  mul there(%2, %1) -> (%3)
}
entry @main
)";

TEST(CopiedTarget, IsAKindOfItsOwnBesideTheOriginal) {
  TargetRegistry registry = make_registry();
  targets::my_npu::add_kinds(registry);
  ASSERT_NE(registry.catalogue().kind("my-npu"), nullptr);
  ASSERT_NE(registry.catalogue().kind("example-npu"), nullptr);
  EXPECT_NE(registry.catalogue().tag("my-npu-16"), nullptr);
}

TEST(CopiedTarget, BothRunTheirPartsOfOneModel) {
  TargetRegistry registry = make_registry();
  targets::my_npu::add_kinds(registry);
  const graph::Module module = parsed_graph(kNetwork);
  CompileOptions options;
  options.memory.pools = {{"ram"}};
  options.partition.pins = {{"here", "example-npu"}, {"there", "my-npu"}};
  const Result<CompiledModel> model = compile_module(
      module, registry, parsed_target(registry, "c + example-npu + my-npu"), options);
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  ASSERT_EQ(model->program().emitted.devices, (std::vector<std::string>{"example-npu", "my-npu"}));

  intarsia_example_npu original;
  intarsia_my_npu copy;
  const intarsia_register_bus bus = intarsia_example_npu_simulator();
  const intarsia_register_bus other_bus = intarsia_my_npu_simulator();
  ASSERT_EQ(intarsia_example_npu_open_bus(&original, &bus), INTARSIA_OK);
  ASSERT_EQ(intarsia_my_npu_open_bus(&copy, &other_bus), INTARSIA_OK);

  std::mt19937 random(11);
  std::vector<graph::TensorValue> inputs(2, graph::TensorValue(32));
  for (graph::TensorValue& input : inputs)
    for (uint8_t& byte : input) byte = static_cast<uint8_t>(random());
  const auto expected = graph::Evaluator(module).run(inputs);
  ASSERT_TRUE(expected.ok());
  EXPECT_EQ(
      run_compiled(*model, {{"example-npu", &original.device}, {"my-npu", &copy.device}}, inputs),
      *expected);
}

}  // namespace
}  // namespace intarsia::test::example_npu
