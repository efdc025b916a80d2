// What the hardware's registers and accumulators admit. Sources: field widths of isa/commands.def,
// and for kernels and pools the operator constraints of Vela 3.10 (tflite_supported_operators.py).
#pragma once

#include <cstdint>

#include "operators.h"

namespace intarsia::targets::ethos_u {

inline constexpr int64_t kMostExtent = 65536;
inline constexpr int64_t kMostStride = 3;
inline constexpr int64_t kMostKernelHeight = 64, kMostKernelElements = 64 * 64;  // dilated
inline constexpr int64_t kMostPoolHeight = 256, kMostPoolElements = 256 * 256;
inline constexpr int64_t kMostPaddedAverage = 8;  // height and width of a padded average pool
inline constexpr int64_t kMostPadBefore = 127, kMostPadAfter = 255;
inline constexpr int64_t kMostWeightSum = int64_t{127} * 65536;  // keeps the accumulator in range
inline constexpr int64_t kMostSoftmaxDepth = 4095;

// Where a window lies along one axis. A stride without a second place is 1; what the window does
// not reach at the end is cut off.
struct WindowAxis {
  int64_t extent, places, kernel, stride, dilation, before;  // of the input, output and window

  int64_t covered() const { return (kernel - 1) * dilation + 1; }
  int64_t step() const { return places == 1 ? 1 : stride; }
  // Elements read beyond the input's last one.
  int64_t after() const {
    const int64_t beyond = (places - 1) * step() + covered() - before - extent;
    return beyond > 0 ? beyond : 0;
  }
  int64_t read() const { return (places - 1) * step() + covered() - before - after(); }
};

Reason check_strides(const WindowAxis& y, const WindowAxis& x);
Reason check_pads(const WindowAxis& y, const WindowAxis& x);

}  // namespace intarsia::targets::ethos_u
