#include "npu_kind.h"

#include "commands.h"
#include "intarsia/builtin_targets.h"
#include "intarsia/npu/timeline.h"

namespace intarsia::targets::example_npu {
namespace {

KindSpec make_spec() {
  KindSpec spec;
  spec.name = "example-npu";
  spec.summary = "a small accelerator to copy: int8 add, mul and max-pool on vectors of 16";
  spec.role = Role::Accelerator;
  spec.attributes = {AttributeSpec::integer("clock-mhz", 200, 1, 2000, "for the cost policy")};
  spec.tags = {{"example-npu-16", "the example NPU beside plain C", "example-npu", "c"}};
  return spec;
}

// As long as the simulator takes: decoding, then one vector of each operand a cycle, and one command after the other.
CostEstimate cost(const Target& target, const graph::Module&, const graph::Function& function,
                  const LoweringOptions&) {
  npu::Timeline timeline({.operations = 1});
  for (const graph::Node& node : function.nodes) {
    const int64_t vectors = element_count(function.tensor(node.outputs.at(0)).shape) / kLanes;
    int64_t cycles_per_vector = 2;
    if (const auto* pool = std::get_if<graph::Pool2dAttrs>(&node.attributes))
      cycles_per_vector = pool->filter_h * pool->filter_w;
    npu::OperationCost command;
    command.first_fetch = 8;
    command.pipeline = static_cast<double>(vectors * cycles_per_vector);
    timeline.operation(command, true);
  }
  return {timeline.finish(), static_cast<double>(target.get_int("clock-mhz"))};
}

DeviceDriver driver(const Target&) {
  return {.folder = INTARSIA_TARGET_FOLDER,
          .header = "intarsia/targets/example_npu/driver.h",
          .driver_type = "struct intarsia_example_npu",
          .open_function = "intarsia_example_npu_open"};
}

DeviceSimulator simulator(const Target&) {
  return {.header = "intarsia/targets/example_npu/simulator.h",
          .attach_expression = "intarsia_example_npu_simulator()",
          .open_bus_function = "intarsia_example_npu_open_bus"};
}

}  // namespace

void add_kinds(TargetRegistry& registry) {
  TargetKind kind;
  kind.spec = make_spec();
  kind.patterns = [](const Target&) { return patterns(); };
  kind.graph_to_tir = [](const Target&, const graph::Module& module,
                         const graph::Function& function,
                         const LoweringOptions&) { return lower(module, function); };
  kind.tir_to_runtime = make_streams;
  kind.cost = cost;
  kind.driver = driver;
  kind.simulator = simulator;
  kind.disassemble = disassemble;
  registry.add(std::move(kind));
}

}  // namespace intarsia::targets::example_npu
