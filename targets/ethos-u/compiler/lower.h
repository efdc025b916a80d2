// GraphToTir: legalise, schedule, write as TIR.
#pragma once

#include "intarsia/graph.h"
#include "intarsia/lowering_options.h"
#include "intarsia/plugin/tir.h"
#include "intarsia/result.h"
#include "intarsia/target.h"

namespace intarsia::targets::ethos_u {

Result<tir::LoweredFunction> lower(const Target& device, const graph::Module& module,
                                   const graph::Function& function, const LoweringOptions& options);

// Of the schedule that the lowering would write.
Result<double> scheduled_cycles(const Target& device, const graph::Module& module,
                                const graph::Function& function, const LoweringOptions& options);

}  // namespace intarsia::targets::ethos_u
