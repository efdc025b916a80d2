// The memory planner alone, for a user's problem.
#pragma once

#include <string>

#include "intarsia/memory_plan.h"

namespace intarsia::plan {

// Without a capacity everything fits; with one, the planner stops at the first placement that does.
Result<FitOutcome> solve(const PlacementProblem& problem, const SearchLimits& limits);

// Why the outcome does not fit, and what would: `capacity_option` is what the user writes before a number of bytes.
Diagnostics misfit(const PlacementProblem& problem, const SearchLimits& limits,
                   const FitOutcome& outcome, const std::string& where,
                   const std::string& capacity_option);

}  // namespace intarsia::plan
