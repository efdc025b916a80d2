#include "intarsia/partition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include <fmt/format.h>

#include "fake_kinds.h"
#include "passes/passes.h"

namespace intarsia {
namespace {

using testing::HasSubstr;

graph::Module parsed(const std::string& text) {
  Result<graph::Module> module = graph::parse(text);
  EXPECT_TRUE(module.ok()) << module.error().to_string();
  const Result<void> verified = graph::verify(*module);
  EXPECT_TRUE(verified.ok()) << verified.error().to_string();
  return *module;
}

// relu a -> mul b -> add c(a, b) -> softmax d
constexpr const char* kDiamond = R"(intarsia.graph m
func @main(%0) -> (%4) {
  %0 in: i8[1,4] q(0.5)
  %1 a: i8[1,4] q(0.5)
  %2 b: i8[1,4] q(0.5)
  %3 c: i8[1,4] q(0.5)
  %4 d: i8[1,4] q(0.00390625:-128)
  relu a(%0) -> (%1)
  mul b(%1, %0) -> (%2)
  add c(%1, %2) -> (%3)
  softmax d(%3) -> (%4)
}
entry @main
)";

std::map<std::string, std::string> devices_of(const Partitioned& result) {
  std::map<std::string, std::string> devices;
  for (const auto& row : result.explanation.operators) devices[row.name] = row.device;
  return devices;
}

Partitioned partitioned(const graph::Module& module, const std::string& target,
                        const PartitionOptions& options = {}) {
  const TargetRegistry registry = testing_kinds::make_registry();
  const Result<TargetSpec> spec = parse_target(registry.catalogue(), target);
  EXPECT_TRUE(spec.ok()) << spec.error().to_string();
  Result<Partitioned> result = partition(module, registry, *spec, options);
  EXPECT_TRUE(result.ok()) << result.error().to_string();
  return *result;
}

std::string failure(const graph::Module& module, const std::string& target,
                    const PartitionOptions& options = {}) {
  const TargetRegistry registry = testing_kinds::make_registry();
  const Result<TargetSpec> spec = parse_target(registry.catalogue(), target);
  EXPECT_TRUE(spec.ok()) << spec.error().to_string();
  const Result<Partitioned> result = partition(module, registry, *spec, options);
  return result.ok() ? "" : result.error().to_string();
}

TEST(Partition, OneDeviceIsOneRegion) {
  const Partitioned result = partitioned(parsed(kDiamond), "cpu");
  ASSERT_EQ(result.module.functions.size(), 2u);
  EXPECT_EQ(result.module.functions[1].name, "main_cpu_0");
  EXPECT_EQ(result.module.functions[1].nodes.size(), 4u);
  EXPECT_EQ(result.module.functions[1].outputs.size(), 1u);  // what it reads twice itself is none
  EXPECT_EQ(result.explanation.transfers, 0);
}

TEST(Partition, PriorityFollowsTheOrderOfDevices) {
  const auto first = devices_of(partitioned(parsed(kDiamond), "cpu + npu + gpu"));
  EXPECT_EQ(first, (std::map<std::string, std::string>{
                       {"a", "npu"}, {"b", "gpu"}, {"c", "npu"}, {"d", "cpu"}}));
  const auto second = devices_of(partitioned(parsed(kDiamond), "cpu + gpu + npu"));
  EXPECT_EQ(second, (std::map<std::string, std::string>{
                        {"a", "gpu"}, {"b", "gpu"}, {"c", "gpu"}, {"d", "cpu"}}));
}

TEST(Partition, RegionsDoNotWaitForEachOther) {
  // a and c are the NPU's, b between them is not: one NPU region with both would wait for itself.
  const Partitioned result = partitioned(parsed(kDiamond), "cpu + npu");
  std::vector<std::string> calls;
  for (const graph::Node& node : result.module.entry_function().nodes) calls.push_back(node.name);
  EXPECT_EQ(calls,
            (std::vector<std::string>{"main_npu_0", "main_cpu_0", "main_npu_1", "main_cpu_1"}));
  EXPECT_EQ(result.explanation.regions, 4);
  // The caller to npu_0, npu_0 to cpu_0, cpu_0 to npu_1, npu_1 to cpu_1; npu_0 to npu_1 is none.
  EXPECT_EQ(result.explanation.boundaries, 4);
  EXPECT_EQ(result.explanation.transfers, 4);
}

// The whole is what its functions cost as the devices get them, and the transfers.
TEST(Partition, EstimatesAreOfFunctions) {
  for (const PartitionPolicy policy : {PartitionPolicy::Priority, PartitionPolicy::Cost}) {
    PartitionOptions options;
    options.policy = policy;
    const Explanation said = partitioned(parsed(kDiamond), "cpu + npu", options).explanation;
    ASSERT_EQ(said.functions.size(), static_cast<size_t>(said.regions));
    int64_t operators = 0;
    double functions = 0;
    for (const Explanation::Function& function : said.functions) {
      EXPECT_TRUE(function.name.starts_with("main_" + function.device)) << function.name;
      operators += function.operators, functions += function.microseconds;
    }
    EXPECT_EQ(operators, 4);
    EXPECT_GT(functions, 0);
    if (policy == PartitionPolicy::Priority) {
      EXPECT_GT(said.microseconds, functions);  // four transfers
    } else {
      EXPECT_GE(said.microseconds, functions);
    }
  }
}

// Where nobody wants to know, no kind is asked.
TEST(Partition, EstimatesMayBeLeftOut) {
  TargetKind kind = testing_kinds::fake_kind("cpu", Role::Cpu, {{OpKind::Relu, 50}}, 0);
  int questions = 0;
  kind.cost = [&questions](const Target&, const graph::Module&, const graph::Function&,
                           const LoweringOptions& options) {
    EXPECT_EQ(options.optimise, LoweringOptions::Optimise::Size);
    return ++questions, CostEstimate{5, 1};
  };
  TargetRegistry registry;
  registry.add(std::move(kind));
  const graph::Module module = parsed(R"(intarsia.graph m
func @main(%0) -> (%1) {
  %0 in: i8[1,4] q(0.5)
  %1 out: i8[1,4] q(0.5)
  relu a(%0) -> (%1) {}
}
entry @main
)");
  const Result<TargetSpec> target = parse_target(registry.catalogue(), "cpu");
  PartitionOptions options;
  options.lowering.optimise = LoweringOptions::Optimise::Size;
  options.estimates = false;
  const Result<Partitioned> without = partition(module, registry, *target, options);
  ASSERT_TRUE(without.ok());
  EXPECT_EQ(questions, 0);
  EXPECT_EQ(without->explanation.microseconds, 0);
  EXPECT_TRUE(without->explanation.functions.empty());
  options.estimates = true;
  const Result<Partitioned> with = partition(module, registry, *target, options);
  ASSERT_TRUE(with.ok());
  EXPECT_EQ(questions, 2);  // alone, and as the function that it becomes
  EXPECT_EQ(with->explanation.microseconds, 5);
}

// A row for each operator of a CPU; of another device for each function, whose operators save each other work.
TEST(Partition, CyclesWhereAskedFor) {
  TargetKind cpu =
      testing_kinds::fake_kind("cpu", Role::Cpu, {{OpKind::Relu, 50}, {OpKind::Exp, 50}}, 0);
  TargetKind npu = testing_kinds::fake_kind("npu", Role::Accelerator, {{OpKind::Relu, 50}}, 0);
  cpu.cost = sum_of_operators(
      [](const Target&, const graph::Module&, const graph::Function&, const graph::Node& node) {
        return CostEstimate{node.name == "c" ? 7.0 : 9.0, 10};
      });
  npu.cost = [](const Target&, const graph::Module&, const graph::Function& function,
                const LoweringOptions& options) {
    EXPECT_EQ(options.optimise, LoweringOptions::Optimise::Size);
    return CostEstimate{1.0 + static_cast<double>(function.nodes.size()), 200};
  };
  TargetRegistry registry;
  registry.add(std::move(cpu));
  registry.add(std::move(npu));
  const graph::Module module = parsed(R"(intarsia.graph m
func @main(%0) -> (%4) {
  %0 in: f32[1,4]
  %1 a: f32[1,4]
  %2 b: f32[1,4]
  %3 c: f32[1,4]
  %4 d: f32[1,4]
  relu a(%0) -> (%1) {}
  relu b(%1) -> (%2) {}
  exp c(%2) -> (%3)
  exp d(%3) -> (%4)
}
entry @main
)");
  const Result<TargetSpec> target = parse_target(registry.catalogue(), "cpu + npu");
  ASSERT_TRUE(target.ok()) << target.error().to_string();
  PartitionOptions options;
  options.lowering.optimise = LoweringOptions::Optimise::Size;
  options.estimates = false;
  const Result<Partitioned> without = partition(module, registry, *target, options);
  ASSERT_TRUE(without.ok()) << without.error().to_string();
  EXPECT_TRUE(without->explanation.cycles.empty());
  options.cycles = true;
  const Result<Partitioned> with = partition(module, registry, *target, options);
  ASSERT_TRUE(with.ok());
  const std::vector<Explanation::Cycles>& rows = with->explanation.cycles;
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].name, "main_npu_0");
  EXPECT_EQ(rows[0].device, "npu");
  EXPECT_EQ(rows[0].operators, 2);
  EXPECT_EQ(rows[0].cycles, 3);
  EXPECT_EQ(rows[0].clock_mhz, 200);
  EXPECT_EQ(rows[1].name, "c");
  EXPECT_EQ(rows[1].cycles, 7);
  EXPECT_EQ(rows[2].name, "d");
  EXPECT_EQ(rows[2].cycles, 9);
}

TEST(Partition, SaysWhyNot) {
  graph::Module wide = parsed(kDiamond);
  for (graph::Tensor& tensor : wide.functions[0].tensors) tensor.shape = {1, 32};
  const Partitioned result = partitioned(wide, "cpu + npu + gpu");
  const auto& offers = result.explanation.operators[0].offers;
  EXPECT_EQ(offers[1].reason, "more than 16 channels");
  EXPECT_EQ(offers[0].reason, "gpu comes first in the target");
  EXPECT_EQ(result.explanation.operators[3].offers[2].reason, "gpu does not run softmax");
}

TEST(Partition, PinsBind) {
  PartitionOptions options;
  options.pins = {{"c", "cpu"}};
  EXPECT_EQ(devices_of(partitioned(parsed(kDiamond), "cpu + npu", options))["c"], "cpu");
  options.pins = {{"d", "npu"}};
  EXPECT_THAT(failure(parsed(kDiamond), "cpu + npu", options),
              HasSubstr("operator 'd' (softmax): is pinned to 'npu', which cannot take it: npu "
                        "does not run softmax"));
  options.pins = {{"e", "npu"}};
  EXPECT_THAT(failure(parsed(kDiamond), "cpu + npu", options),
              HasSubstr("m has no operator or function 'e'"));
  options.pins = {{"c", "nqu"}};
  EXPECT_THAT(failure(parsed(kDiamond), "cpu + npu", options), HasSubstr("did you mean 'npu'?"));
}

// An output that is an input is copied by an operator that `explain` lists, so that pins may name it.
TEST(Partition, PinsNameCopiesForOutputs) {
  const graph::Module module = parsed(R"(intarsia.graph m
func @main(%0) -> (%1, %0) {
  %0 in: i8[1,4] q(0.5)
  %1 out: i8[1,4] q(0.5)
  relu a(%0) -> (%1)
}
entry @main
)");
  PartitionOptions options;
  options.pins = {{"copy_in", "npu"}};
  EXPECT_THAT(failure(module, "cpu + npu", options),
              HasSubstr("operator 'copy_in' (reshape): is pinned to 'npu'"));
}

TEST(Partition, SeveralDevicesOfOneKind) {
  PartitionOptions options;
  options.pins = {{"b", "slow"}, {"d", "slow"}};
  const auto devices =
      devices_of(partitioned(parsed(kDiamond), "slow: cpu -id=1; fast: cpu -id=2", options));
  EXPECT_EQ(devices, (std::map<std::string, std::string>{
                         {"a", "fast"}, {"b", "slow"}, {"c", "fast"}, {"d", "slow"}}));
}

TEST(Partition, FunctionAndCallPinsReachTheNodes) {
  const graph::Module module = parsed(R"(intarsia.graph m
func @main(%0) -> (%2) {
  %0 in: i8[1,4] q(0.5)
  %1 x: i8[1,4] q(0.5)
  %2 y: i8[1,4] q(0.5)
  call first(%0) -> (%1) {callee=f}
  call second(%1) -> (%2) {callee=f} [pin=gpu]
}
func @f(%0) -> (%1) [pin=npu] {
  %0 in: i8[1,4] q(0.5)
  %1 out: i8[1,4] q(0.5)
  relu r(%0) -> (%1)
}
entry @main
)");
  const auto devices = devices_of(partitioned(module, "cpu + npu + gpu"));
  EXPECT_EQ(devices, (std::map<std::string, std::string>{{"first_r", "npu"}, {"second_r", "gpu"}}));
}

TEST(Partition, ReportsEveryOperatorNobodyTakes) {
  const graph::Module module = parsed(R"(intarsia.graph m
func @main(%0) -> (%2) {
  %0 in: f32[1,4]
  %1 x: i8[1,4] q(0.5)
  %2 y: f32[1,4]
  quantize q(%0) -> (%1)
  dequantize dq(%1) -> (%2)
}
entry @main
)");
  const std::string text = failure(module, "cpu + npu");
  EXPECT_THAT(text, HasSubstr("operator 'q' (quantize): no device of the target can take it (cpu: "
                              "cpu does not run quantize; npu:"));
  EXPECT_THAT(text, HasSubstr("operator 'dq'"));
}

// ---- random graphs ----

graph::Module random_graph(uint32_t seed, int nodes) {
  std::mt19937 random(seed);
  graph::Module module;
  module.name = "m";
  module.entry = "main";
  graph::Function function;
  function.name = "main";
  const auto tensor = [&] {
    graph::Tensor t;
    t.shape = {1, static_cast<int64_t>(4)};
    t.quantization = {{0.5f}, {0}, 0};
    function.tensors.push_back(t);
    return graph::TensorId{static_cast<int32_t>(function.tensors.size() - 1)};
  };
  function.inputs = {tensor()};
  for (int n = 0; n < nodes; ++n) {
    const auto any = [&] {
      // Mostly the newest, so that graphs are long rather than flat.
      const int32_t last = static_cast<int32_t>(function.tensors.size()) - 1;
      return graph::TensorId{std::max<int32_t>(0, last - static_cast<int32_t>(random() % 4))};
    };
    graph::Node node;
    node.name = "n" + std::to_string(n);
    switch (random() % 3) {
      case 0:
        node.kind = graph::OpKind::Relu, node.attributes = graph::ReluAttrs{},
        node.inputs = {any()};
        break;
      case 1:
        node.kind = graph::OpKind::Add, node.attributes = graph::BinaryAttrs{},
        node.inputs = {any(), any()};
        break;
      default:
        node.kind = graph::OpKind::Mul, node.attributes = graph::BinaryAttrs{},
        node.inputs = {any(), any()};
    }
    node.outputs = {tensor()};
    function.nodes.push_back(std::move(node));
  }
  function.outputs = {function.nodes.back().outputs[0]};
  module.functions = {function};
  return module;
}

TEST(Partition, RandomGraphsStayExecutableUnderBothPolicies) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const graph::Module module = random_graph(seed, 12);
    for (const PartitionPolicy policy : {PartitionPolicy::Priority, PartitionPolicy::Cost}) {
      PartitionOptions options;
      options.policy = policy;
      const Partitioned result = partitioned(module, "cpu + npu + gpu", options);  // verifies
      size_t nodes = 0;
      for (const graph::Function& function : result.module.functions)
        if (function.name != result.module.entry) nodes += function.nodes.size();
      EXPECT_EQ(nodes, 12u);
    }
  }
}

}  // namespace
}  // namespace intarsia
