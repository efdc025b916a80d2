#include "emission/shown_results.h"

#include <algorithm>

namespace intarsia::emission {
namespace {

// The operators of the model that made what the function returns, in order; of a device's function these are several.
std::vector<std::string> makers_of_outputs(const graph::Module& graph, const tir::Func& func) {
  const graph::Function* region = graph.find(func.name);
  std::vector<std::string> makers;
  if (region == nullptr) return makers;
  for (const graph::TensorId output : region->outputs)
    for (const graph::Node& node : region->nodes)
      if (std::find(node.outputs.begin(), node.outputs.end(), output) != node.outputs.end())
        makers.push_back(node.name);
  return makers;
}

}  // namespace

std::vector<ShownTensor> shown_tensors(const graph::Module& graph, const Plan& plan,
                                       const tir::Func& func,
                                       const std::vector<tir::BufferId>& arguments,
                                       bool is_stream) {
  const std::string& own_name = func.node.empty() ? func.name : func.node;
  const std::vector<std::string> makers =
      is_stream ? makers_of_outputs(graph, func) : std::vector<std::string>{};
  std::vector<ShownTensor> shown;
  size_t outputs = 0;
  for (size_t i = 0; i < func.parameters.size(); ++i) {
    if (func.parameters[i].access != tir::Access::Write) continue;
    const size_t output = outputs++;
    if (plan.find(arguments[i]) == nullptr) continue;
    shown.push_back({output < makers.size() ? makers[output] : own_name, arguments[i]});
  }
  return shown;
}

}  // namespace intarsia::emission
