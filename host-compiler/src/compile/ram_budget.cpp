#include "compile/ram_budget.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "lowering/lower.h"
#include "plan/fullest_step.h"
#include "plan/lifetimes.h"

namespace intarsia {
namespace {

// The lowering knows the bytes of buffers, not what placing them wastes: it is asked for less until the
// plan is small enough. Few models need a second question.
constexpr int kMostQuestions = 8;

// Of all memories that can be written; none where one has no limit.
std::optional<int64_t> bytes_of(const MemoryMap& memory) {
  int64_t bytes = 0;
  for (const MemoryPool& pool : memory.pools) {
    if (pool.read_only) continue;
    if (pool.size == 0) return std::nullopt;
    bytes += pool.size;
  }
  return bytes;
}

int64_t peak_of(const Plan& plan) {
  int64_t bytes = 0;
  for (size_t p = 0; p < plan.use.size(); ++p)
    if (!plan.memory.pools[p].read_only) bytes += plan.use[p].peak;
  return bytes;
}

// What runs at the step at which most bytes are in use.
std::string deciding_operator(const PlannedModel& model) {
  const tir::Func* func = plan::function_at(model.lowered, plan::fullest_step(model.plan).step);
  if (func == nullptr) return model.lowered.entry;
  return func->node.empty() ? func->name : func->node;
}

// A lowering with its plan, which is for memories without limits where the board's are too small.
struct Attempt {
  PlannedModel model;
  std::optional<Diagnostics> too_small;  // why the board's memories do not do
};

struct Planner {
  const graph::Module& partitioned;
  const TargetRegistry& registry;
  const TargetSpec& target;
  const LoweringOptions& options;
  const MemoryMap& memory;
  const PlanOptions& plan_options;

  Result<Attempt> with(std::optional<int64_t> ram_budget) const {
    LoweringOptions asked = options;
    asked.ram_budget = ram_budget;
    Attempt attempt;
    INTARSIA_TRY(attempt.model.lowered, lower(partitioned, registry, target, asked));
    Result<Plan> plan = plan_memory(attempt.model.lowered, memory, plan_options);
    if (!plan.ok()) {
      attempt.too_small = plan.error();
      plan = plan_memory(attempt.model.lowered, without_limits(), plan_options);
      if (!plan.ok()) return plan.error();  // it was not for want of RAM
    }
    attempt.model.plan = std::move(plan).value();
    return attempt;
  }

  MemoryMap without_limits() const {
    MemoryMap roomy = memory;
    for (MemoryPool& pool : roomy.pools)
      if (!pool.read_only) pool.size = 0;
    return roomy;
  }
};

std::vector<std::string> tiled_in(const tir::Module& module) {
  std::vector<std::string> tiled;
  for (const tir::Func& func : module.funcs)
    if (func.tiled) tiled.push_back(func.origin);
  return tiled;
}

// The best that tiles can do: a model within the budget, or the nearest that was found.
struct Tiled {
  Attempt attempt;
  bool within = false;
};

Result<Tiled> within_budget(const Planner& planner, int64_t budget) {
  std::optional<int64_t> before;
  int64_t asked = budget;
  for (int question = 1;; ++question) {
    const bool is_last = question == kMostQuestions || asked == 0;
    INTARSIA_TRY(Attempt attempt, planner.with(is_last ? 0 : asked));
    std::vector<std::string> tiled = tiled_in(attempt.model.lowered);
    if (tiled.empty()) before = peak_of(attempt.model.plan);
    if (!before) {
      INTARSIA_TRY(Attempt whole, planner.with(std::nullopt));
      before = peak_of(whole.model.plan);
      if (*before <= budget && !whole.too_small) {  // the plan shares more than the lowering knew
        attempt = std::move(whole);
        tiled.clear();
      }
    }
    const int64_t peak = peak_of(attempt.model.plan);
    const bool within = peak <= budget && !attempt.too_small;
    if (within) attempt.model.ram_budget = {budget, *before, peak, std::move(tiled)};
    if (within || is_last) return Tiled{std::move(attempt), within};
    // What several memories together have room for need not fit into each: an eighth less each time.
    const int64_t too_much = std::max(peak - budget, attempt.too_small ? asked / 8 + 1 : 0);
    asked = std::max<int64_t>(0, asked - too_much);
  }
}

// What row tiles do about a refusal: a model that fits the board, or the refusal with the least that was found.
struct Remedy {
  std::optional<Tiled> tiled;  // only where row tiles make a difference
  int64_t budget = 0;
  Diagnostics refusal;
};

Remedy remedy_of(const Planner& planner, const Diagnostics& too_small) {
  const std::optional<int64_t> budget = bytes_of(planner.memory);
  if (!budget || too_small.items().size() != 1) return {{}, 0, too_small};
  Result<Tiled> tiled = within_budget(planner, *budget);
  if (!tiled.ok() || tiled_in(tiled.value().attempt.model.lowered).empty())
    return {{}, *budget, too_small};
  const Diagnostic& refusal = too_small.items().front();
  const int64_t peak = peak_of(tiled.value().attempt.model.plan);
  const std::string remedy =
      tiled.value().within
          ? fmt::format("--ram-budget {} computes by row tiles and fits, in {} bytes; else {}",
                        *budget, peak, refusal.hint)
          : fmt::format("{}; computed by row tiles (--ram-budget) the least found is {} bytes",
                        refusal.hint, peak);
  return {std::move(tiled).value(), *budget, Diagnostics(refusal.where, refusal.what, remedy)};
}

}  // namespace

Result<PlannedModel> lower_within_budget(const graph::Module& partitioned,
                                         const TargetRegistry& registry, const TargetSpec& target,
                                         const LoweringOptions& options, const MemoryMap& memory,
                                         const PlanOptions& plan_options) {
  const Planner planner{partitioned, registry, target, options, memory, plan_options};
  const int64_t budget = *options.ram_budget;
  INTARSIA_TRY(Tiled tiled, within_budget(planner, budget));
  if (tiled.within) return std::move(tiled.attempt.model);
  const int64_t peak = peak_of(tiled.attempt.model.plan);
  if (peak <= budget) return *tiled.attempt.too_small;
  return Diagnostics(fmt::format("{}: RAM budget of {} bytes", partitioned.name, budget),
                     fmt::format("cannot be met: the least found is {} bytes, which '{}' decides",
                                 peak, deciding_operator(tiled.attempt.model)),
                     fmt::format("--ram-budget {}", peak));
}

Result<PlannedModel> fit_or_refuse(const Diagnostics& refusal, const tir::Module& lowered,
                                   bool by_row_tiles, const graph::Module& partitioned,
                                   const TargetRegistry& registry, const TargetSpec& target,
                                   const LoweringOptions& options, const MemoryMap& memory,
                                   const PlanOptions& plan_options) {
  const Planner planner{partitioned, registry, target, options, memory, plan_options};
  // Else it was not for want of RAM.
  if (!plan_memory(lowered, planner.without_limits(), plan_options).ok()) return refusal;
  Remedy remedy = remedy_of(planner, refusal);
  if (by_row_tiles && remedy.tiled && remedy.tiled->within)
    return std::move(remedy.tiled->attempt.model);
  return std::move(remedy.refusal);
}

std::optional<RamBudgetOutcome> within_memory(const Plan& plan) {
  const std::optional<int64_t> bytes = bytes_of(plan.memory);
  if (!bytes) return std::nullopt;
  const int64_t peak = peak_of(plan);
  return RamBudgetOutcome{*bytes, peak, peak, {}};
}

}  // namespace intarsia
