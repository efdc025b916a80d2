#include "npu_kind.h"

#include "commands.h"
#include "intarsia/builtin_targets.h"

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

class NpuKind final : public TargetKind {
 public:
  const KindSpec& spec() const override { return spec_; }

  std::vector<Pattern> patterns(const Target&) const override { return example_npu::patterns(); }

  Result<tir::LoweredFunction> graph_to_tir(const Target&, const graph::Module& module,
                                            const graph::Function& function,
                                            const LoweringOptions&) const override {
    return lower(module, function);
  }

  Result<Artifacts> tir_to_runtime(const Target& member, const tir::Module& module,
                                   const Plan& plan) const override {
    return make_streams(member, module, plan);
  }

  std::optional<Result<std::string>> disassemble(std::span<const uint8_t> stream) const override {
    return example_npu::disassemble(stream);
  }

  // As long as the simulator takes: decoding, then one vector of each operand a cycle.
  CostEstimate cost(const Target& target, const graph::Module&, const graph::Function& function,
                    const graph::Node& node) const override {
    const int64_t vectors = element_count(function.tensor(node.outputs.at(0)).shape) / kLanes;
    int64_t cycles_per_vector = 2;
    if (const auto* pool = std::get_if<graph::Pool2dAttrs>(&node.attributes))
      cycles_per_vector = pool->filter_h * pool->filter_w;
    return {static_cast<double>(8 + vectors * cycles_per_vector),
            static_cast<double>(target.get_int("clock-mhz"))};
  }

  RuntimePart runtime(const Target&) const override {
    return {.folder = INTARSIA_TARGET_FOLDER,
            .header = "example_npu/driver.h",
            .driver_type = "struct intarsia_example_npu",
            .open_function = "intarsia_example_npu_open"};
  }

  SimulatorPart simulator(const Target&) const override {
    return {.header = "example_npu/simulator.h",
            .attach_expression = "intarsia_example_npu_simulator()",
            .open_bus_function = "intarsia_example_npu_open_bus"};
  }

 private:
  KindSpec spec_ = make_spec();
};

}  // namespace

void add_kinds(TargetRegistry& registry) {
  registry.add(std::make_unique<NpuKind>());
}

}  // namespace intarsia::targets::example_npu
