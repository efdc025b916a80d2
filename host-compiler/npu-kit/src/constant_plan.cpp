#include "intarsia/npu/constant_plan.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

namespace intarsia::npu {
namespace {

class SliceSearch {
 public:
  SliceSearch(ConstantDraft& draft, PrefetchWindows& prefetch, int64_t budget)
      : draft_(draft), prefetch_(prefetch), budget_(budget) {}

  PrefetchPlan run(int rounds) {
    plan_ = prefetch_.plan(draft_.prefetch_units(), budget_);
    if (rounds == 0) return std::move(plan_);
    for (const int32_t count : {2, 4}) try_change([&] { draft_.slice_all(count); });
    for (int round = 0; round < rounds; ++round) {
      bool better = false;
      for (size_t piece = 0; piece < draft_.pieces(); ++piece)
        if (draft_.can_slice(piece)) better = try_slices(piece) || better;
      if (!better) break;
    }
    return std::move(plan_);
  }

 private:
  // The first number of slices that helps.
  bool try_slices(size_t piece) {
    const size_t now = draft_.slices(piece);
    size_t tried = now;
    for (const int32_t count : {1, 2, 3, 4, 6}) {
      const size_t slices = draft_.slices_for(piece, count);
      if (slices == tried || slices == now) continue;
      tried = slices;
      if (try_change([&] { draft_.slice(piece, count); })) return true;
    }
    return false;
  }

  // Keeps it when it makes the plan better.
  bool try_change(const std::function<void()>& change) {
    const std::shared_ptr<const void> before = draft_.save();
    const double growth = draft_.constants_growth();
    change();
    const double larger = draft_.constants_growth() / growth;
    PrefetchPlan other = prefetch_.plan(draft_.prefetch_units(), budget_);
    if (other.cycles * larger < plan_.cycles) {
      plan_ = std::move(other);
      return true;
    }
    draft_.restore(before);
    return false;
  }

  ConstantDraft& draft_;
  PrefetchWindows& prefetch_;
  int64_t budget_;
  PrefetchPlan plan_;
};

}  // namespace

ConstantPlan plan_constants(ConstantDraft& draft, PrefetchWindows& prefetch,
                            std::span<const int64_t> budgets, const ConstantSearch& search) {
  const std::shared_ptr<const void> whole = draft.save();
  std::shared_ptr<const void> chosen = whole;
  ConstantPlan best;
  double best_score = std::numeric_limits<double>::infinity();
  for (const int64_t budget : budgets) {
    draft.restore(whole);
    PrefetchPlan plan = SliceSearch(draft, prefetch, budget).run(search.slice_rounds);
    const double memory = static_cast<double>(std::max(plan.peak_bytes, search.least_bytes)) /
                          static_cast<double>(std::max<int64_t>(search.least_bytes, 1));
    const double score = plan.cycles * std::pow(memory, 1 / search.memory_per_time);
    if (score >= best_score) continue;
    best_score = score;
    best = {std::move(plan), budget};
    chosen = draft.save();
  }
  draft.restore(chosen);
  return best;
}

}  // namespace intarsia::npu
