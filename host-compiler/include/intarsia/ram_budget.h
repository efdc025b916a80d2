// Lowering and planning within a number of bytes: what needs too much RAM at once runs by stripes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "intarsia/graph.h"
#include "intarsia/plan.h"
#include "intarsia/target_kind.h"
#include "intarsia/tir.h"

namespace intarsia {

// What a RAM budget did to a model. Bytes are the peaks of all memories together.
struct RamBudgetOutcome {
  int64_t budget = 0;
  int64_t before = 0, after = 0;     // operator by operator, and as it is now
  std::vector<std::string> striped;  // what runs by stripes, in words: tir::Func::origin
};

struct PlannedModel {
  tir::Module lowered;
  Plan plan;
  std::optional<RamBudgetOutcome> ram_budget;  // when there is one
};

// `options.memory` is `memory`. Without options.ram_budget: lower() and plan_memory(). With one: the same
// if that is enough, else the cheapest lowering by stripes that stays within. Refuses a budget that was not
// met, with the least that was found and the operator that decides it. Without one, what does not fit the
// board is tried by stripes, so that the refusal can say whether a budget helps.
Result<PlannedModel> lower_and_plan(const graph::Module& partitioned,
                                    const TargetRegistry& registry, const TargetSpec& target,
                                    const LoweringOptions& options, const MemoryMap& memory,
                                    const PlanOptions& plan_options);

}  // namespace intarsia
