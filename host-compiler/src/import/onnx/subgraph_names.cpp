#include "import/onnx/subgraph_names.h"

#include <set>

namespace intarsia::onnx {

namespace {

void collect_defined(const format::Graph& graph, std::set<std::string>& names) {
  for (const format::Named& input : graph.input()) names.insert(input.name());
  for (const format::Tensor& constant : graph.initialiser()) names.insert(constant.name());
  for (const format::Node& node : graph.node()) {
    names.insert(node.output().begin(), node.output().end());
    for (const format::Attribute& attribute : node.attribute())
      if (attribute.has_graph()) collect_defined(attribute.graph(), names);
  }
}

class Renaming {
 public:
  Renaming(std::set<std::string> defined, const std::string& suffix)
      : defined_(std::move(defined)), suffix_(suffix) {
    defined_.erase("");
  }

  void apply(format::Graph& graph) const {
    for (format::Named& input : *graph.mutable_input()) rename(*input.mutable_name());
    for (format::Named& output : *graph.mutable_output()) rename(*output.mutable_name());
    for (format::Tensor& constant : *graph.mutable_initialiser()) rename(*constant.mutable_name());
    for (format::Node& node : *graph.mutable_node()) {
      for (std::string& name : *node.mutable_input()) rename(name);
      for (std::string& name : *node.mutable_output()) rename(name);
      for (format::Attribute& attribute : *node.mutable_attribute())
        if (attribute.has_graph()) apply(*attribute.mutable_graph());
    }
  }

 private:
  void rename(std::string& name) const {
    if (defined_.contains(name)) name += suffix_;
  }

  std::set<std::string> defined_;
  const std::string& suffix_;
};

}  // namespace

format::Graph with_suffix(const format::Graph& graph, const std::string& suffix) {
  format::Graph renamed = graph;
  if (suffix.empty()) return renamed;
  std::set<std::string> defined;
  collect_defined(graph, defined);
  Renaming(std::move(defined), suffix).apply(renamed);
  return renamed;
}

}  // namespace intarsia::onnx
