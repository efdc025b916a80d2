// Convolutions of every spelling, read into one form.
#pragma once

#include "channels.h"
#include "intarsia/plugin/rounding.h"
#include "kernels.h"

namespace intarsia::targets::cortex_m {

struct Conv {
  Window window;
  WeightRows rows;  // [out_c][kernel_h * kernel_w * in_c]
  std::vector<operators::Multiplier> multipliers;
};

// Empty where the kernels for Helium do not cover it.
LowerKernel mve_conv_kernel(const Conv& conv, const Channels& channels);

}  // namespace intarsia::targets::cortex_m
