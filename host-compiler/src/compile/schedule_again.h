// A plan that does not fit, or that pushes what a device works on into slower memory, is a reason to schedule that
// device's functions again: with a bound on the bytes that they keep alive at once.
#pragma once

#include "intarsia/compiled_model.h"
#include "intarsia/lowering_options.h"
#include "intarsia/plan.h"
#include "intarsia/plugin/target_kind.h"

namespace intarsia {

// Plans `program.lowered`. Where the plan leaves something to improve, functions of devices are lowered anew with
// LoweringOptions::function_limits until a plan does not, or until they have nothing more to give; `program` then holds
// the best of these lowerings, its plan, and what was asked of whom. Refuses what does not fit, as it was first lowered, or
// with `fits_by_row_tiles` what does not fit by row tiles either; `program` then has a RAM budget: what the memories hold.
// `options.memory` is `memory`.
Result<void> plan_or_schedule_again(CompiledProgram& program, const TargetRegistry& registry,
                                    const LoweringOptions& options, const MemoryMap& memory,
                                    const PlanOptions& plan_options, bool fits_by_row_tiles);

}  // namespace intarsia
