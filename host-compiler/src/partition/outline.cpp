#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "partition/regions.h"
#include "support/c_identifier.h"

namespace intarsia::partitioning {
namespace {

using graph::Function;
using graph::Node;
using graph::Tensor;
using graph::TensorId;

// Copies tensors of the whole function into one region's function, once each.
class TensorCopier {
 public:
  TensorCopier(const Function& from, Function& to) : from_(from), to_(to) {}

  TensorId copy(TensorId id) {
    if (!id.valid()) return id;
    const auto [place, fresh] = copied_.try_emplace(id.index, TensorId{});
    if (fresh) {
      place->second = TensorId{static_cast<int32_t>(to_.tensors.size())};
      to_.tensors.push_back(from_.tensor(id));
    }
    return place->second;
  }

 private:
  const Function& from_;
  Function& to_;
  std::map<int32_t, TensorId> copied_;
};

// By tensor, in which regions it is read.
class Readers {
 public:
  Readers(const Function& function, const std::vector<Region>& regions)
      : of_(function.tensors.size(), kNone) {
    for (size_t r = 0; r < regions.size(); ++r)
      for (const graph::NodeId node : regions[r].nodes)
        for (const TensorId id : function.nodes[node.at()].inputs)
          if (id.valid()) add(id, static_cast<int>(r));
    for (const TensorId id : function.outputs) add(id, kSeveral);
  }
  // Some node outside of the region, or the function's caller, reads it.
  bool are_outside(TensorId id, size_t region) const {
    return of_[id.at()] != kNone && of_[id.at()] != static_cast<int>(region);
  }

 private:
  static constexpr int kNone = -1, kSeveral = -2;
  void add(TensorId id, int region) {
    int& readers = of_[id.at()];
    readers = readers == kNone || readers == region ? region : kSeveral;
  }
  std::vector<int> of_;  // a region, or one of the above
};

void make_plain(Tensor& tensor) {
  tensor.variable = false, tensor.initial = {};
}

struct OutlinedRegion {
  Function function;
  Node call;  // in terms of the entry's tensors
};

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

OutlinedRegion outline_region(const Function& function, const Target& member,
                              const std::string& name, const Region& region, size_t index,
                              const Readers& readers, const std::set<int32_t>& shared) {
  OutlinedRegion result;
  Function& made = result.function;
  made.name = name;
  made.target = member.name;
  result.call.kind = graph::OpKind::Call;
  result.call.name = name;
  result.call.attributes = graph::CallAttrs{name};

  std::set<int32_t> written;
  for (const graph::NodeId id : region.nodes)
    for (const TensorId output : function.nodes[id.at()].outputs) written.insert(output.index);

  TensorCopier tensors(function, made);
  std::set<int32_t> passed, rewritten;
  for (const graph::NodeId id : region.nodes) {
    for (const TensorId input : function.nodes[id.at()].inputs) {
      if (!input.valid()) continue;
      const bool is_shared = shared.contains(input.index);
      const bool is_own = is_shared
                              ? rewritten.contains(input.index)
                              : written.contains(input.index) || function.tensor(input).variable;
      if (is_own || function.tensor(input).constant.valid() || !passed.insert(input.index).second)
        continue;
      made.inputs.push_back(tensors.copy(input));
      if (is_shared) make_plain(made.tensors[made.inputs.back().at()]);
      result.call.inputs.push_back(input);
    }
    for (const TensorId output : function.nodes[id.at()].outputs) rewritten.insert(output.index);
  }
  std::map<int32_t, TensorId> versions;  // of shared variables, as the region has last written them
  for (const graph::NodeId id : region.nodes) {
    Node node = function.nodes[id.at()];
    for (TensorId& input : node.inputs) {
      const auto version = versions.find(input.index);
      input = version == versions.end() ? tensors.copy(input) : version->second;
    }
    for (TensorId& output : node.outputs) {
      const TensorId outer = output;
      if (shared.contains(
              outer.index)) {  // another tensor than the one that holds the value before
        output = TensorId{static_cast<int32_t>(made.tensors.size())};
        made.tensors.push_back(function.tensor(outer));
        make_plain(made.tensors.back());
        versions[outer.index] = output;
        continue;
      }
      output = tensors.copy(output);
      if (readers.are_outside(outer, index)) {
        made.outputs.push_back(output);
        result.call.outputs.push_back(outer);
      }
    }
    made.nodes.push_back(std::move(node));
  }
  for (const auto& [outer, last] : versions) {
    made.outputs.push_back(last);
    result.call.outputs.push_back(TensorId{outer});
  }
  return result;
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
  std::map<int, int> regions_of_member;
  std::set<std::string> names;
  std::vector<Function> outlined;
  const std::set<int32_t> shared = shared_variables(function, regions);
  const Readers readers(function, regions);
  for (size_t r = 0; r < regions.size(); ++r) {
    const Region& region = regions[r];
    const Target& member = target.members()[static_cast<size_t>(region.member)];
    std::string name;
    do {  // members of unlike names may have one in C
      name = c_identifier(
          fmt::format("{}_{}_{}", function.name, member.name, regions_of_member[region.member]++),
          "region");
    } while (!names.insert(name).second);
    OutlinedRegion piece = outline_region(function, member, name, region, r, readers, shared);
    entry.nodes.push_back(std::move(piece.call));
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
