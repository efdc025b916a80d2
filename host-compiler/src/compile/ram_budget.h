// Lowering and planning within a number of bytes: what needs too much RAM at once runs by row tiles.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "intarsia/compiled_model.h"
#include "intarsia/graph.h"
#include "intarsia/plan.h"
#include "intarsia/plugin/target_kind.h"
#include "intarsia/plugin/tir.h"

namespace intarsia {

struct PlannedModel {
  tir::Module lowered;
  Plan plan;
  std::optional<RamBudgetOutcome> ram_budget;  // when there is one
};

// Lowers and plans a module within options.ram_budget: operator by operator if that is enough, else the cheapest lowering by
// tiles that stays within. Refuses a budget that was not met, with the least that was found and the operator that
// decides it. `options.memory` is `memory`.
Result<PlannedModel> lower_within_budget(const graph::Module& partitioned,
                                         const TargetRegistry& registry, const TargetSpec& target,
                                         const LoweringOptions& options, const MemoryMap& memory,
                                         const PlanOptions& plan_options);

// What becomes of a model that the board's memories refused with `refusal`: its refusal, with what a budget would do about it
// where it is for want of RAM. `by_row_tiles`: the model as that budget makes it, where it fits then.
// `lowered`: made of `partitioned` without a budget.
Result<PlannedModel> fit_or_refuse(const Diagnostics& refusal, const tir::Module& lowered,
                                   bool by_row_tiles, const graph::Module& partitioned,
                                   const TargetRegistry& registry, const TargetSpec& target,
                                   const LoweringOptions& options, const MemoryMap& memory,
                                   const PlanOptions& plan_options);

// Of a plan that fits without a budget: what its memories have is one. None where one of them has no limit.
std::optional<RamBudgetOutcome> within_memory(const Plan& plan);

}  // namespace intarsia
