// The two policies: from what devices offer to who takes what.
#pragma once

#include <cstdint>
#include <vector>

#include "intarsia/partition.h"
#include "partitioning/cost_model.h"
#include "partitioning/offers.h"

namespace intarsia::partitioning {

// Counted, never timed: the same model gives the same result everywhere.
struct SearchLimits {
  // Placements kept after each decision: at most this many, fewer in large functions, so that the work of a
  // search has a bound that does not depend on their size.
  int64_t most_kept = 4096;
  int64_t least_kept = 64;
  int64_t most_work = int64_t{1} << 25;  // words of placements written
};

// Device per node; every node has one that can take it, pins are kept, pieces are whole.
using Assignment = std::vector<int>;

// Each device in the order of priority (owners.h) takes as much as it can.
Result<Assignment> assign_by_priority(const graph::Module& module, const graph::Function& function,
                                      const TargetRegistry& registry, const TargetSpec& target,
                                      const Offers& offers);

// The least sum of the operators' estimates, less what pairs of them save together, and of the transfers; or the priority
// policy's assignment when nothing costs less than that. Proven (`search.is_exact`) unless more partial assignments had to be told apart than the limits
// allow; then the cheapest of those that were kept, and still no worse than the priority policy's.
struct CheapestAssignment {
  Assignment assignment;
  Explanation::Search search;
};
Result<CheapestAssignment> assign_by_cost(const graph::Module& module,
                                          const graph::Function& function,
                                          const TargetRegistry& registry, const TargetSpec& target,
                                          const Offers& offers, const CostModel& model,
                                          const SearchLimits& limits = {});

// The cost both policies are judged by, and the transfers it contains: tensors, once for every device
// that reads one and did not write it.
struct AssignmentCost {
  Picoseconds time = 0, transfer_time = 0;  // of all; of it
  int64_t transfers = 0, transfer_bytes = 0;
};
AssignmentCost cost_of(const CostModel& model, const Assignment& assignment);

}  // namespace intarsia::partitioning
