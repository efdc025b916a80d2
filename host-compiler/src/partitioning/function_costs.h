// What the devices of a target say that operators of a function cost, alone and together.
#pragma once

#include <span>

#include "graph/cut_out.h"
#include "intarsia/plugin/target_kind.h"

namespace intarsia::partitioning {

class FunctionCosts {
 public:
  FunctionCosts(const graph::Module& module, const graph::Function& function,
                const TargetRegistry& registry, const TargetSpec& target,
                const LoweringOptions& options);

  // Of the operators as one function of the device; in an order in which they can run.
  CostEstimate of(size_t device, std::span<const graph::NodeId> nodes) const;

 private:
  const graph::Module& module_;
  const TargetRegistry& registry_;
  const TargetSpec& target_;
  const LoweringOptions& options_;
  graph::FunctionCutter cutter_;
};

}  // namespace intarsia::partitioning
