// The shape of an operator that slides a window over an image, and how its accumulators become
// results. Both are written by the compiler; the kernels are compiled once and serve every shape.
#ifndef INTARSIA_CORTEX_M_WINDOW_H_
#define INTARSIA_CORTEX_M_WINDOW_H_

#include <stdint.h>

struct intarsia_window {
#define FIELD(name) int16_t name;
#include "intarsia/targets/cortex_m/window.def"
#undef FIELD
};

// One per output channel. The zero point of the input is part of the bias.
struct intarsia_channel {
  int32_t bias;
  int32_t multiplier;  // of 2^31
  // Single-precision of rounding: added before `shift`: half of the last bit and the output's zero
  // point. In the kernels' _any variants: the zero point alone.
  int32_t round;
  int32_t shift;  // to the right, 1..22; in the _any variants as intarsia_requantize takes it
};

#endif  // INTARSIA_CORTEX_M_WINDOW_H_
