// The order in which the search of policy cost decides on operators.
#pragma once

#include <vector>

#include "partitioning/cost_model.h"

namespace intarsia::partitioning {

// All nodes, each once. Not the order they run in: what matters is that few decisions have to be remembered at a
// time. A node whose operands come from many branches is decided before them, say, so that each branch is
// done with once it is decided.
std::vector<int> decision_order(const CostModel& model);

}  // namespace intarsia::partitioning
