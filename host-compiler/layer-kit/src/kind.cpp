#include <utility>

#include "intarsia/layers/layer_target.h"

namespace intarsia::layers {
namespace {

CostEstimate cost_of(const LayerCosts& costs, const Target& target, const graph::Function& function,
                     const graph::Node& node) {
  const auto clock = static_cast<double>(target.get_int("clock-mhz"));
  int64_t elements = 0;
  for (const graph::TensorId id : node.outputs)
    elements += element_count(function.tensor(id).shape);
  const double multiplying = static_cast<double>(graph::mac_count(function, node)) /
                             static_cast<double>(target.get_int("macs-per-cycle"));
  return {costs.call_microseconds * clock + multiplying +
              static_cast<double>(elements) / costs.results_per_cycle,
          clock};
}

bool takes_int8(const Library& library, const Target& target) {
  return library.int8 && target.get_bool("int8");
}

}  // namespace

TargetKind kind_of(KindSpec spec, const Library& library, const LayerCosts& costs,
                   DeviceDriver driver) {
  TargetKind kind;
  kind.spec = std::move(spec);
  if (library.int8)
    kind.spec.attributes.push_back(AttributeSpec::boolean(
        "int8", true, "take int8 layers, whose results may be a step from the reference's"));
  kind.patterns = [&library](const Target& target) {
    return patterns(library, takes_int8(library, target));
  };
  kind.tolerance = [&library](const Target& target, const graph::Node& node) {
    return takes_int8(library, target) ? largest_steps(node.kind) : 0;
  };
  kind.graph_to_tir = [&library](const Target&, const graph::Module& module,
                                 const graph::Function& function, const LoweringOptions&) {
    return lower(library, module, function);
  };
  kind.tir_to_runtime = [&library](const Target& device, const tir::Module& module,
                                   const Plan& plan) {
    return make_streams(library, device, module, plan);
  };
  kind.cost = sum_of_operators(
      [costs](const Target& target, const graph::Module&, const graph::Function& function,
              const graph::Node& node) { return cost_of(costs, target, function, node); });
  kind.transfer_microseconds = [](const Target&, int64_t) { return 0.0; };
  kind.notes = [&library](const Target&, const graph::Module&, const graph::Function& function) {
    return notes(library, function);
  };
  kind.driver = [driver = std::move(driver)](const Target&) { return driver; };
  kind.disassemble = [&library](std::span<const uint8_t> stream) {
    return disassemble(library, stream);
  };
  return kind;
}

}  // namespace intarsia::layers
