// Copies between two dense buffers along axes of any strides: what every operator that only moves
// elements is made of.
#pragma once

#include <string>
#include <vector>

#include "intarsia/plugin/op_lowering.h"

namespace intarsia::operators {

// to[to_offset + sum i_a * to_strides[a]] = from[from_offset + sum i_a * from_strides[a]] for all
// 0 <= i_a < extents[a]. Buffers are declared flat; strides may be negative.
struct StridedCopy {
  Shape extents;
  int64_t from_offset = 0;
  std::vector<int64_t> from_strides;
  int64_t to_offset = 0;
  std::vector<int64_t> to_strides;
};

Stmt strided_copy(FuncBuilder& b, BufferId from, BufferId to, const StridedCopy& copy);

// Elements from one index to the next along every axis of a dense shape.
std::vector<int64_t> dense_strides(const Shape& shape);

// Declares all operands and outputs as flat buffers.
void declare_flat(OpLowering& op);
// All elements in their order.
Stmt lower_copy(OpLowering& op);

}  // namespace intarsia::operators
