// Which loops of a statement may run in any order, so that their iterations become work items.
#pragma once

#include <vector>

#include "intarsia/plugin/tir.h"

namespace intarsia::targets::opencl {

struct ParallelNest {
  tir::Stmt body;                // the loops' variables are let as get_global_id(0), (1), (2)
  std::vector<int64_t> extents;  // at most three; outermost loop last
};

// Takes loops with constant bounds from the outside in, as long as their iterations write different elements,
// read none that another iteration writes, and hand nothing on in registers.
ParallelNest parallel_nest(const tir::Func& func, const tir::Stmt& stmt);

}  // namespace intarsia::targets::opencl
