#include "intarsia/npu/constant_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "slice_search.h"

namespace intarsia::npu {

ConstantPlan plan_constants(ConstantDraft& draft, PrefetchWindows& prefetch,
                            std::span<const int64_t> budgets, const ConstantSearch& search) {
  const std::shared_ptr<const void> whole = draft.save();
  std::shared_ptr<const void> chosen = whole;
  ConstantPlan best;
  double best_score = std::numeric_limits<double>::infinity();
  for (const int64_t budget : budgets) {
    draft.restore(whole);
    SliceSearch slices(draft, prefetch, budget);
    PrefetchPlan plan = search.slice_rounds == 0 ? slices.of_whole() : slices.quick();
    const double memory = static_cast<double>(std::max(plan.peak_bytes, search.least_bytes)) /
                          static_cast<double>(std::max<int64_t>(search.least_bytes, 1));
    const double score = plan.cycles * std::pow(memory, 1 / search.memory_per_time);
    if (score >= best_score) continue;
    best_score = score;
    best = {std::move(plan), budget};
    chosen = draft.save();
  }
  draft.restore(chosen);
  if (search.slice_rounds > 0)
    best.prefetch = SliceSearch(draft, prefetch, best.budget)
                        .improved(std::move(best.prefetch), search.slice_rounds);
  return best;
}

}  // namespace intarsia::npu
