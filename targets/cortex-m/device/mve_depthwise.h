// Depthwise convolution on cores with Helium.
#ifndef INTARSIA_CORTEX_M_MVE_DEPTHWISE_H_
#define INTARSIA_CORTEX_M_MVE_DEPTHWISE_H_

#include "intarsia/targets/cortex_m/window.h"

#ifdef __cplusplus
extern "C" {
#endif

// `group` channels at a time are turned into planes [column][row of the strip], so that what an output sees
// is 16 bytes or a few times 16. Output channel c reads input channel c / (out_c / in_c). Families:
//   dense    strides of 1, windows up to 3 x 3, no dilation. Strips have 4 rows and serve 2 rows of outputs.
//   halving  strides of 2, otherwise alike; 5 rows for 2.
//   wide     everything whose kernel_h * kernel_w (width with the gaps of dilation) is 64 at most. Where strip_w is 1 each row of the window
//            comes twice, and counts as two: weights are sums of two bytes.
//
// Channels of constants: of each `group` planes the first channels of the output that they make, then the second ones, and so on; where
// those are more than `group`, all of the first plane, then of the second one, and so on.
// weights: of each output channel, the byte of tap (y, x), all others zero:
//   dense    5 + 4 * x + y of 16; halving  2 + 5 * x + y of 16; after the last channel 16 zeros.
//   wide     kernel_h * x + y of 16, 32 or 64.
// channels: of each a multiplier, 24 less the shift, a bias, a rounding (results.h).
// scratch: group planes of ceil(out_w / p) * p * stride_w * rows + more bytes; p and more are 4 and 16,
// for wide 8 and 64. Where strip_h is 1 behind them the constants of as many input channels, which are copied there, and 16 bytes.
#define INTARSIA_DECLARE(name)                                                         \
  void name(const struct intarsia_window *window, const int8_t *input, int8_t *output, \
            int8_t *scratch, const int8_t *weights, const int32_t *channels)
INTARSIA_DECLARE(intarsia_mve_depthwise_dense_s8);
INTARSIA_DECLARE(intarsia_mve_depthwise_halving_s8);
INTARSIA_DECLARE(intarsia_mve_depthwise_wide_s8);
#undef INTARSIA_DECLARE

// Pixel by pixel, eight channels side by side: only taps inside of the image count, of any dilation and stride; in_c == out_c. Quick
// results. weights: of each eight channels words of their biases, which have no zero point of the input, multipliers, roundings, and 24 less
// their shifts, those of the even channels first; then [kernel_h * kernel_w][8] of a byte. scratch, word-aligned: that of eight channels, and
// 20 bytes for each of up to sixteen pixels.
void intarsia_mve_depthwise_pixels_s8(const struct intarsia_window *window, const int8_t *input,
                                      int8_t *output, int8_t *scratch, const int8_t *weights);
// out_c a multiple of in_c.
void intarsia_mve_depthwise_shared_pixels_s8(const struct intarsia_window *window,
                                             const int8_t *input, int8_t *output, int8_t *scratch,
                                             const int8_t *weights);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_CORTEX_M_MVE_DEPTHWISE_H_
