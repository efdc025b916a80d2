#include "passes/join_lookups.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "intarsia/plugin/op_families.h"
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

bool computes_elements(OpKind kind) {
  return graph::is_elementwise_unary(kind) || graph::is_elementwise_binary(kind) ||
         kind == OpKind::Select || kind == OpKind::AddN;
}

bool holds_results(DataType type) {
  return type == DataType::Int8 || type == DataType::Int16 || type == DataType::UInt8;
}

bool is_symmetric(const Tensor& tensor) {
  return tensor.quantization.scale.size() == 1 &&
         tensor.quantization.zero_point == std::vector<int64_t>{0};
}

// The islands of one function.
class IslandSearch {
 public:
  explicit IslandSearch(const Function& function)
      : function_(function), uses_(function), sources_(function.tensors.size()) {
    for (const TensorId id : function.inputs) begin(id);
    for (size_t n = 0; n < function.nodes.size(); ++n) {
      const Node& node = function.nodes[n];
      const bool ends_here = function_of_words(n).has_value();
      const std::optional<TensorId> source = ends_here ? std::nullopt : source_of(node);
      for (const TensorId id : node.outputs) {
        if (source)
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
      if (taken.contains(n) || function_.nodes[n].outputs.size() != 1) continue;
      const TensorId result = function_.nodes[n].outputs[0];
      if (std::optional<Island> function = function_of_words(n)) {
        function->function = index;
        found.push_back(*std::move(function));
        continue;
      }
      const TensorId source = sources_[result.at()];
      if (!source.valid() || source == result || !holds_results(function_.tensor(result).type))
        continue;
      if (is_word(source) != is_word(result) && is_word(source)) continue;
      Island island{index, {}, {}, source, result, {}, {}};
      const std::set<size_t> nodes = only_for(n, source);
      if (nodes.size() < 2) continue;
      island.nodes.assign(nodes.begin(), nodes.end());
      island.path = path_to(result, source);
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

  // The function of one element in floats between a tensor of int16 and the int16 that node n makes, where the operator
  // on int16 is defined as just that. Others may read the floats too.
  std::optional<Island> function_of_words(size_t n) const {
    const Node& last = function_.nodes[n];
    if (last.kind != OpKind::Quantize || !last.pin.empty() || !is_word(last.outputs[0]))
      return std::nullopt;
    const int function = uses_.producer(last.inputs[0]);
    if (function < 0) return std::nullopt;
    const auto middle = static_cast<size_t>(function);
    if (function_.nodes[middle].kind != OpKind::HardSwish) return std::nullopt;
    const int first = uses_.producer(function_.nodes[middle].inputs[0]);
    if (first < 0) return std::nullopt;
    const auto begin = static_cast<size_t>(first);
    const Node& dequantize = function_.nodes[begin];
    const TensorId source = dequantize.inputs[0], result = last.outputs[0];
    if (dequantize.kind != OpKind::Dequantize || !is_symmetric(function_.tensor(source)) ||
        !is_symmetric(function_.tensor(result)) || function_.tensor(result).variable ||
        sources_[last.inputs[0].at()] != source)
      return std::nullopt;
    Island island{0, {begin, middle, n}, path_to(result, source), source, result, {}, {}};
    island.kind = OpKind::HardSwish;
    return island;
  }

  std::vector<TensorId> path_to(TensorId result, TensorId source) const {
    std::vector<TensorId> path, open{result};
    std::set<size_t> seen{source.at()};
    while (!open.empty()) {
      const TensorId id = open.back();
      open.pop_back();
      if (!seen.insert(id.at()).second) continue;
      path.push_back(id);
      for (const TensorId operand : function_.nodes[static_cast<size_t>(uses_.producer(id))].inputs)
        if (!function_.tensor(operand).constant.valid()) open.push_back(operand);
    }
    return path;
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
  const std::set<size_t> on_path = [&] {
    std::set<size_t> ids;
    for (const TensorId id : island.path) ids.insert(id.at());
    return ids;
  }();
  for (const Node& node : function.nodes) {
    if (node.outputs.size() != 1 || !on_path.contains(node.outputs[0].at())) continue;
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

// Makes the node the product of the source with the factor: a constant of one step.
void make_product(Module& module, Function& function, Node& node, TensorId source, float factor) {
  Tensor constant{.name = node.name + "_factor", .type = DataType::Int16, .shape = {1}};
  constant.quantization = {{std::abs(factor)}, {0}, 0};
  constant.constant.index = static_cast<int32_t>(module.constants.size());
  const uint8_t low = factor < 0 ? 0xff : 1, high = factor < 0 ? 0xff : 0;
  module.constants.push_back({constant.name, TensorValue{low, high}});
  node.kind = OpKind::Mul;
  node.attributes = graph::BinaryAttrs{};
  node.inputs = {source, TensorId{static_cast<int32_t>(function.tensors.size())}};
  function.tensors.push_back(std::move(constant));
}

// The factor with which a product gives what the island does, for all 65,536 values; nothing where none does.
std::optional<float> factor_of(const Module& module, const Island& island) {
  const Function& function = module.functions[island.function];
  const Node& last = function.nodes[island.nodes.back()];
  const Tensor &source = function.tensor(island.source), &result = function.tensor(island.result);
  if (last.kind != OpKind::Quantize || !is_symmetric(source) || !is_symmetric(result))
    return std::nullopt;
  Module body = alone(module, island);
  Function& in_floats = body.functions[0];
  const TensorId real = in_floats.nodes.back().inputs[0];
  if (in_floats.tensor(real).type != DataType::Float32) return std::nullopt;
  in_floats.outputs.push_back(real);
  const std::optional<std::vector<TensorValue>> wanted = rows_of(body);
  if (!wanted) return std::nullopt;
  constexpr size_t kPlace = 32768 + 16384;
  float at_place = 0;
  std::memcpy(&at_place, wanted->at(1).data() + kPlace * sizeof(float), sizeof(float));
  const float factor = at_place / (source.quantization.scale[0] * 16384);
  if (!std::isfinite(factor) || factor == 0) return std::nullopt;

  Module product = body;
  Function& alone_there = product.functions[0];
  alone_there.outputs.pop_back();
  alone_there.nodes.erase(alone_there.nodes.begin(), alone_there.nodes.end() - 1);
  make_product(product, alone_there, alone_there.nodes[0], alone_there.inputs[0], factor);
  drop_unused(product);
  if (!graph::verify(product).ok()) return std::nullopt;
  const std::optional<std::vector<TensorValue>> made = rows_of(product);
  if (!made || made->at(0) != wanted->at(0)) return std::nullopt;
  return factor;
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

std::vector<Island> find_islands(const Module& module) {
  std::vector<Island> islands;
  for (size_t index = 0; index < module.functions.size(); ++index)
    for (Island& island : IslandSearch(module.functions[index]).run(index)) {
      if (module.functions[index].tensor(island.source).type == DataType::Int16 && !island.kind) {
        island.factor = factor_of(module, island);
        if (!island.factor) continue;
      }
      islands.push_back(std::move(island));
    }
  return islands;
}

Module join_lookups(const Module& module, const std::vector<Island>& islands) {
  Module joined = module;
  std::map<size_t, std::set<size_t>> gone;  // nodes, by function
  for (const Island& island : islands) {
    Function& function = joined.functions[island.function];
    Node& last = function.nodes[island.nodes.back()];
    if (island.kind) {
      last.kind = *island.kind;
      last.attributes = graph::NoAttrs{};
      last.inputs = {island.source};
    } else if (island.factor) {
      make_product(joined, function, last, island.source, *island.factor);
    } else {
      std::optional<std::vector<int64_t>> results = results_of(module, island);
      if (!results) continue;
      last.kind = OpKind::Lookup;
      last.attributes = graph::LookupAttrs{*std::move(results)};
      last.inputs = {island.source};
    }
    gone[island.function].insert(island.nodes.begin(), island.nodes.end() - 1);
  }
  for (auto& [index, nodes] : gone) keep_what_is_read(joined.functions[index], nodes);
  for (const auto& [index, nodes] : gone) {
    std::vector<Node>& all = joined.functions[index].nodes;
    size_t place = 0;
    std::erase_if(all, [&, &taken = nodes](const Node&) { return taken.contains(place++); });
  }
  if (!gone.empty()) drop_unused(joined);
  return joined;
}

}  // namespace intarsia::passes
