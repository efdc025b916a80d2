// Kernels for some targets of a kind: what the kind leaves to its defaults uses them, for these targets only.
#include <gtest/gtest.h>

#include "graph/cut_out.h"
#include "intarsia/plugin/op_lowering.h"
#include "intarsia/plugin/target_kind.h"

namespace intarsia {
namespace {

TargetKind base_kind() {
  TargetKind kind;
  kind.spec.name = "base", kind.spec.role = Role::Cpu;
  kind.spec.attributes = {AttributeSpec::boolean("better", false, "has kernels")};
  kind.cost = sum_of_operators(
      [](const Target&, const graph::Module&, const graph::Function&, const graph::Node&) {
        return CostEstimate{7, 3};
      });
  return kind;
}

// A kernel for `neg`, called with the number 5.
KernelLibrary library() {
  KernelLibrary library;
  library.serves = [](const Target& target) {
    return *target.attributes.find("better") == AttributeValue(true);
  };
  library.kernels = [](const Target&, const LoweringOptions&) -> standard_lowering::ChooseKernel {
    return [](const operators::OpView& view) -> standard_lowering::LowerKernel {
      if (view.node.kind != graph::OpKind::Neg) return nullptr;
      return [](operators::OpLowering& op) {
        op.declare({Shape{4}}, Shape{4});
        const tir::BufferRun in{op.in(0), {tir::int_imm(0)}, 4, tir::Access::Read};
        const tir::BufferRun out{op.out(), {tir::int_imm(0)}, 4, tir::Access::Write};
        return tir::intrinsic("my_neg", {in, out, tir::int_imm(5)});
      };
    };
  };
  library.structs["my_neg"] = {"struct my_numbers", "numbers", {"five"}};
  library.includes = [](const Target&) { return std::vector<std::string>{"my/kernels.h"}; };
  library.cycles = [](const Target&, const graph::Module&, const graph::Function&,
                      const graph::Node& node, const LoweringOptions&) -> std::optional<double> {
    if (node.kind == graph::OpKind::Neg) return 2;
    return std::nullopt;
  };
  library.folder = "my-kernels";
  return library;
}

constexpr const char* kTwoOperators = R"(intarsia.graph m
func @main(%0) -> (%2) {
  %0 in: f32[4]
  %1 between: f32[4]
  %2 out: f32[4]
  neg first(%0) -> (%1)
  relu second(%1) -> (%2)
}
entry @main
)";

class Libraries : public testing::Test {
 protected:
  Libraries() { registry_.add(base_kind()); }

  Target target(const std::string& text) const {
    const Result<TargetSpec> spec = parse_target(registry_.catalogue(), text);
    INTARSIA_CHECK(spec.ok(), text);
    return spec->host();
  }
  // The C of both operators.
  Artifacts artifacts(const Target& target) const {
    const TargetKind& kind = registry_.kind_of(target);
    Result<tir::LoweredFunction> result =
        kind.graph_to_tir(target, module_, module_.functions[0], {});
    INTARSIA_CHECK(result.ok(), result.error().to_string());
    tir::LoweredFunction lowered = std::move(result).value();
    lowered.module.entry = lowered.entry;
    for (tir::Func& func : lowered.module.funcs)
      if (func.name != lowered.module.entry) func.target = target.name;
    Result<Artifacts> artifacts = kind.tir_to_runtime(target, lowered.module, {});
    INTARSIA_CHECK(artifacts.ok(), artifacts.error().to_string());
    return std::move(artifacts).value();
  }
  double cycles(const Target& target, size_t node) const {
    const graph::NodeId id{static_cast<int32_t>(node)};
    return cost(target, {&id, 1}).cycles;
  }
  CostEstimate cost(const Target& target, std::span<const graph::NodeId> nodes,
                    const MemoryMap* memory = nullptr) const {
    const graph::Function function =
        graph::FunctionCutter(module_.functions[0]).cut(nodes).function;
    LoweringOptions options;
    options.memory = memory;
    return registry_.kind_of(target).cost(target, module_, function, options);
  }

  graph::Module module_ = *graph::parse(kTwoOperators);
  TargetRegistry registry_;
};

TEST_F(Libraries, ServeTheTargetsTheyAreFor) {
  registry_.add_kernels("base", library());
  const Target plain = target("base"), better = target("base -better=true");
  EXPECT_EQ(registry_.kind_of(plain).kernels_for(plain), nullptr);
  ASSERT_NE(registry_.kind_of(better).kernels_for(better), nullptr);
  EXPECT_EQ(registry_.kind_of(better).kernels_for(better)->folder, "my-kernels");
}

TEST_F(Libraries, HaveTheOperatorsTheyTakeAndLeaveTheOthersToLoops) {
  registry_.add_kernels("base", library());
  const Artifacts with = artifacts(target("base -better=true")),
                  without = artifacts(target("base"));
  ASSERT_EQ(with.functions.size(), 2u);
  ASSERT_EQ(without.functions.size(), 2u);
  EXPECT_NE(with.functions[0].find("my_neg(&numbers, "), std::string::npos) << with.functions[0];
  EXPECT_EQ(without.functions[0].find("my_neg"), std::string::npos);
  EXPECT_EQ(with.functions[1], without.functions[1]);
  EXPECT_EQ(with.includes,
            (std::vector<std::string>{"intarsia/kernels/kernels.h", "my/kernels.h"}));
  EXPECT_EQ(without.includes, (std::vector<std::string>{"intarsia/kernels/kernels.h"}));
}

TEST_F(Libraries, KnowTheCyclesOfTheirKernels) {
  registry_.add_kernels("base", library());
  const Target better = target("base -better=true");
  EXPECT_EQ(cycles(better, 0), 2);
  EXPECT_EQ(cycles(better, 1), 7);
  EXPECT_EQ(cycles(target("base"), 0), 7);
  const graph::NodeId both[] = {{0}, {1}};
  EXPECT_EQ(cost(better, both).cycles, 9);
  EXPECT_EQ(cost(target("base"), both).cycles, 14);
  EXPECT_EQ(cost(better, both).clock_mhz, 3);
  EXPECT_EQ(cost(better, std::span(both).first(1)).clock_mhz, 3);
}

TEST_F(Libraries, CountCyclesAtTheClockThatTheBoardSays) {
  registry_.add_kernels("base", library());
  TargetKind npu = base_kind();
  npu.spec.name = "npu", npu.spec.role = Role::Accelerator;
  registry_.add(std::move(npu));
  const graph::NodeId both[] = {{0}, {1}};
  MemoryMap board;
  board.clocks_mhz = {{"npu", 11}};
  EXPECT_EQ(cost(target("base"), both, &board).clock_mhz, 3);
  board.clocks_mhz["cpu"] = 32;
  for (const char* core : {"base", "base -better=true"}) {
    const CostEstimate estimate = cost(target(core), both, &board);
    EXPECT_EQ(estimate.clock_mhz, 32) << core;
    EXPECT_EQ(estimate.cycles, cost(target(core), both).cycles) << core;
  }
  // What another device says is its own: it may be told by its target.
  const Result<TargetSpec> beside = parse_target(registry_.catalogue(), "base + npu");
  ASSERT_TRUE(beside.ok());
  EXPECT_EQ(cost(beside->beside_host()[0], both, &board).clock_mhz, 3);
}

TEST(KernelLibraries, MayBeMadeKnownBeforeTheirKind) {
  TargetRegistry registry;
  registry.add_kernels("base", library());
  registry.add_kernels("another", library());
  registry.add(base_kind());
  EXPECT_EQ(registry.kind("base").kernel_libraries.size(), 1u);
}

}  // namespace
}  // namespace intarsia
