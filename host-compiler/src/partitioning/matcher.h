// Matches patterns in one function, whose writers and readers it looks up once.
#pragma once

#include <optional>
#include <vector>

#include "intarsia/plugin/pattern.h"

namespace intarsia::partitioning {

class Matcher {
 public:
  // Both outlive the matcher.
  Matcher(const graph::Module& module, const graph::Function& function);

  // As intarsia::match does.
  std::optional<PatternMatch> match(const Pattern& pattern, graph::NodeId root) const;

 private:
  bool match_tree(const PatternOp& op, graph::NodeId at, std::vector<graph::NodeId>& matched) const;

  const graph::Module& module_;
  const graph::Function& function_;
  std::vector<graph::NodeId> writers_;  // by tensor; invalid for inputs and constants
  std::vector<size_t> reads_;           // by tensor: operands and outputs of the function
};

}  // namespace intarsia::partitioning
