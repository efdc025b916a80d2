// Graphs, kinds and an exhaustive search for tests of policy cost.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "graph/cut_out.h"
#include "intarsia/partition.h"
#include "intarsia/plugin/check.h"
#include "partitioning/assign.h"
#include "partitioning/offers.h"
#include "target_kind/owners.h"

namespace intarsia::testing_search {

using graph::OpKind;

inline std::set<int32_t> read_by(const graph::Node& node) {
  std::set<int32_t> ids;
  for (const graph::TensorId id : node.inputs) ids.insert(id.index);
  return ids;
}

// What it takes alone, what only with the operator before it, and what either costs, which is drawn from
// the operator's name so that no two operators are alike. An operator and the only reader of its result take less
// together, by at most `most_saved` cycles, which are drawn from both names.
inline TargetKind drawn_kind(std::string name, Role role, uint32_t seed, std::set<OpKind> alone,
                             std::vector<std::pair<OpKind, OpKind>> pairs, double transfer,
                             double per_byte, uint32_t most_saved = 0) {
  TargetKind kind;
  kind.spec.name = std::move(name);
  kind.spec.summary = "for tests";
  kind.spec.role = role;
  kind.patterns = [alone = std::move(alone), pairs = std::move(pairs)](const Target&) {
    std::vector<Pattern> patterns;
    for (const auto& [root, below] : pairs)
      patterns.push_back({"pair", {root, {PatternOp{below, {}}}}, nullptr});
    for (const OpKind op : alone) patterns.push_back({"alone", {op, {}}, nullptr});
    return patterns;
  };
  const auto drawn = [seed](std::string_view text, uint32_t most) {
    uint32_t hash = seed;
    for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 16777619u;
    return static_cast<double>((hash >> 8) % (most + 1));
  };
  kind.cost = [drawn, most_saved](const Target&, const graph::Module&,
                                  const graph::Function& function,
                                  const LoweringOptions&) -> CostEstimate {
    double cycles = 0;
    std::map<int32_t, std::string> writers;
    std::map<int32_t, int> readers;
    for (const graph::TensorId id : function.outputs) readers[id.index] = 2;
    for (const graph::Node& node : function.nodes)
      for (const int32_t id : read_by(node)) ++readers[id];
    for (const graph::Node& node : function.nodes) {
      cycles += drawn(node.name, 15);
      for (const int32_t id : read_by(node))
        if (writers.contains(id) && readers[id] == 1)
          cycles -= drawn(writers[id] + node.name, most_saved);
      for (const graph::TensorId id : node.outputs) writers[id.index] = node.name;
    }
    return {cycles, 1};
  };
  kind.transfer_microseconds = [transfer, per_byte](const Target&, int64_t bytes) {
    return transfer + per_byte * static_cast<double>(bytes);
  };
  return kind;
}

// A function of relu, add and mul; mostly on recent tensors when `reach` is small. Everything that nothing reads
// is an output.
class GraphMaker {
 public:
  GraphMaker() {
    module.name = "m";
    module.entry = "main";
    module.functions.resize(1);
    function().name = "main";
  }
  graph::Function& function() { return module.functions[0]; }

  graph::TensorId tensor(int64_t bytes = 4) {
    graph::Tensor made;
    made.shape = {1, bytes};
    made.quantization = {{0.5f}, {0}, 0};
    function().tensors.push_back(made);
    return graph::TensorId{static_cast<int32_t>(function().tensors.size() - 1)};
  }
  graph::TensorId input(int64_t bytes = 4) {
    function().inputs.push_back(tensor(bytes));
    return function().inputs.back();
  }
  graph::TensorId node(OpKind kind, graph::Attributes attributes,
                       std::vector<graph::TensorId> inputs, int64_t bytes = 4) {
    graph::Node made;
    made.name = "n" + std::to_string(function().nodes.size());
    made.kind = kind, made.attributes = std::move(attributes), made.inputs = std::move(inputs);
    made.outputs = {tensor(bytes)};
    function().nodes.push_back(std::move(made));
    return function().nodes.back().outputs[0];
  }
  graph::TensorId relu(graph::TensorId a) { return node(OpKind::Relu, graph::ReluAttrs{}, {a}); }
  graph::TensorId add(graph::TensorId a, graph::TensorId b) {
    return node(OpKind::Add, graph::BinaryAttrs{}, {a, b});
  }
  graph::TensorId mul(graph::TensorId a, graph::TensorId b) {
    return node(OpKind::Mul, graph::BinaryAttrs{}, {a, b});
  }
  void leaves_are_outputs() {
    std::set<int32_t> read;
    for (const graph::Node& node : function().nodes)
      for (const graph::TensorId id : node.inputs) read.insert(id.index);
    for (const graph::Node& node : function().nodes)
      if (!read.contains(node.outputs[0].index)) function().outputs.push_back(node.outputs[0]);
  }

  graph::Module module;
};

inline graph::Module random_graph(uint32_t seed, int nodes, uint32_t reach) {
  std::mt19937 random(seed);
  GraphMaker maker;
  maker.input();
  const auto any = [&] {
    const auto count = static_cast<uint32_t>(maker.function().tensors.size());
    return graph::TensorId{static_cast<int32_t>(count - 1 - random() % std::min(count, reach))};
  };
  for (int n = 0; n < nodes; ++n) {
    const uint32_t kind = random() % 3;
    const graph::TensorId a = any(), b = any();
    if (kind == 0)
      maker.relu(a);
    else if (kind == 1)
      maker.add(a, b);
    else
      maker.mul(a, b);
  }
  maker.leaves_are_outputs();
  if (random() % 4 == 0) {  // an output that is read inside as well
    auto& outputs = maker.function().outputs;
    const graph::TensorId inner =
        maker.function().nodes[random() % maker.function().nodes.size()].outputs[0];
    if (std::find(outputs.begin(), outputs.end(), inner) == outputs.end()) outputs.push_back(inner);
  }
  return maker.module;
}

// A module with a registry, a target, and what its devices offer.
struct Problem {
  Problem(const TargetRegistry& its_registry, graph::Module its_module, const std::string& text)
      : registry(its_registry),
        module(std::move(its_module)),
        target(checked(parse_target(registry.catalogue(), text))),
        offers(checked(partitioning::collect_offers(module, function(), registry, target))) {}
  template <typename T>
  static T checked(Result<T> result) {
    INTARSIA_CHECK(result.ok(), result.ok() ? "" : result.error().to_string());
    return *std::move(result);
  }
  const graph::Function& function() const { return module.functions[0]; }
  partitioning::CostModel costs() const {
    const partitioning::FunctionCosts functions(module, function(), registry, target, options);
    return {function(), registry, target, offers, &functions};
  }
  Result<partitioning::CheapestAssignment> search(
      const partitioning::SearchLimits& limits = {}) const {
    return assign_by_cost(module, function(), registry, target, offers, costs(), limits);
  }
  Result<partitioning::Assignment> by_priority() const {
    return assign_by_priority(module, function(), registry, target, offers);
  }

  const TargetRegistry& registry;
  graph::Module module;
  TargetSpec target;
  LoweringOptions options;
  partitioning::Offers offers;
};

// Written down a second time, from what assign.h and cost_model.h promise.
inline double plain_cost(const Problem& p, const partitioning::Assignment& assignment) {
  const graph::Function& f = p.function();
  const std::vector<size_t> owners = owners_of(p.target, p.registry);
  std::map<int32_t, int> writers;
  std::map<int32_t, std::set<int>> readers;
  double cost = 0;
  for (const graph::TensorId id : f.inputs) writers[id.index] = 0;
  std::map<int, std::vector<graph::NodeId>> taken;
  for (size_t n = 0; n < f.nodes.size(); ++n) {
    taken[assignment[n]].push_back({static_cast<int32_t>(n)});
    for (const graph::TensorId id : f.nodes[n].inputs) readers[id.index].insert(assignment[n]);
    for (const graph::TensorId id : f.nodes[n].outputs) writers[id.index] = assignment[n];
  }
  // Costs of these kinds do not depend on whether what a device has is one function or several.
  for (const auto& [m, nodes] : taken) {
    const Target& device = p.target.devices()[static_cast<size_t>(m)];
    const graph::Function together = graph::FunctionCutter(f).cut(nodes).function;
    cost += p.registry.kind_of(device).cost(device, p.module, together, {}).microseconds();
  }
  for (const graph::TensorId id : f.outputs) readers[id.index].insert(0);
  for (auto& [tensor, devices] : readers) {
    const int writer = writers.at(tensor);
    devices.erase(writer);
    if (devices.empty()) continue;
    const int64_t bytes = f.tensor(graph::TensorId{tensor}).bytes();
    devices.insert(writer);  // hands over
    std::set<size_t> cpus;
    for (const int device : devices) {
      const Target& side = p.target.devices()[static_cast<size_t>(device)];
      cost += p.registry.kind_of(side).transfer_microseconds(side, bytes);
      cpus.insert(owners[static_cast<size_t>(device)]);
    }
    cost += static_cast<double>(cpus.size() - 1) * (5.0 + static_cast<double>(bytes) / 400.0);
  }
  return cost;
}

// Whether the nodes of each device can be divided into pieces that it offers.
inline bool is_whole(const Problem& p, const partitioning::Assignment& assignment,
                     std::vector<bool> covered = {}) {
  covered.resize(assignment.size(), false);
  const size_t next =
      static_cast<size_t>(std::find(covered.begin(), covered.end(), false) - covered.begin());
  if (next == assignment.size()) return true;
  const auto device = static_cast<size_t>(assignment[next]);
  for (const partitioning::Piece& piece : p.offers.table.cells[next][device].pieces) {
    std::vector<bool> more = covered;
    const bool fits = std::all_of(piece.nodes.begin(), piece.nodes.end(), [&](graph::NodeId node) {
      const bool is_free = !more[node.at()] && assignment[node.at()] == assignment[next];
      more[node.at()] = true;
      return is_free;
    });
    if (fits && is_whole(p, assignment, more)) return true;
  }
  return false;
}

// The least cost of all assignments; nothing when no assignment is possible.
inline std::optional<double> least_cost(const Problem& p) {
  std::optional<double> least;
  const int devices = static_cast<int>(p.target.devices().size());
  partitioning::Assignment assignment(p.function().nodes.size(), 0);
  for (;;) {
    if (is_whole(p, assignment)) {
      const double cost = plain_cost(p, assignment);
      if (!least || cost < *least) least = cost;
    }
    size_t digit = 0;
    while (digit < assignment.size() && ++assignment[digit] == devices) assignment[digit++] = 0;
    if (digit == assignment.size()) return least;
  }
}

}  // namespace intarsia::testing_search
