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
// By how much a size of memory that is behind another where all pieces are cut alike comes to be better where each is cut by itself.
constexpr double kMostGainOfEach = 1.005;
// And what a closer look gains of a plan that has been cut once.
constexpr double kMostGainOfCut = 1.02;

// The draft with all pieces alike, within one size of memory.
struct Alike {
  SliceSearch slices;
  ConstantPlan plan;
  std::shared_ptr<const void> draft;
  double score = 0;
};

}  // namespace

double plan_score(const PrefetchPlan& plan, const ConstantSearch& search) {
  const double memory = static_cast<double>(std::max(plan.peak_bytes, search.least_bytes)) /
                        static_cast<double>(std::max<int64_t>(search.least_bytes, 1));
  return plan.cycles * std::pow(memory, 1 / search.memory_per_time);
}

ConstantPlan plan_constants(ConstantDraft& draft, PrefetchWindows& prefetch,
                            std::span<const int64_t> budgets, const ConstantSearch& search) {
  const std::shared_ptr<const void> whole = draft.save();
  const bool is_large = draft.pieces() >= kLarge, cuts = search.slice_rounds > 0;
  std::vector<Alike> sizes;
  double best_alike = std::numeric_limits<double>::infinity();
  for (const int64_t budget : budgets) {
    draft.restore(whole);
    SliceSearch slices(draft, prefetch, budget);
    PrefetchPlan plan = slices.of_whole();
    const double to_beat =
        is_large ? std::min(best_alike, search.score_to_beat) : search.score_to_beat;
    if (cuts && plan_score(plan, search) < kMostGain * to_beat)
      plan = slices.all_alike(std::move(plan));
    const double score = plan_score(plan, search);
    best_alike = std::min(best_alike, score);
    sizes.push_back({std::move(slices), {std::move(plan), budget}, draft.save(), score});
  }
  const double to_beat = kMostGainOfEach * std::min(best_alike, search.score_to_beat);
  const Alike* best = nullptr;
  for (Alike& size : sizes) {
    if (cuts &&
        (is_large ? size.score <= to_beat : size.score < kMostGain * search.score_to_beat)) {
      draft.restore(size.draft);
      size.plan.prefetch = size.slices.each_once(std::move(size.plan.prefetch));
      size.score = plan_score(size.plan.prefetch, search);
      size.draft = draft.save();
    }
    if (best == nullptr || size.score < best->score) best = &size;
  }
  draft.restore(best->draft);
  if (!search.looks_closer || best->score >= kMostGainOfCut * search.score_to_beat)
    return best->plan;
  return looked_at_closer(draft, prefetch, best->plan, search);
}

ConstantPlan looked_at_closer(ConstantDraft& draft, PrefetchWindows& prefetch, ConstantPlan plan,
                              const ConstantSearch& search) {
  if (search.slice_rounds > 0)
    plan.prefetch = SliceSearch(draft, prefetch, plan.budget)
                        .improved(std::move(plan.prefetch), search.slice_rounds);
  return plan;
}

}  // namespace intarsia::npu
