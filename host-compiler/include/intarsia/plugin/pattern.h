// Patterns: what a device of a composite target can take, each with a check that gives its reason
// when it refuses. One mechanism serves accelerators (a list of narrow patterns) and ordinary
// devices (one pattern per operator).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "intarsia/graph.h"

namespace intarsia {

// A tree of operators: the root's operands may themselves be operators. An absent operand pattern
// matches anything. `pad -> conv2d` is {Conv2d, {{PatternOp{Pad}}}}.
struct PatternOp {
  graph::OpKind kind;
  std::vector<std::optional<PatternOp>> operands = {};
};

// Nodes that matched, root first, then operands depth first: the order of the pattern's operators.
struct PatternMatch {
  const graph::Module& module;
  const graph::Function& function;
  std::vector<graph::NodeId> nodes;

  // The i-th node that matched, and its operands and first result.
  const graph::Node& node(size_t i = 0) const { return function.nodes.at(nodes.at(i).at()); }
  const graph::Tensor& input(size_t operand, size_t i = 0) const {
    return function.tensor(node(i).inputs.at(operand));
  }
  const graph::Tensor& output(size_t i = 0) const { return function.tensor(node(i).outputs.at(0)); }
};

// Operators that a device runs as one piece, and when it does not.
struct Pattern {
  std::string name;  // "conv2d", "pad+conv2d"
  PatternOp root;
  // Null when the match can be taken, else the constraint that is not met, in words and with the
  // values: "stride 4 is above 3". An empty function takes every match.
  std::function<std::optional<std::string>(const PatternMatch&)> refuses;
  // How the device runs it when that is not what the operator says by itself, for `explain`.
  std::string note = {};
};

// Matches `pattern` with its root at `root`. Operators below the root must have no other reader and
// not be outputs of the function, since the match becomes one indivisible piece.
std::optional<PatternMatch> match(const Pattern& pattern, const graph::Module& module,
                                  const graph::Function& function, graph::NodeId root);

}  // namespace intarsia
