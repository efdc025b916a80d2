// Eight pixels by one channel: device/mve_deep_conv.h.
#pragma once

#include <algorithm>
#include <vector>

#include "conv.h"

namespace intarsia::targets::cortex_m {

// What eight pixels see, and how much of it there is.
struct DeepPlanes {
  int64_t phases, rows;  // columns of a stride; of the window, by sixteen channels
  int64_t columns;       // vectors of one of `fours` parts of a plane
  bool apart;
  int64_t count() const { return phases * rows; }
  int64_t fours() const { return apart ? 2 : 1; }
};
inline DeepPlanes deep_planes_of(const Window& w) {
  constexpr int64_t kVector = 16, kFour = 4;
  return {std::min(w.kernel_w, w.stride_w), w.kernel_h * ceil_div(w.in_c, kVector),
          w.strip_w + (w.kernel_w - 1) / w.stride_w, w.strip_w == kFour};
}

// Neighbouring taps of a plane that are taken together: the first one's column of the window, and how many.
struct DeepRun {
  int64_t first, taps;
};
// One after another, plane by plane.
std::vector<DeepRun> deep_runs(const Window& w);

// Empty where the kernel does not cover it, or takes longer than pairs of pixels do with `bytes` of constants, each word of
// which waits for `waits` cycles.
LowerKernel mve_deep_conv_kernel(const Conv& conv, const Channels& channels, const Window& pairs,
                                 int64_t bytes, int64_t waits);

}  // namespace intarsia::targets::cortex_m
