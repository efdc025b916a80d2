// How the device sums over channels: in blocks of the IFM.
#pragma once

#include <algorithm>
#include <cstdint>

#include "intarsia/targets/ethos_u/rounding.h"

namespace intarsia::targets::ethos_u {

// Channels of an IFM block of an operation that sums over them: what the MAC array sums before it takes other input, 32 bytes, or 16
// where it goes by parts of the kernel. `bits`: of an element, 8, 16 or 32.
constexpr int64_t summed_block_depth(int64_t ifm_depth, int64_t bits, bool part_kernel_first) {
  using isa::ethos_u::round_up;
  if (bits == 32) return 8;
  if (bits == 16) return round_up(std::min<int64_t>(ifm_depth, 16), 4);
  return round_up(std::min<int64_t>(ifm_depth, part_kernel_first ? 16 : 32), 8);
}

}  // namespace intarsia::targets::ethos_u
