// The order in which the hardware consumes weights: blocks of OFM channels, blocks of IFM channels,
// sub-kernels of 8x8, and inside of them micro-blocks. Positions outside the tensor are zeros.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "intarsia/plugin/rounding.h"

namespace intarsia::targets::ethos_u {

// Weight minus zero point as [ofm depth][kernel height][kernel width][ifm depth].
struct WeightTensor {
  std::span<const int16_t> values;
  int32_t ofm_depth = 1, kernel_height = 1, kernel_width = 1, ifm_depth = 1;
};

// Channels first, first + step, ... below end: a depth slice, of which every core takes its share.
struct ChannelRange {
  int32_t first = 0, end = 0, step = 1;
  int32_t count() const { return first >= end ? 0 : ceil_div(end - first, step); }
};

struct WeightTraversal {
  int32_t ofm_block_depth = 8;  // of this core
  int32_t ofm_ublock_depth = 8, ifm_ublock_depth = 8;
  int32_t dilation_y = 1, dilation_x = 1;
  bool depthwise = false;
  bool part_kernel = false;  // kernel elements before IFM channels
  bool ifm_16bit = false;
};

std::vector<int16_t> order_weights(const WeightTensor& tensor, const ChannelRange& channels,
                                   const WeightTraversal& traversal);

}  // namespace intarsia::targets::ethos_u
