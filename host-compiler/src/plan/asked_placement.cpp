#include "plan/asked_placement.h"

#include <string>

#include <fmt/format.h>

namespace intarsia::plan {

// Without a capacity everything fits; with one, the planner stops at the first placement that does.
Result<FitOutcome> solve(const PlacementProblem& problem, const plan::SearchLimits& limits) {
  if (problem.capacity) return plan::fit_in_capacity(problem, limits);
  INTARSIA_TRY(PlacementSolution best, plan::minimise_peak(problem, limits));
  return FitOutcome{FitStatus::Fits, std::move(best)};
}

Diagnostics misfit(const PlacementProblem& problem, const SearchLimits& limits,
                   const FitOutcome& outcome, const std::string& where,
                   const std::string& capacity_option) {
  const PlacementSolution& best = outcome.best;
  const std::string hint =
      fmt::format("the best placement found needs {}{}", capacity_option, best.peak);
  if (outcome.status == FitStatus::BudgetEnded)
    return Diagnostics(
        where,
        fmt::format(
            "the search ended after {} steps without a placement in {} bytes (lower bound {})",
            limits.steps, *problem.capacity, best.lower_bound),
        hint);
  if (best.bound_from_search)
    return Diagnostics(where,
                       fmt::format("does not fit in {} bytes: the search tried every placement and "
                                   "none needs less than {}",
                                   *problem.capacity, best.lower_bound),
                       hint);
  return Diagnostics(
      where,
      fmt::format("does not fit in {} bytes: {} bytes are needed at once (lower bound)",
                  *problem.capacity, best.lower_bound),
      hint);
}

}  // namespace intarsia::plan
