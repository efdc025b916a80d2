// Which operators of a function run by row tiles so that its buffers stay within a number of bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "intarsia/plugin/kernel_functions.h"
#include "row_tiling/row_tile_choice.h"

namespace intarsia::standard_lowering {

// Covers all nodes, in order. Bytes are those of the function alone, before alignment and placement: the
// plan has the last word. `kernel_for` returns a kernel for every operator.
std::vector<row_tiling::Option> plan_tiles(const graph::Module& module,
                                           const graph::Function& function,
                                           const ChooseKernel& kernel_for, int64_t budget);

}  // namespace intarsia::standard_lowering
