// Operators that the stack does not support, written in operators that it does. What is exact in TFLite's
// arithmetic stays exact: a rewriting moves bytes, or computes each result by one accumulation and one rounding.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "intarsia/graph.h"

namespace intarsia::targets::ethos_n {

// A module of one function. Its operands and results are tensors of the operator, byte for byte: shapes may differ.
struct Rewriting {
  graph::Module module;
  std::vector<graph::TensorId> operands,
      results;             // of the operator, in the order of the function's inputs and outputs
  bool may_go_on = false;  // what it consists of may have to be rewritten in turn

  const graph::Function& function() const { return module.functions.at(0); }
};

// The ways to write it, the cheapest first; none: not known.
using Way = std::function<std::optional<Rewriting>()>;
std::vector<Way> ways_to_rewrite(const graph::Module& module, const graph::Function& function,
                                 const graph::Node& node);

}  // namespace intarsia::targets::ethos_n
