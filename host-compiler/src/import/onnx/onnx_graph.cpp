#include "import/onnx/onnx_graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "import/onnx/fused.h"
#include "import/onnx/known_operators.h"
#include "import/onnx/qlinear.h"
#include "import/tflite/node_names.h"
#include "import/unknown_operators.h"

namespace intarsia::onnx {

namespace {

using tflite::printable;

Node read_node(const ModelFile& file, const format::Node& raw, int index) {
  Node node;
  node.type = raw.type();
  node.domain = raw.domain() == "ai.onnx" ? "" : raw.domain();
  node.name = raw.name();
  node.index = index;
  node.operator_set = file.operator_set(raw.domain());
  node.inputs.assign(raw.input().begin(), raw.input().end());
  node.outputs.assign(raw.output().begin(), raw.output().end());
  for (const format::Attribute& attribute : raw.attribute())
    node.attributes[attribute.name()] = attribute;
  return node;
}

// What onnxruntime has made for the machine that it ran on.
bool is_of_one_machine(const Node& node) {
  return node.domain == "com.microsoft.nchwc" ||
         (node.domain == "com.microsoft" &&
          (node.type.starts_with("Nhwc") || node.type == "QLinearConv"));
}

// Known, in a version we know, with as many operands as it takes. Unknown types are reported once each.
void check_node(const ModelFile& file, const Node& node,
                std::map<std::string, import::UnknownType>& unknown, Diagnostics& problems) {
  const std::string where = fmt::format("{}: {}", file.name(), node.label());
  const KnownOperator* known = find_operator(node.domain, node.type);
  if (known == nullptr) {
    const auto type = unknown.find(node.type);
    if (type == unknown.end()) return;
    problems.add(where, "is an operator Intarsia does not have" + type->second.others(),
                 import::what_to_do(
                     node.type,
                     is_of_one_machine(node)
                         ? "it is laid out for the machine on which onnxruntime saved the model: "
                           "save it with ORT_ENABLE_EXTENDED or less"
                         : "docs/onnx.md has what there is: write the layer with these, or end the "
                           "model before it"));
    unknown.erase(type);
    return;
  }
  if (node.operator_set == 0)
    problems.add(where,
                 fmt::format("is of the domain '{}', for which the model names no operator set",
                             printable(node.domain)));
  if (node.inputs.size() < known->least_inputs || node.inputs.size() > known->most_inputs)
    problems.add(
        where, fmt::format("has {} inputs, but takes {}", node.inputs.size(),
                           known->least_inputs == known->most_inputs
                               ? fmt::format("{}", known->least_inputs)
                               : fmt::format("{} to {}", known->least_inputs, known->most_inputs)));
  for (size_t i = 0; i < std::min(known->least_inputs, node.inputs.size()); ++i)
    if (node.inputs[i].empty()) problems.add(where, fmt::format("lacks its input {}", i));
  if (node.outputs.empty()) problems.add(where, "has no output");
  for (const auto& [name, attribute] : node.attributes)
    if (!attribute.reference().empty())
      problems.add(where, fmt::format("takes its attribute '{}' from a function around it",
                                      printable(name)));
}

// Operators without operands whose attribute is the value.
void read_constant(const ModelFile& file, const Node& node, Graph& graph,
                   std::set<std::string>& made, Diagnostics& problems) {
  if (node.outputs.empty()) return;
  made.insert(node.outputs[0]);
  std::string problem = "holds neither a tensor nor numbers";
  for (const auto& [name, attribute] : node.attributes) {
    std::optional<Values> values;
    const std::vector<int64_t> integers(attribute.integers().begin(), attribute.integers().end());
    const std::vector<float> reals(attribute.reals().begin(), attribute.reals().end());
    if (name == "value") values = read_values(attribute.tensor(), file.folder(), problem);
    if (name == "value_float") values = real_values({}, {attribute.real()});
    if (name == "value_int") values = integer_values(DataType::Int64, {}, {attribute.integer()});
    if (name == "value_floats") values = real_values({attribute.reals_size()}, reals);
    if (name == "value_ints")
      values = integer_values(DataType::Int64, {attribute.integers_size()}, integers);
    if (!values) continue;
    graph.constants[node.outputs[0]] = std::move(*values);
    return;
  }
  problems.add(fmt::format("{}: {}", file.name(), node.label()), problem);
}

constexpr const char* kNotOnnx =
    "the file is not what ONNX allows (onnx.checker.check_model says more); export it again";

class Order {
 public:
  Order(const ModelFile& file, std::vector<Node> nodes, Diagnostics& problems)
      : file_(file), nodes_(std::move(nodes)), problems_(problems) {}

  // Makers first, otherwise in the order of the file.
  std::vector<Node> sorted(std::set<std::string> made) {
    for (size_t i = 0; i < nodes_.size(); ++i)
      for (const std::string& output : nodes_[i].outputs) {
        if (output.empty()) continue;
        if (made.contains(output) || !maker_.emplace(output, i).second)
          problems_.add(
              where(i),
              fmt::format("produces '{}', which another node, an input or a constant produces too",
                          printable(output)),
              kNotOnnx);
      }
    std::vector<size_t> waits(nodes_.size(), 0);
    std::map<std::string, std::vector<size_t>> readers;
    for (size_t i = 0; i < nodes_.size(); ++i)
      for (const std::string& input : nodes_[i].inputs) {
        if (input.empty() || made.contains(input)) continue;
        if (!maker_.contains(input)) {
          problems_.add(where(i), fmt::format("reads '{}', which nothing makes", printable(input)),
                        kNotOnnx);
          continue;
        }
        readers[input].push_back(i);
        ++waits[i];
      }
    std::vector<Node> result;
    std::set<size_t> ready;
    for (size_t i = 0; i < nodes_.size(); ++i)
      if (waits[i] == 0) ready.insert(i);
    while (!ready.empty()) {
      const size_t next = *ready.begin();
      ready.erase(ready.begin());
      for (const std::string& output : nodes_[next].outputs)
        if (maker_.contains(output) && maker_.at(output) == next)
          for (const size_t reader : readers[output])
            if (--waits[reader] == 0) ready.insert(reader);
      result.push_back(nodes_[next]);
    }
    for (size_t i = 0; i < nodes_.size() && result.size() < nodes_.size() && problems_.empty(); ++i)
      if (waits[i] != 0)
        problems_.add(where(i),
                      "is part of a cycle of operators, or behind one: it needs what it makes",
                      "the graph of a model runs in one direction; export it again");
    return result;
  }

 private:
  std::string where(size_t i) const {
    return fmt::format("{}: {}", file_.name(), nodes_[i].label());
  }

  const ModelFile& file_;
  const std::vector<Node> nodes_;
  Diagnostics& problems_;
  std::map<std::string, size_t> maker_;
};

}  // namespace

std::string Node::shown_name() const {
  return printable(name.empty() ? (outputs.empty() ? "" : outputs.front()) : name);
}

std::string Node::label() const {
  return fmt::format("operator {} '{}' ({}, operator set {})", index, shown_name(),
                     printable(full_type()), operator_set);
}

namespace {

// Everything but the order.
Graph list_nodes(const ModelFile& file, const format::Graph& source, int first_index,
                 std::set<std::string>& made, Diagnostics& problems) {
  Graph graph;
  for (const format::Tensor& raw : source.initialiser()) {
    std::string problem;
    std::optional<Values> values = read_values(raw, file.folder(), problem);
    if (!values)
      problems.add(fmt::format("{}: initialiser '{}'", file.name(), printable(raw.name())),
                   problem);
    else
      graph.constants[raw.name()] = std::move(*values);
    made.insert(raw.name());
  }
  std::vector<Node> listed;
  std::map<std::string, import::UnknownType> unknown;  // by type
  for (const format::Node& raw : source.node()) {
    listed.push_back(read_node(file, raw, first_index + static_cast<int>(listed.size())));
    const Node& node = listed.back();
    if (find_operator(node.domain, node.type) == nullptr) unknown[node.type].add(node.index);
  }
  for (Node& node : listed) {
    check_node(file, node, unknown, problems);
    if (node.type == "Constant" && node.domain.empty())
      read_constant(file, node, graph, made, problems);
    else if (problems.empty() && is_abbreviation(node))
      write_out(node, file.operator_set(""), graph.nodes);
    else if (problems.empty() && is_fused(node))
      write_out_fused(node, file.operator_set(""), graph.nodes);
    else
      graph.nodes.push_back(std::move(node));
  }
  return graph;
}

}  // namespace

std::vector<Node> nodes_of(const ModelFile& file) {
  std::vector<Node> nodes;
  for (const format::Node& raw : file.graph().node())
    nodes.push_back(read_node(file, raw, static_cast<int>(nodes.size())));
  return nodes;
}

Graph list_graph(const ModelFile& file, Diagnostics& problems) {
  std::set<std::string> made;
  for (const format::Named& input : file.graph().input()) made.insert(input.name());
  Graph graph = list_nodes(file, file.graph(), 0, made, problems);
  graph.nodes = Order(file, std::move(graph.nodes), problems).sorted(std::move(made));
  return graph;
}

Graph list_branch(const ModelFile& file, const format::Graph& branch, Diagnostics& problems) {
  std::set<std::string> made;
  return list_nodes(file, branch, 0, made, problems);
}

}  // namespace intarsia::onnx
