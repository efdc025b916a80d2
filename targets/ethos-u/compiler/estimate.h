// What operators cost on the NPU together: as long as their schedule takes.
#pragma once

#include "function_schedules.h"
#include "intarsia/plugin/target_kind.h"

namespace intarsia::targets::ethos_u {

CostEstimate estimate(FunctionSchedules& schedules, const Target& device,
                      const graph::Module& module, const graph::Function& function,
                      const LoweringOptions& options);

}  // namespace intarsia::targets::ethos_u
