// The two policies: from what members offer to who takes what.
#pragma once

#include <vector>

#include "partition/offers.h"

namespace intarsia::partitioning {

// Member per node; every node has one that can take it, pins are kept, pieces are whole.
using Assignment = std::vector<int>;

// Each member in the order of priority (owners.h) takes as much as it can.
Result<Assignment> assign_by_priority(const graph::Module& module, const graph::Function& function,
                                      const TargetRegistry& registry, const TargetSpec& target,
                                      const Offers& offers);

// The least sum of operator estimates and transfers. Exact while the number of distinct placements
// of the live tensors stays under a bound (chains and residual networks do), best-first beyond it.
Result<Assignment> assign_by_cost(const graph::Module& module, const graph::Function& function,
                                  const TargetRegistry& registry, const TargetSpec& target,
                                  const Offers& offers);

// The cost both policies are judged by, in microseconds, and the transfers it contains.
struct AssignmentCost {
  double microseconds = 0;
  int64_t transfers = 0, transfer_bytes = 0;
};
AssignmentCost cost_of(const graph::Function& function, const TargetRegistry& registry,
                       const TargetSpec& target, const Offers& offers,
                       const Assignment& assignment);

// Microseconds to move `bytes` from one member to another; 0 when they are the same.
double transfer_cost(const TargetRegistry& registry, const TargetSpec& target, int from, int to,
                     int64_t bytes);

}  // namespace intarsia::partitioning
