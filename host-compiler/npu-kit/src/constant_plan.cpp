#include "intarsia/npu/constant_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "slice_search.h"

namespace intarsia::npu {
namespace {

// What slices gain of the plan of a large network, at most: measured, it is 8 %. A size of memory that is behind the best by more
// before anything is cut is not cut at all, for cutting takes most of the time of a search. Small networks gain anything, and
// take no time.
constexpr double kMostGain = 1.1;
constexpr size_t kLarge = 64;  // pieces
// And what a closer look gains of a plan that has been cut once.
constexpr double kMostGainOfCut = 1.02;

}  // namespace

double plan_score(const PrefetchPlan& plan, const ConstantSearch& search) {
  const double memory = static_cast<double>(std::max(plan.peak_bytes, search.least_bytes)) /
                        static_cast<double>(std::max<int64_t>(search.least_bytes, 1));
  return plan.cycles * std::pow(memory, 1 / search.memory_per_time);
}

ConstantPlan plan_constants(ConstantDraft& draft, PrefetchWindows& prefetch,
                            std::span<const int64_t> budgets, const ConstantSearch& search) {
  const std::shared_ptr<const void> whole = draft.save();
  std::shared_ptr<const void> chosen = whole;
  ConstantPlan best;
  double best_score = std::numeric_limits<double>::infinity();
  const bool is_large = draft.pieces() >= kLarge;
  for (const int64_t budget : budgets) {
    draft.restore(whole);
    SliceSearch slices(draft, prefetch, budget);
    PrefetchPlan plan = slices.of_whole();
    const double to_beat =
        is_large ? std::min(best_score, search.score_to_beat) : search.score_to_beat;
    if (search.slice_rounds > 0 && plan_score(plan, search) < kMostGain * to_beat)
      plan = slices.quick(std::move(plan));
    const double score = plan_score(plan, search);
    if (score >= best_score) continue;
    best_score = score;
    best = {std::move(plan), budget};
    chosen = draft.save();
  }
  draft.restore(chosen);
  if (search.slice_rounds > 0 && best_score < kMostGainOfCut * search.score_to_beat)
    best.prefetch = SliceSearch(draft, prefetch, best.budget)
                        .improved(std::move(best.prefetch), search.slice_rounds);
  return best;
}

}  // namespace intarsia::npu
