// Convolutions of every spelling, read into one form.
#pragma once

#include "channels.h"
#include "free_scratch.h"
#include "intarsia/plugin/rounding.h"
#include "kernels.h"

namespace intarsia::targets::cortex_m {

struct Conv {
  Window window;
  WeightRows rows;  // [out_c][kernel_h * kernel_w * in_c]
  std::vector<operators::Multiplier> multipliers;
};

// What a kernel reads beside its input: weights in its order, and its table of channels.
struct ConvConstants {
  std::vector<uint8_t> weights, channels;
};
// The weights of two channels in one word, as device/dsp_dot.h says.
std::vector<uint8_t> paired_rows(const WeightRows& rows, int64_t run);
// Of intarsia_dsp_conv_*.
ConvConstants dsp_conv_constants(const Conv& conv, const Channels& channels);
// Of intarsia_dsp_conv_by_four_*, where weights and sums allow it and it is not slower.
std::optional<ConvConstants> dsp_conv_by_four_constants(const Conv& conv, const Channels& channels);
// Of intarsia_mve_conv_s8 for runs that lie in the input.
ConvConstants mve_conv_constants(const Conv& conv, const Channels& channels);

// Empty where the kernels for Helium do not cover it.
LowerKernel mve_conv_kernel(const Conv& conv, const Channels& channels, SlowConstants slow);

// Int16 activations with int8 weights, whose sums fit 32 bits: device/mve_wide_conv.c.
struct WideChannel {
  int64_t bias, multiplier, shift;  // as intarsia_mve_conv_s16 reads them
};
struct WideConv {
  Window window;
  WeightRows rows;
  std::vector<WideChannel> channels;
};
// What intarsia_mve_conv_s16 reads, for runs that lie in the input.
std::vector<uint8_t> mve_wide_conv_stream(const WideConv& conv);
// `by_stages` has a row whose columns are apart where it takes fewer cycles than it is given.
LowerKernel mve_wide_conv_kernel(WideConv conv, SlowConstants slow,
                                 const std::function<LowerKernel(double)>& by_stages);

}  // namespace intarsia::targets::cortex_m
