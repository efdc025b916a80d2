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

// `refusal`, with which `lowered` was not planned, and when the board's memories are too small for it, whether a budget
// helps. `lowered`: made of `partitioned` without a budget.
Diagnostics with_budget_that_fits(const Diagnostics& refusal, const tir::Module& lowered,
                                  const graph::Module& partitioned, const TargetRegistry& registry,
                                  const TargetSpec& target, const LoweringOptions& options,
                                  const MemoryMap& memory, const PlanOptions& plan_options);

}  // namespace intarsia
