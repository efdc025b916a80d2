// What the families of kernels share.
#pragma once

#include "conv.h"
#include "depthwise.h"

namespace intarsia::targets::cortex_m {

// A scratch larger than this costs more memory than a kernel saves time.
constexpr int64_t kMostScratch = 16 * 1024;

// Cores with the DSP extension: one row of a fully connected layer (device/dsp_kernels.h).
LowerKernel dsp_dense_kernel(const Conv& conv, const Channels& channels);

// Cores without SIMD (device/thumb_conv.h, device/long_conv.h, device/thumb_depthwise.h). Empty where the
// kernels do not cover the operator.
LowerKernel thumb_conv_kernel(CoreClass core, const Conv& conv, const Channels& channels);
LowerKernel thumb_depthwise_kernel(const Depthwise& depthwise, const Channels& channels);

}  // namespace intarsia::targets::cortex_m
