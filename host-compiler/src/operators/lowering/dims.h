// Collapsing of adjacent axes that are treated alike, so that loops are few and long.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "intarsia/plugin/op_lowering.h"

namespace intarsia::operators {

// Groups 0 .. rank-1 into runs: axis i joins the one before it when joins(i). Each result is the
// first axis of a run. Empty for rank 0.
std::vector<size_t> axis_runs(size_t rank, const std::function<bool(size_t)>& joins);

// Of the extents of axes first .. last-1.
int64_t product(const Shape& shape, size_t first, size_t last);

// Nested loops over all extents (those of 1 make none); body(one index per extent).
Stmt nested_loops(FuncBuilder& b, const Shape& extents,
                  const std::function<Stmt(const std::vector<Expr>&)>& body);

}  // namespace intarsia::operators
