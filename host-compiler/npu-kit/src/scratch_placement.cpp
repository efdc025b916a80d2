#include "intarsia/npu/scratch_placement.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "intarsia/memory_plan.h"
#include "intarsia/plugin/check.h"
#include "intarsia/plugin/rounding.h"

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
  // As a rule what does not fit is too much at once.
  if (plan::live_bound(problem) > limit) return std::nullopt;
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

std::optional<int64_t> spread_scratch(std::vector<ScratchRequest>& requests, int64_t limit,
                                      int64_t alignment) {
  constexpr int64_t kNever = -1, kTaken = std::numeric_limits<int64_t>::max();
  std::vector<size_t> order(requests.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return requests[a].begin < requests[b].begin; });
  std::vector<ScratchRequest> placed;
  // The last step that used any of these bytes before the request begins.
  const auto last_use = [&](const ScratchRequest& request, int64_t address) {
    int64_t last = kNever;
    for (const ScratchRequest& other : placed)
      if (address < other.address + other.bytes && other.address < address + request.bytes)
        last = std::max(last, other.end >= request.begin ? kTaken : other.end);
    return last;
  };
  std::vector<int64_t> addresses(requests.size(), 0);
  int64_t end = 0;
  for (const size_t i : order) {
    ScratchRequest request = requests[i];
    int64_t least = kTaken;
    const auto offer = [&](int64_t address) {
      if (address + request.bytes > limit) return;
      const int64_t last = last_use(request, address);
      if (last > least || (last == least && address >= request.address)) return;
      least = last;
      request.address = address;
    };
    request.address = 0;
    if (limit >= request.bytes) least = last_use(request, 0);
    for (const ScratchRequest& other : placed)
      offer(round_up(other.address + other.bytes, alignment));
    if (least == kTaken) return std::nullopt;
    addresses[i] = request.address;
    end = std::max(end, request.address + request.bytes);
    placed.push_back(request);
  }
  for (size_t i = 0; i < requests.size(); ++i) requests[i].address = addresses[i];
  return end;
}

int64_t place_scratch_low(std::vector<ScratchRequest>& requests, int64_t alignment, int64_t steps) {
  const Result<plan::PlacementSolution> solution =
      plan::minimise_peak(problem_of(requests, alignment), {steps, std::nullopt});
  INTARSIA_CHECK(solution.ok(), "requests have sizes and times");
  return take(*solution, requests);
}

}  // namespace intarsia::npu
