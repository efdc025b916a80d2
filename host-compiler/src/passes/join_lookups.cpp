#include "passes/join_lookups.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "passes/element_values.h"
#include "passes/graph_edit.h"

namespace intarsia::passes {
namespace {

using graph::Function;
using graph::Module;
using graph::Node;
using graph::OpKind;
using graph::Tensor;
using graph::TensorId;
using graph::TensorValue;

// A table has a scale for its results: plain whole numbers, as a cast makes them, have none.
bool holds_results(const Tensor& tensor) {
  return (tensor.type == DataType::Int8 || tensor.type == DataType::Int16 ||
          tensor.type == DataType::UInt8) &&
         tensor.quantization.scale.size() == 1;
}

// The islands of one function.
class IslandSearch {
 public:
  explicit IslandSearch(const Function& function)
      : function_(function), uses_(function), sources_(function.tensors.size()) {
    for (const TensorId id : function.inputs) begin(id);
    for (size_t n = 0; n < function.nodes.size(); ++n) {
      const Node& node = function.nodes[n];
      const std::optional<TensorId> source = source_of(node);
      for (const TensorId id : node.outputs) {
        if (source && !(is_word(*source) && holds_results(function.tensor(id))))
          sources_[id.at()] = *source;
        else
          begin(id);
      }
    }
  }

  std::vector<Island> run(size_t index) {
    std::vector<Island> found;
    std::set<size_t> taken;
    for (size_t n = function_.nodes.size(); n-- > 0;) {
      const Node& last = function_.nodes[n];
      if (taken.contains(n) || last.outputs.size() != 1) continue;
      const TensorId result = last.outputs[0];
      const std::optional<TensorId> source = source_of(last);
      if (!source || !holds_results(function_.tensor(result))) continue;
      // Of an int16 there is no table, so that only floats are worth a search.
      if (is_word(*source) && !ends_floats(last)) continue;
      const std::set<size_t> nodes = only_for(n, *source);
      Island island{index, path_to(result, *source), *source, result, {}};
      if (island.nodes.size() < 2 || (nodes.size() < 2 && !ends_floats(last))) continue;
      taken.insert(nodes.begin(), nodes.end());
      found.push_back(std::move(island));
    }
    return found;
  }

 private:
  void begin(TensorId id) {
    const Tensor& tensor = function_.tensor(id);
    if ((tensor.type == DataType::Int8 || is_word(id)) && !tensor.variable &&
        tensor.quantization.scale.size() == 1)
      sources_[id.at()] = id;
  }
  bool ends_floats(const Node& node) const {
    return node.kind == OpKind::Quantize &&
           function_.tensor(node.inputs[0]).type == DataType::Float32;
  }
  bool is_word(TensorId id) const { return function_.tensor(id).type == DataType::Int16; }

  // The int8 tensor whose elements alone decide those of the node's result, at the same place.
  std::optional<TensorId> source_of(const Node& node) const {
    if (!computes_elements(node.kind) || !node.pin.empty() || node.outputs.size() != 1)
      return std::nullopt;
    const Tensor& made = function_.tensor(node.outputs[0]);
    if (made.variable) return std::nullopt;
    std::optional<TensorId> source;
    for (const TensorId id : node.inputs) {
      if (!id.valid()) return std::nullopt;
      const Tensor& tensor = function_.tensor(id);
      if (tensor.constant.valid() && element_count(tensor.shape) == 1) continue;
      const TensorId own = sources_[id.at()];
      if (!own.valid() || tensor.shape != made.shape || (source && *source != own))
        return std::nullopt;
      source = own;
    }
    return source;
  }

  // Of the operators that node n is computed by, back to the source: those whose results nobody else reads.
  std::set<size_t> only_for(size_t n, TensorId source) const {
    std::set<size_t> nodes{n};
    for (size_t at = n + 1; at-- > 0;) {
      if (!nodes.contains(at)) continue;
      for (const TensorId id : function_.nodes[at].inputs) {
        if (function_.tensor(id).constant.valid() || id == source || uses_.is_output(id)) continue;
        const int maker = uses_.producer(id);
        const std::vector<size_t>& readers = uses_.readers(id);
        if (maker >= 0 && std::ranges::all_of(readers, [&](size_t r) { return nodes.contains(r); }))
          nodes.insert(static_cast<size_t>(maker));
      }
    }
    return nodes;
  }

  // The operators between source and result, in their order.
  std::vector<size_t> path_to(TensorId result, TensorId source) const {
    std::set<size_t> path;
    std::vector<TensorId> open{result};
    std::set<size_t> seen{source.at()};
    while (!open.empty()) {
      const TensorId id = open.back();
      open.pop_back();
      if (!seen.insert(id.at()).second) continue;
      const auto maker = static_cast<size_t>(uses_.producer(id));
      path.insert(maker);
      for (const TensorId operand : function_.nodes[maker].inputs)
        if (!function_.tensor(operand).constant.valid()) open.push_back(operand);
    }
    return {path.begin(), path.end()};
  }

  const Function& function_;
  Uses uses_;
  std::vector<TensorId> sources_;  // by tensor; invalid where there is none
};

// The island alone, on a row of all values of its source.
Module alone(const Module& module, const Island& island) {
  const Function& function = module.functions[island.function];
  const int64_t count = int64_t{1} << bits(function.tensor(island.source).type);
  Module made;
  made.name = made.entry = "island";
  Function body;
  body.name = "island";
  std::map<size_t, TensorId> places;
  const auto place = [&](TensorId id) {
    const auto [at, is_new] =
        places.try_emplace(id.at(), TensorId{static_cast<int32_t>(body.tensors.size())});
    if (!is_new) return at->second;
    Tensor tensor = function.tensor(id);
    if (tensor.constant.valid()) {
      made.constants.push_back(module.constants[tensor.constant.at()]);
      tensor.constant = ConstantId{static_cast<int32_t>(made.constants.size()) - 1};
      tensor.shape = {1};
    } else {
      tensor.shape = {count};
    }
    body.tensors.push_back(std::move(tensor));
    return at->second;
  };
  body.inputs = {place(island.source)};
  for (const size_t n : island.nodes) {
    const Node& node = function.nodes[n];
    Node copy = node;
    for (TensorId& id : copy.inputs) id = place(id);
    copy.outputs = {place(node.outputs[0])};
    body.nodes.push_back(std::move(copy));
  }
  body.outputs = {place(island.result)};
  made.functions.push_back(std::move(body));
  return made;
}

// What a function of one operand makes of all its values, from the least on; one row for each of its outputs.
std::optional<std::vector<TensorValue>> rows_of(const Module& body) {
  const Function& function = body.entry_function();
  const Tensor& source = function.tensor(function.inputs[0]);
  const auto bytes = static_cast<size_t>(bits(source.type) / 8);
  TensorValue every;
  const int64_t count = element_count(source.shape);
  for (int64_t value = -count / 2; value < count / 2; ++value)
    for (size_t byte = 0; byte < bytes; ++byte)
      every.push_back(static_cast<uint8_t>(static_cast<uint64_t>(value) >> (8 * byte)));
  Result<std::vector<TensorValue>> made = graph::Evaluator(body).run({every});
  if (!made.ok()) return std::nullopt;
  return *std::move(made);
}

std::optional<std::vector<int64_t>> results_of(const Module& module, const Island& island) {
  const std::optional<std::vector<TensorValue>> made = rows_of(alone(module, island));
  if (!made) return std::nullopt;
  const DataType type = module.functions[island.function].tensor(island.result).type;
  std::vector<int64_t> results;
  for (int64_t i = 0; i < 256; ++i) results.push_back(element_at(type, made->at(0).data(), i));
  return results;
}

// Of the nodes that islands stand for, those stay whose results are read by others.
void keep_what_is_read(const Function& function, std::set<size_t>& nodes) {
  const Uses uses(function);
  for (size_t n = function.nodes.size(); n-- > 0;) {
    if (!nodes.contains(n)) continue;
    const bool is_read = std::ranges::any_of(function.nodes[n].outputs, [&](TensorId id) {
      return uses.is_output(id) || std::ranges::any_of(uses.readers(id), [&](size_t reader) {
               return !nodes.contains(reader);
             });
    });
    if (is_read) nodes.erase(n);
  }
}

}  // namespace

std::vector<Island> find_islands(const Module& module,
                                 std::map<std::string, std::string>* in_floats) {
  std::vector<Island> islands;
  for (size_t index = 0; index < module.functions.size(); ++index) {
    const Function& function = module.functions[index];
    for (Island& island : IslandSearch(function).run(index)) {
      if (function.tensor(island.source).type == DataType::Int16) {
        std::optional<std::vector<IntegerStep>> steps = integer_form(alone(module, island));
        if (!steps) {
          if (in_floats != nullptr)
            (*in_floats)[function.nodes[island.nodes.back()].name] =
                function.tensor(island.source).name;
          continue;
        }
        island.steps = *std::move(steps);
      }
      islands.push_back(std::move(island));
    }
  }
  return islands;
}

Module join_lookups(const Module& module, const std::vector<Island>& islands) {
  Module joined = module;
  std::map<size_t, std::set<size_t>> gone;  // nodes, by function
  std::map<size_t, std::map<size_t, std::vector<Node>>>
      before;  // new nodes in front of one, by function
  for (const Island& island : islands) {
    Function& function = joined.functions[island.function];
    const size_t n = island.nodes.back();
    Node last = function.nodes[n];
    if (!island.steps.empty()) {
      before[island.function][n] = apply_steps(island.steps, joined, function, island.source, last);
    } else {
      std::optional<std::vector<int64_t>> results = results_of(module, island);
      if (!results) continue;
      last.kind = OpKind::Lookup;
      last.attributes = graph::LookupAttrs{*std::move(results)};
      last.inputs = {island.source};
    }
    function.nodes[n] = std::move(last);
    gone[island.function].insert(island.nodes.begin(), island.nodes.end() - 1);
  }
  for (auto& [index, nodes] : gone) {
    keep_what_is_read(joined.functions[index], nodes);
    std::vector<Node> kept;
    std::vector<Node>& all = joined.functions[index].nodes;
    for (size_t n = 0; n < all.size(); ++n) {
      if (nodes.contains(n)) continue;
      std::ranges::move(before[index][n], std::back_inserter(kept));
      kept.push_back(std::move(all[n]));
    }
    all = std::move(kept);
  }
  if (!gone.empty()) drop_unused(joined);
  return joined;
}

}  // namespace intarsia::passes
