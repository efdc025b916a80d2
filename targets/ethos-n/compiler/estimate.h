// Cycles of one operator, as the stack's own compiler estimates them: multiply-accumulates, patches of the
// PLE and bytes over the bus run beside each other. Measured on no hardware.
#pragma once

#include "intarsia/graph.h"
#include "intarsia/target_kind.h"

namespace intarsia::targets::ethos_n {

CostEstimate estimate(const Target& member, const graph::Module& module,
                      const graph::Function& function, const graph::Node& node);

}  // namespace intarsia::targets::ethos_n
