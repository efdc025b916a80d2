#include <utility>

#include "intarsia/gpu/lower.h"

namespace intarsia::gpu {
namespace {

CostEstimate cost_of(const GpuCosts& costs, const Target& target, const graph::Function& function,
                     const graph::Node& node) {
  const auto clock = static_cast<double>(target.get_int("clock-mhz"));
  int64_t elements = 0;
  for (const graph::TensorId id : node.outputs)
    elements += element_count(function.tensor(id).shape);
  const double work = static_cast<double>(graph::mac_count(function, node) + 8 * elements);
  return {costs.launch_microseconds * clock +
              work / static_cast<double>(target.get_int("macs-per-cycle")),
          clock};
}

}  // namespace

TargetKind kind_of(KindSpec spec, const Dialect& dialect, const GpuCosts& costs,
                   DeviceDriver driver) {
  TargetKind kind;
  kind.spec = std::move(spec);
  kind.patterns = [&dialect](const Target&) { return patterns_of(dialect); };
  kind.graph_to_tir = [&dialect](const Target&, const graph::Module& module,
                                 const graph::Function& function, const LoweringOptions&) {
    return lower(dialect, module, function);
  };
  kind.cost = sum_of_operators(
      [costs](const Target& target, const graph::Module&, const graph::Function& function,
              const graph::Node& node) { return cost_of(costs, target, function, node); });
  kind.transfer_microseconds = [costs](const Target&, int64_t bytes) {
    return costs.transfer_microseconds + static_cast<double>(bytes) / costs.bytes_per_microsecond;
  };
  kind.driver = [driver = std::move(driver)](const Target&) { return driver; };
  return kind;
}

}  // namespace intarsia::gpu
