// Convolutions of few channels, whose time goes into windows rather than products: the results of neighbouring columns are channels of one
// that sees all of their windows.
#pragma once

#include <functional>

#include "channels.h"

namespace intarsia::targets::cortex_m {

// The window of `columns` results, which divide those of a row.
Window columns_together(const Window& w, int64_t columns);

// Weights [channel][kernel_h * kernel_w * in_c] of the window as those of the results together, zero where a result does not look.
WeightRows rows_together(const WeightRows& rows, const Window& w, int64_t columns);

// Leaves out rows and columns of windows that lie in the padding wherever they are.
void leave_out_padding(Window& w, WeightRows& rows);

// A window as wide as the image slides one way only: rows become pixels.
void make_slide_one_way(Window& w);

// The kernel of as many columns together as estimates say are soonest done, a byte more of constants having to save some cycles. `make`
// has the kernel of so many.
LowerKernel soonest_together(CoreClass core, const OpView& view, const Window& w,
                             const std::function<LowerKernel(int64_t columns)>& make);

}  // namespace intarsia::targets::cortex_m
