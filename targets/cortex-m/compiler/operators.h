// What the families of kernels share.
#pragma once

#include "conv.h"
#include "depthwise.h"

namespace intarsia::targets::cortex_m {

// A scratch larger than this costs more memory than a kernel saves time.
constexpr int64_t kMostScratch = 16 * 1024;
// What a byte more of constants has to save for a kernel to be worth it: a preference.
constexpr double kCyclesForAByte = 4;

// A call that copies `count` bytes from the beginning of one buffer to that of the other.
tir::Stmt copy_of_bytes(tir::BufferId from, tir::BufferId to, int64_t count);

// Cores with the DSP extension: one row of a fully connected layer (device/dsp_kernels.h).
LowerKernel dsp_dense_kernel(const Conv& conv, const Channels& channels);
// The same of rows that are filled up to words first, and of fewer channels than a block has, whose results are copied.
LowerKernel dsp_filled_dense_kernel(Conv conv, Channels channels);

// Whether a depthwise convolution takes fewer cycles as loops, at the least that these take, than the kernel that takes `cycles`: kernels
// lay rows and weights out before they multiply, which few outputs do not repay, such as a window that covers its whole image.
bool loops_are_faster(CoreClass core, const Window& w, double cycles);

// Cores without SIMD (device/thumb_conv.h, device/long_conv.h, device/thumb_depthwise.h). Empty where the
// kernels do not cover the operator.
LowerKernel thumb_conv_kernel(CoreClass core, const Conv& conv, const Channels& channels);
// Those of RISC-V (device/rv32_conv.h, device/rv32_depthwise.h); as above.
LowerKernel rv32_conv_kernel(const Conv& conv, const Channels& channels);
LowerKernel rv32_depthwise_kernel(const Depthwise& depthwise, const Channels& channels);
LowerKernel thumb_depthwise_kernel(CoreClass core, const Depthwise& depthwise,
                                   const Channels& channels);

// Of 64-bit cores with vectors (device/lanes_conv.h); as above.
LowerKernel lane_conv_kernel(const Conv& conv, const Channels& channels);
LowerKernel lane_depthwise_kernel(const Depthwise& depthwise, const Channels& channels);

// Rows of four windows that are in scratch at a time, as device/pixel_windows.h has them, where sums of so many channels are kept
// from one to the next. As few parts as possible, of equal rows, whose weights are whole words. None where not even one row has
// room.
struct Parts {
  int64_t rows = 0;
  int64_t bytes = 0;
};
Parts parts_of(const Window& w, int64_t channels, int64_t channels_at_once);

}  // namespace intarsia::targets::cortex_m
