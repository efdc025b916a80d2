// Depthwise convolutions, read into one form.
#pragma once

#include "channels.h"
#include "conv.h"
#include "free_scratch.h"
#include "kernels.h"

namespace intarsia::targets::cortex_m {

struct Depthwise {
  Window window;
  WeightRows rows;  // [out_c][kernel_h * kernel_w]
};

// Of a depthwise layer whose results are floats; low and high say whether these have limits.
Window float_depthwise_window(const OpView& view);

// Results of each channel of a window that share what is merged (device/dsp_kernels.h), where one has so many words of weights in scratch.
int64_t dsp_results_together(const Window& w, int64_t words);

// Rows and columns change places.
Window transposed(Window w);
// Of the weights too.
Depthwise transposed(const Depthwise& d);

// Pixel by pixel, for images of few pixels and windows of any dilation and stride (device/dsp_depthwise_pixels.c). Cycles without wait states,
// on a Cortex-M4; none where it does not cover the window.
std::optional<double> dsp_depthwise_pixels_cycles(const Window& w, const Channels& channels);
LowerKernel dsp_depthwise_pixels_kernel(const Depthwise& d, Channels channels);

// Of int16 on cores with SIMD, windows of three columns alone (device/dsp_depthwise_3x3.c); a channel each of `channels`.
LowerKernel dsp_wide_depthwise_3x3_kernel(const Depthwise& d,
                                          const std::vector<WideChannel>& channels);

// Windows of any size (device/dsp_depthwise.c), where they are estimated to save what the code is worth beside so many cycles, or beside
// loops.
LowerKernel dsp_wide_depthwise_kernel(const Depthwise& d, const std::vector<WideChannel>& channels,
                                      std::optional<double> others);

// Empty where the kernels for Helium do not cover it.
LowerKernel mve_depthwise_kernel(const Depthwise& d, int64_t dilation_w, const Channels& channels,
                                 SlowConstants slow);
// The same of weights that are sums of two bytes each, where it is estimated to take fewer than so many cycles.
LowerKernel mve_shifted_depthwise_kernel(const Window& w,
                                         const std::vector<std::vector<int16_t>>& rows,
                                         const Channels& channels, SlowConstants slow,
                                         double below);

}  // namespace intarsia::targets::cortex_m
