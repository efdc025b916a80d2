// What an operator costs on the NPU before anything is scheduled: for the cost policy.
#pragma once

#include "intarsia/target_kind.h"

namespace intarsia::targets::ethos_u {

CostEstimate estimate(const Target& member, const graph::Function& function,
                      const graph::Node& node);

}  // namespace intarsia::targets::ethos_u
