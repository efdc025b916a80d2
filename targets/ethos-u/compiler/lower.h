// GraphToTir: legalise, schedule, write as TIR.
#pragma once

#include "function_schedules.h"
#include "intarsia/graph.h"
#include "intarsia/lowering_options.h"
#include "intarsia/plugin/tir.h"
#include "intarsia/result.h"
#include "intarsia/target.h"

namespace intarsia::targets::ethos_u {

Result<tir::LoweredFunction> lower(FunctionSchedules& schedules, const Target& device,
                                   const graph::Module& module, const graph::Function& function,
                                   const LoweringOptions& options);

}  // namespace intarsia::targets::ethos_u
