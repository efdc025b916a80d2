// What operators that only move elements copy, as axes of both places.
#pragma once

#include <vector>

#include "kernels.h"

namespace intarsia::targets::cortex_m {

// One axis of what is copied, by elements.
struct CopiedAxis {
  int64_t extent, from_step, to_step;
};
struct CopiedRows {
  size_t input = 0, output = 0;
  int64_t from = 0, to = 0;
  std::vector<CopiedAxis> axes;  // outermost first
};

// Operands and results as lines of elements; of operands that are not read, none.
void declare_lines(OpLowering& op, bool reads_first_alone = false);

// Rows whose elements are picked one by one (device/pick_rows.h); of `copies`, the outputs of which are filled one after the other. Null
// where rows are too long for a table of places.
LowerKernel picked_rows_kernel(CoreClass core, const OpView& view,
                               const std::vector<CopiedRows>& copies);

}  // namespace intarsia::targets::cortex_m
