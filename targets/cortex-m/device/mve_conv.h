// Convolution on cores with Helium; a fully connected layer is one whose window is 1 x 1.
#ifndef INTARSIA_CORTEX_M_MVE_CONV_H_
#define INTARSIA_CORTEX_M_MVE_CONV_H_

#include "cortex_m/window.h"

#ifdef __cplusplus
extern "C" {
#endif

// Output channels go in pairs, the last of which overlaps the one before when their number is odd;
// out_c >= 2. A run is the kernel_h * kernel_w * in_c weights of a channel, filled with zeros to a
// multiple of 16.
// weights: [pair][run / 16][2][16].
// channels: [pair] of two biases, two multipliers, two shifts (negative: to the right, as VRSHL).
// scratch: two runs; none when the window is 1 x 1 without padding and in_c a multiple of 16.
void intarsia_mve_conv_s8(const struct intarsia_window *window, const int8_t *input, int8_t *output,
                          int8_t *scratch, const int8_t *weights, const int32_t *channels);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_CORTEX_M_MVE_CONV_H_
