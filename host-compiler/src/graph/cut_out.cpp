#include "graph/cut_out.h"

#include <algorithm>
#include <map>
#include <unordered_set>
#include <utility>

namespace intarsia::graph {
namespace {

// Copies tensors of the whole function into the one that is made, once each.
class TensorCopier {
 public:
  TensorCopier(const Function& from, Function& to) : from_(from), to_(to) {}

  TensorId copy(TensorId id) {
    if (!id.valid()) return id;
    const auto [place, fresh] = copied_.try_emplace(id.index, TensorId{});
    if (fresh) place->second = add(id);
    return place->second;
  }
  // One that holds another value of the same tensor.
  TensorId add(TensorId id) {
    to_.tensors.push_back(from_.tensor(id));
    return TensorId{static_cast<int32_t>(to_.tensors.size() - 1)};
  }

 private:
  const Function& from_;
  Function& to_;
  std::map<int32_t, TensorId> copied_;
};

void make_plain(Tensor& tensor) {
  tensor.variable = false, tensor.initial = {};
}

}  // namespace

FunctionCutter::FunctionCutter(const Function& function)
    : function_(function), readers_(function.tensors.size()) {
  for (size_t n = 0; n < function.nodes.size(); ++n)
    for (const TensorId id : function.nodes[n].inputs)
      if (id.valid()) readers_[id.at()].nodes.push_back(static_cast<int32_t>(n));
  for (const TensorId id : function.outputs) readers_[id.at()].is_output = true;
}

CutOut FunctionCutter::cut(std::span<const NodeId> nodes, const std::set<int32_t>& passed) const {
  CutOut result;
  Function& made = result.function;
  std::unordered_set<int32_t> inside;
  std::set<int32_t> written;
  for (const NodeId id : nodes) {
    inside.insert(id.index);
    for (const TensorId output : function_.nodes[id.at()].outputs) written.insert(output.index);
  }
  const auto is_read_outside = [&](TensorId id) {
    const Readers& readers = readers_[id.at()];
    return readers.is_output || std::any_of(readers.nodes.begin(), readers.nodes.end(),
                                            [&](int32_t node) { return !inside.contains(node); });
  };

  TensorCopier tensors(function_, made);
  std::set<int32_t> taken, rewritten;
  for (const NodeId id : nodes) {
    for (const TensorId input : function_.nodes[id.at()].inputs) {
      if (!input.valid()) continue;
      const bool is_own = passed.contains(input.index)
                              ? rewritten.contains(input.index)
                              : written.contains(input.index) || function_.tensor(input).variable;
      if (is_own || function_.tensor(input).constant.valid() || !taken.insert(input.index).second)
        continue;
      made.inputs.push_back(tensors.copy(input));
      if (passed.contains(input.index)) make_plain(made.tensors[made.inputs.back().at()]);
      result.inputs.push_back(input);
    }
    for (const TensorId output : function_.nodes[id.at()].outputs) rewritten.insert(output.index);
  }
  std::map<int32_t, TensorId>
      versions;  // of passed variables, as the operators have last written them
  for (const NodeId id : nodes) {
    Node node = function_.nodes[id.at()];
    for (TensorId& input : node.inputs) {
      const auto version = versions.find(input.index);
      input = version == versions.end() ? tensors.copy(input) : version->second;
    }
    for (TensorId& output : node.outputs) {
      const TensorId outer = output;
      if (passed.contains(
              outer.index)) {  // another tensor than the one that holds the value before
        output = tensors.add(outer);
        make_plain(made.tensors[output.at()]);
        versions[outer.index] = output;
        continue;
      }
      output = tensors.copy(output);
      if (is_read_outside(outer)) {
        made.outputs.push_back(output);
        result.outputs.push_back(outer);
      }
    }
    made.nodes.push_back(std::move(node));
  }
  for (const auto& [outer, last] : versions) {
    made.outputs.push_back(last);
    result.outputs.push_back(TensorId{outer});
  }
  return result;
}

}  // namespace intarsia::graph
