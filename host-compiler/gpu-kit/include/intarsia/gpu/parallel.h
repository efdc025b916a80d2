// Which loops of a statement may run in any order, so that their iterations become work items.
#pragma once

#include "intarsia/gpu/dialect.h"
#include "intarsia/plugin/tir.h"

namespace intarsia::gpu {

struct ParallelNest {
  tir::Stmt body;  // the loops' variables are let as the indices of the work item
  Extents extents;
};

// Takes loops with constant bounds from the outside in, as long as their iterations write different elements,
// read none that another iteration writes, and hand nothing on in registers.
ParallelNest parallel_nest(const Dialect& dialect, const tir::Func& func, const tir::Stmt& stmt);

}  // namespace intarsia::gpu
