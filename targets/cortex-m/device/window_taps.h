// Which taps of a window see the image, along one axis.
#ifndef INTARSIA_CORTEX_M_WINDOW_TAPS_H_
#define INTARSIA_CORTEX_M_WINDOW_TAPS_H_

#include <stdint.h>

#include "intarsia/targets/cortex_m/results.h"

// Taps before the one that is inside first. `start`: where the window begins, negative in the padding. dilation >= 1.
INTARSIA_INLINE int32_t intarsia_first_tap(int32_t start, int32_t dilation) {
  return start >= 0 ? 0 : (dilation - 1 - start) / dilation;
}

// Taps up to and with the one that is inside last; 0 where the window begins behind the image.
INTARSIA_INLINE int32_t intarsia_end_of_taps(int32_t start, int32_t dilation, int32_t taps,
                                             int32_t extent) {
  return extent <= start ? 0 : intarsia_min_i32(taps, (extent - start + dilation - 1) / dilation);
}

#endif  // INTARSIA_CORTEX_M_WINDOW_TAPS_H_
