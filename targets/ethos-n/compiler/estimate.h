// Cycles of operators together, from the sections that the network is cut into: in each, multiply-accumulates, patches of
// the PLE and bytes over the bus run beside each other, as the stack's own compiler estimates it. Measured on no
// hardware.
#pragma once

#include "intarsia/graph.h"
#include "intarsia/plugin/target_kind.h"

namespace intarsia::targets::ethos_n {

CostEstimate estimate(const Target& device, const graph::Module& module,
                      const graph::Function& function, const LoweringOptions& options);

}  // namespace intarsia::targets::ethos_n
