// This target and a copy of its folder under another name, in one model and one program.
#include <random>

#include <gtest/gtest.h>

#include "copy_of_example_npu/driver.h"
#include "copy_of_example_npu/simulator.h"
#include "example_npu/driver.h"
#include "example_npu/simulator.h"
#include "road.h"

namespace intarsia::targets::copy_of_example_npu {
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
  targets::copy_of_example_npu::add_kinds(registry);
  ASSERT_NE(registry.catalogue().kind("copy-of-example-npu"), nullptr);
  ASSERT_NE(registry.catalogue().kind("example-npu"), nullptr);
  EXPECT_NE(registry.catalogue().tag("copy-of-example-npu-16"), nullptr);
}

TEST(CopiedTarget, BothRunTheirPartsOfOneModel) {
  TargetRegistry registry = make_registry();
  targets::copy_of_example_npu::add_kinds(registry);
  const graph::Module module = parsed_graph(kNetwork);
  CompileOptions options;
  options.memory.pools = {{"ram"}};
  options.partition.pins = {{"here", "example-npu"}, {"there", "copy-of-example-npu"}};
  const Result<CompiledModel> model = compile_module(
      module, registry, parsed_target(registry, "c + example-npu + copy-of-example-npu"), options);
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  ASSERT_EQ(model->emitted.members,
            (std::vector<std::string>{"example-npu", "copy-of-example-npu"}));

  intarsia_example_npu original;
  intarsia_copy_of_example_npu copy;
  const intarsia_register_bus bus = intarsia_example_npu_simulator();
  const intarsia_register_bus other_bus = intarsia_copy_of_example_npu_simulator();
  ASSERT_EQ(intarsia_example_npu_open_bus(&original, &bus), INTARSIA_OK);
  ASSERT_EQ(intarsia_copy_of_example_npu_open_bus(&copy, &other_bus), INTARSIA_OK);

  std::mt19937 random(11);
  std::vector<graph::TensorValue> inputs(2, graph::TensorValue(32));
  for (graph::TensorValue& input : inputs)
    for (uint8_t& byte : input) byte = static_cast<uint8_t>(random());
  const auto expected = graph::Evaluator(module).run(inputs);
  ASSERT_TRUE(expected.ok());
  EXPECT_EQ(run_compiled(*model,
                         {{"example-npu", &original.device}, {"copy-of-example-npu", &copy.device}},
                         inputs),
            *expected);
}

}  // namespace
}  // namespace intarsia::test::example_npu
