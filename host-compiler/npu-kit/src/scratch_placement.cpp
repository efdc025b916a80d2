#include "intarsia/npu/scratch_placement.h"

#include "intarsia/check.h"
#include "intarsia/memory_plan.h"

namespace intarsia::npu {
namespace {

plan::PlacementProblem problem_of(const std::vector<ScratchRequest>& requests, int64_t alignment) {
  plan::PlacementProblem problem;
  for (const ScratchRequest& request : requests)
    problem.buffers.push_back(
        {"", request.begin, request.end + 1, request.bytes, alignment, std::nullopt});
  return problem;
}

int64_t take(const plan::PlacementSolution& solution, std::vector<ScratchRequest>& requests) {
  for (size_t i = 0; i < requests.size(); ++i) requests[i].address = solution.offsets[i];
  return solution.peak;
}

}  // namespace

std::optional<int64_t> place_scratch(std::vector<ScratchRequest>& requests, int64_t limit,
                                     int64_t alignment, int64_t steps) {
  plan::PlacementProblem problem = problem_of(requests, alignment);
  const Result<plan::PlacementSolution> quick = plan::place_greedily(problem);
  INTARSIA_CHECK(quick.ok(), "requests have sizes and times");
  if (quick->peak <= limit) return take(*quick, requests);
  if (steps == 0 || quick->lower_bound > limit) return std::nullopt;
  problem.capacity = limit;
  const Result<plan::FitOutcome> fit = plan::fit_in_capacity(problem, {steps, std::nullopt});
  INTARSIA_CHECK(fit.ok(), "requests have sizes and times");
  if (fit->status != plan::FitStatus::Fits) return std::nullopt;
  return take(fit->best, requests);
}

int64_t place_scratch_low(std::vector<ScratchRequest>& requests, int64_t alignment, int64_t steps) {
  const Result<plan::PlacementSolution> solution =
      plan::minimise_peak(problem_of(requests, alignment), {steps, std::nullopt});
  INTARSIA_CHECK(solution.ok(), "requests have sizes and times");
  return take(*solution, requests);
}

}  // namespace intarsia::npu
