// What operators cost on the NPU together: as long as their schedule takes.
#pragma once

#include "intarsia/plugin/target_kind.h"

namespace intarsia::targets::ethos_u {

CostEstimate estimate(const Target& device, const graph::Module& module,
                      const graph::Function& function, const LoweringOptions& options);

}  // namespace intarsia::targets::ethos_u
