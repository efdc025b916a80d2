// Operators of a function as a function of their own.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "intarsia/graph.h"

namespace intarsia::graph {

struct CutOut {
  // Takes what its operators read of others, and gives what others, or the caller, read of theirs. Name and target are
  // empty.
  Function function;
  std::vector<TensorId> inputs, outputs;  // the same tensors in the function they were cut out of
};

class FunctionCutter {
 public:
  explicit FunctionCutter(const Function& function);

  // `nodes`: in an order in which they can run. The operators keep the variables that they work on, but for those
  // in `passed`: their values are taken and given like other tensors.
  CutOut cut(std::span<const NodeId> nodes, const std::set<int32_t>& passed = {}) const;

 private:
  const Function& function_;
  struct Readers {
    std::vector<int32_t> nodes;
    bool is_output = false;
  };
  std::vector<Readers> readers_;  // by tensor
};

}  // namespace intarsia::graph
