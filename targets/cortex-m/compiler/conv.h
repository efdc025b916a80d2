// Convolutions of every spelling, read into one form.
#pragma once

#include "channels.h"
#include "kernels.h"

namespace intarsia::targets::cortex_m {

struct Conv {
  Window window;
  WeightRows rows;  // [out_c][kernel_h * kernel_w * in_c]
  std::vector<standard_lowering::Multiplier> multipliers;
};

inline int64_t round_up(int64_t value, int64_t to) {
  return (value + to - 1) / to * to;
}

// Empty where the kernels for Helium do not cover it.
LowerLeaf mve_conv_leaf(const Conv& conv, const Channels& channels);

}  // namespace intarsia::targets::cortex_m
