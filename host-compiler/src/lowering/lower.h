// Lower: asks each region's target for TIR, merges the returned modules (resolving name conflicts)
// and stitches them into one schedule whose local buffers the planner places.
#pragma once

#include "intarsia/graph.h"
#include "intarsia/plugin/target_kind.h"
#include "intarsia/plugin/tir.h"

namespace intarsia {

// `module` is partitioned. The result is verified: every access is proven in bounds.
Result<tir::Module> lower(const graph::Module& module, const TargetRegistry& registry,
                          const TargetSpec& target, const LoweringOptions& options = {});

}  // namespace intarsia
