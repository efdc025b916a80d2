// What the kernels cost, for policy cost and `explain`.
#pragma once

#include <optional>

#include "kernels.h"

namespace intarsia::targets::cortex_m {

// Cycles of the operator on the first core of the class; nothing where it has no kernel and runs as portable loops.
std::optional<double> kernel_cycles(CoreClass core, const graph::Module& module,
                                    const graph::Function& function, const graph::Node& node);

}  // namespace intarsia::targets::cortex_m
