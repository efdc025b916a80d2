#include "partitioning/function_costs.h"

namespace intarsia::partitioning {

FunctionCosts::FunctionCosts(const graph::Module& module, const graph::Function& function,
                             const TargetRegistry& registry, const TargetSpec& target,
                             const LoweringOptions& options)
    : module_(module), registry_(registry), target_(target), options_(options), cutter_(function) {}

CostEstimate FunctionCosts::of(size_t device, std::span<const graph::NodeId> nodes) const {
  const Target& asked = target_.devices()[device];
  graph::Function function = cutter_.cut(nodes).function;
  function.name = "estimated";
  function.target = asked.name;
  return registry_.kind_of(asked).cost(asked, module_, function, options_);
}

}  // namespace intarsia::partitioning
