// What the user asks for arrives at every target's lowering, with the memories of the plan.
#include <gtest/gtest.h>

#include "intarsia/compile.h"
#include "intarsia/plugin/standard_lowering.h"

namespace intarsia {
namespace {

// A CPU that notes what it is asked for.
TargetKind curious_kind(std::vector<LoweringOptions>& seen) {
  TargetKind kind;
  kind.spec.name = "curious";
  kind.spec.summary = "for tests";
  kind.spec.role = Role::Cpu;
  kind.graph_to_tir = [&seen](const Target&, const graph::Module& module,
                              const graph::Function& function, const LoweringOptions& options) {
    seen.push_back(options);
    EXPECT_NE(options.memory, nullptr);
    if (options.memory != nullptr) {
      EXPECT_EQ(options.memory->pools.at(0).name, "ram");
      EXPECT_EQ(options.memory->masters.at("curious"), "cpu");
    }
    return standard_graph_to_tir(module, function, options);
  };
  return kind;
}

TEST(LoweringOptions, ReachTheHook) {
  std::vector<LoweringOptions> seen;
  TargetRegistry registry;
  registry.add(curious_kind(seen));
  const Result<graph::Module> module = graph::parse(R"(intarsia.graph m
func @main(%0) -> (%1) {
  %0 in: i8[1,4] q(0.5)
  %1 out: i8[1,4] q(0.5)
  relu a(%0) -> (%1)
}
entry @main
)");
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  CompileOptions options;
  options.memory.pools = {{"ram", 64}};
  options.lowering.optimise = LoweringOptions::Optimise::Speed;
  options.lowering.ram_budget = 2000;
  options.lowering.flash_budget = 3000;
  options.lowering.eliminate_dead_channels = false;
  const Result<TargetSpec> target = parse_target(registry.catalogue(), "curious");
  ASSERT_TRUE(target.ok()) << target.error().to_string();
  const Result<CompiledModel> compiled = compile_module(*module, registry, *target, options);
  ASSERT_TRUE(compiled.ok()) << compiled.error().to_string();
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].optimise, LoweringOptions::Optimise::Speed);
  EXPECT_EQ(seen[0].ram_budget, 2000);
  EXPECT_EQ(seen[0].flash_budget, 3000);
  EXPECT_FALSE(seen[0].eliminate_dead_channels);
}

}  // namespace
}  // namespace intarsia
