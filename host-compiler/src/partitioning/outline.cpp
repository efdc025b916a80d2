#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "graph/cut_out.h"
#include "partitioning/regions.h"
#include "support/c_identifier.h"

namespace intarsia::partitioning {
namespace {

using graph::Function;
using graph::Node;
using graph::Tensor;
using graph::TensorId;

// Variables that nodes of several regions work on: the regions get them passed, so that there is one
// state.
std::set<int32_t> shared_variables(const Function& function, const std::vector<Region>& regions) {
  std::map<int32_t, std::set<size_t>> users;
  for (size_t r = 0; r < regions.size(); ++r)
    for (const graph::NodeId node : regions[r].nodes)
      for (const auto* ids :
           {&function.nodes[node.at()].inputs, &function.nodes[node.at()].outputs})
        for (const TensorId id : *ids)
          if (id.valid() && function.tensor(id).variable) users[id.index].insert(r);
  std::set<int32_t> shared;
  for (const auto& [id, regions_of] : users)
    if (regions_of.size() > 1) shared.insert(id);
  return shared;
}

// The entry keeps only tensors that its calls, inputs and outputs mention.
void drop_unused_tensors(Function& function) {
  std::map<int32_t, TensorId> kept;
  std::vector<Tensor> tensors;
  const auto keep = [&](TensorId& id) {
    if (!id.valid()) return;
    const auto [place, fresh] =
        kept.try_emplace(id.index, TensorId{static_cast<int32_t>(tensors.size())});
    if (fresh) tensors.push_back(function.tensors[id.at()]);
    id = place->second;
  };
  for (TensorId& id : function.inputs) keep(id);
  for (Node& node : function.nodes) {
    for (TensorId& id : node.inputs) keep(id);
    for (TensorId& id : node.outputs) keep(id);
  }
  for (TensorId& id : function.outputs) keep(id);
  function.tensors = std::move(tensors);
}

}  // namespace

graph::Module outline(const graph::Module& module, const Function& function,
                      const TargetSpec& target, const std::vector<Region>& regions) {
  graph::Module result;
  result.name = module.name;
  result.constants = module.constants;
  result.entry = function.name;

  Function entry = function;
  entry.nodes.clear();
  std::map<int, int> regions_of_device;
  std::set<std::string> names;
  std::vector<Function> outlined;
  const std::set<int32_t> shared = shared_variables(function, regions);
  const graph::FunctionCutter cutter(function);
  for (size_t r = 0; r < regions.size(); ++r) {
    const Region& region = regions[r];
    const Target& device = target.devices()[static_cast<size_t>(region.device)];
    std::string name;
    do {  // devices of unlike names may have one in C
      name = c_identifier(
          fmt::format("{}_{}_{}", function.name, device.name, regions_of_device[region.device]++),
          "region");
    } while (!names.insert(name).second);
    graph::CutOut piece = cutter.cut(region.nodes, shared);
    piece.function.name = name;
    piece.function.target = device.name;
    Node call;
    call.kind = graph::OpKind::Call;
    call.name = name;
    call.attributes = graph::CallAttrs{name};
    call.inputs = std::move(piece.inputs);
    call.outputs = std::move(piece.outputs);
    entry.nodes.push_back(std::move(call));
    outlined.push_back(std::move(piece.function));
  }
  drop_unused_tensors(entry);
  result.functions.push_back(std::move(entry));
  std::move(outlined.begin(), outlined.end(), std::back_inserter(result.functions));
  for (const Function& run : module.functions)  // what branches and loops run
    if (run.name != function.name) result.functions.push_back(run);
  return result;
}

}  // namespace intarsia::partitioning
