#include <algorithm>

#include "intarsia/pattern.h"

namespace intarsia {
namespace {

using graph::Function;
using graph::Node;
using graph::NodeId;
using graph::TensorId;

// The node that writes `tensor`, or none for inputs and constants.
NodeId producer(const Function& function, TensorId tensor) {
  for (size_t i = 0; i < function.nodes.size(); ++i) {
    const auto& outputs = function.nodes[i].outputs;
    if (std::find(outputs.begin(), outputs.end(), tensor) != outputs.end())
      return NodeId{static_cast<int32_t>(i)};
  }
  return NodeId{};
}

size_t reader_count(const Function& function, TensorId tensor) {
  size_t readers = 0;
  for (const Node& node : function.nodes)
    readers += static_cast<size_t>(std::count(node.inputs.begin(), node.inputs.end(), tensor));
  readers +=
      static_cast<size_t>(std::count(function.outputs.begin(), function.outputs.end(), tensor));
  return readers;
}

bool match_tree(const PatternOp& op, const Function& function, NodeId at,
                std::vector<NodeId>& matched) {
  const Node& node = function.nodes.at(at.at());
  if (node.kind != op.kind) return false;
  matched.push_back(at);
  for (size_t i = 0; i < op.operands.size(); ++i) {
    if (!op.operands[i]) continue;
    if (i >= node.inputs.size() || !node.inputs[i].valid()) return false;
    const NodeId below = producer(function, node.inputs[i]);
    if (!below.valid() || function.nodes[below.at()].outputs.size() != 1 ||
        reader_count(function, node.inputs[i]) != 1)
      return false;
    if (!match_tree(*op.operands[i], function, below, matched)) return false;
  }
  return true;
}

}  // namespace

std::optional<PatternMatch> match(const Pattern& pattern, const graph::Module& module,
                                  const Function& function, NodeId root) {
  std::vector<NodeId> matched;
  if (!match_tree(pattern.root, function, root, matched)) return std::nullopt;
  return PatternMatch{module, function, std::move(matched)};
}

}  // namespace intarsia
