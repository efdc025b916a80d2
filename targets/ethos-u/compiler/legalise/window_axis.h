// Windows of convolutions and pools, held against what the NPU takes.
#pragma once

#include <cstdint>

#include "legalise/operators.h"

namespace intarsia::targets::ethos_u {

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
