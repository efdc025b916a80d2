// The entry schedule: every region's schedule written out into one, whose calls are of kernels.
#pragma once

#include "intarsia/graph.h"
#include "intarsia/plugin/tir.h"
#include "lowering/merge.h"

namespace intarsia::lowering {

// `lowered` names, per call node of the graph's entry, the merged function that implements it.
// Schedules are inlined and dropped; scratch of kernel functions becomes a buffer of the schedule and
// one more parameter of the kernel, so that the planner sees it. A region's parameter that is an alias
// of a buffer inside of the region stays one (aliases.h); refuses when regions do not agree.
Result<void> stitch(const graph::Module& graph, const std::vector<std::string>& lowered,
                    Merger& merger);

}  // namespace intarsia::lowering
