// A model file compiled, built for its board and measured: what `compile` writes and `check` looks at.
#pragma once

#include "context.h"
#include "requests/measured_program.h"

namespace intarsia::cli {

using requests::MeasuredProgram;

// With --flash-budget: the first choice of --optimise, from the asked one to smaller code, that keeps to it.
Result<MeasuredProgram> compile_and_measure(Context& context, const CommonOptions& options,
                                            bool counts_cycles = false);

}  // namespace intarsia::cli
