#include <map>

#include <fmt/format.h>

#include "packaging/report_plan.h"

namespace intarsia::packaging {
namespace {

using graph::TensorId;

std::string tensor_text(const graph::Tensor& tensor) {
  return fmt::format("{}[{}]", to_string(tensor.type), fmt::join(tensor.shape, ","));
}

// Which operator makes a tensor; empty: the application.
using Makers = std::map<int32_t, std::string>;

class GraphWriter {
 public:
  GraphWriter(const graph::Module& module, Report& report) : module_(module), report_(report) {}

  void entry(const graph::Function& function) {
    Makers makers;
    for (const graph::Node& node : function.nodes) {
      const graph::Function* region = nullptr;
      if (node.kind == graph::OpKind::Call)
        region = module_.find(node.attrs<graph::CallAttrs>().callee);
      if (region == nullptr) {
        add_node(function, node, function, makers);
        continue;
      }
      Makers inside;
      for (size_t i = 0; i < region->inputs.size() && i < node.inputs.size(); ++i)
        if (const auto maker = makers.find(node.inputs[i].index); maker != makers.end())
          inside[region->inputs[i].index] = maker->second;
      for (const graph::Node& inner : region->nodes) add_node(*region, inner, *region, inside);
      for (size_t i = 0; i < region->outputs.size() && i < node.outputs.size(); ++i)
        if (const auto maker = inside.find(region->outputs[i].index); maker != inside.end())
          makers[node.outputs[i].index] = maker->second;
    }
    for (const TensorId id : function.outputs)
      if (const auto maker = makers.find(id.index); maker != makers.end())
        add_edge(maker->second, "", function.tensor(id));
  }

 private:
  void add_node(const graph::Function& function, const graph::Node& node,
                const graph::Function& region, Makers& makers) {
    report_.graph.push_back({node.name, std::string(graph::to_string(node.kind)), region.target,
                             region.target.empty() ? "" : region.name, shapes_of(function, node)});
    for (const TensorId id : node.inputs) {
      // State is no edge: it would lead back.
      if (!id.valid() || function.tensor(id).constant.valid() || function.tensor(id).variable)
        continue;
      const auto maker = makers.find(id.index);
      add_edge(maker == makers.end() ? "" : maker->second, node.name, function.tensor(id));
    }
    for (const TensorId id : node.outputs) makers[id.index] = node.name;
  }

  void add_edge(const std::string& from, const std::string& to, const graph::Tensor& tensor) {
    report_.edges.push_back({from, to, tensor.name, tensor.bytes()});
  }

  const graph::Module& module_;
  Report& report_;
};

}  // namespace

std::string shapes_of(const graph::Function& function, const graph::Node& node) {
  std::string text;
  for (const TensorId id : node.inputs)
    if (id.valid() && !function.tensor(id).constant.valid())
      text += (text.empty() ? "" : ", ") + tensor_text(function.tensor(id));
  for (size_t i = 0; i < node.outputs.size(); ++i)
    text += (i == 0 ? (text.empty() ? "-> " : " -> ") : ", ") +
            tensor_text(function.tensor(node.outputs[i]));
  return text;
}

void add_graph(const graph::Module& partitioned, Report& report) {
  GraphWriter(partitioned, report).entry(partitioned.entry_function());
}

}  // namespace intarsia::packaging
