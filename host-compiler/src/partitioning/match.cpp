#include "partitioning/matcher.h"

namespace intarsia {
namespace partitioning {

using graph::Function;
using graph::Node;
using graph::NodeId;
using graph::TensorId;

Matcher::Matcher(const graph::Module& module, const Function& function)
    : module_(module),
      function_(function),
      writers_(function.tensors.size()),
      reads_(function.tensors.size(), 0) {
  for (size_t n = 0; n < function.nodes.size(); ++n) {
    const Node& node = function.nodes[n];
    for (const TensorId id : node.inputs)
      if (id.valid()) ++reads_[id.at()];
    for (const TensorId id : node.outputs)  // the first that writes a variable
      if (id.valid() && !writers_[id.at()].valid())
        writers_[id.at()] = NodeId{static_cast<int32_t>(n)};
  }
  for (const TensorId id : function.outputs) ++reads_[id.at()];
}

bool Matcher::match_tree(const PatternOp& op, NodeId at, std::vector<NodeId>& matched) const {
  const Node& node = function_.nodes.at(at.at());
  if (node.kind != op.kind) return false;
  matched.push_back(at);
  for (size_t i = 0; i < op.operands.size(); ++i) {
    if (!op.operands[i]) continue;
    if (i >= node.inputs.size() || !node.inputs[i].valid()) return false;
    const NodeId below = writers_[node.inputs[i].at()];
    if (!below.valid() || function_.nodes[below.at()].outputs.size() != 1 ||
        reads_[node.inputs[i].at()] != 1)
      return false;
    if (!match_tree(*op.operands[i], below, matched)) return false;
  }
  return true;
}

std::optional<PatternMatch> Matcher::match(const Pattern& pattern, NodeId root) const {
  std::vector<NodeId> matched;
  if (!match_tree(pattern.root, root, matched)) return std::nullopt;
  return PatternMatch{module_, function_, std::move(matched)};
}

}  // namespace partitioning

std::optional<PatternMatch> match(const Pattern& pattern, const graph::Module& module,
                                  const graph::Function& function, graph::NodeId root) {
  return partitioning::Matcher(module, function).match(pattern, root);
}

}  // namespace intarsia
