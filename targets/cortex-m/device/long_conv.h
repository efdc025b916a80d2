// Convolution on cores with 64-bit multiply-accumulate but without SIMD (Armv7-M); a fully connected layer is
// one whose window is 1 x 1.
#ifndef INTARSIA_CORTEX_M_LONG_CONV_H_
#define INTARSIA_CORTEX_M_LONG_CONV_H_

#include "intarsia/targets/cortex_m/window.h"

#ifdef __cplusplus
extern "C" {
#endif

// A run is the kernel_h * kernel_w * in_c weights of a channel, filled with zeros to a multiple of four.
// weights: [out_c][run]. channels: out_c times struct intarsia_channel.
// scratch, word-aligned: 14 bytes times a run from six pixels on, otherwise a run.
// _limited and _any as in dsp_kernels.h.
void intarsia_long_conv_s8(const struct intarsia_window *window, const int8_t *input,
                           int8_t *output, int8_t *scratch, const int8_t *weights,
                           const int32_t *channels);
void intarsia_long_conv_limited_s8(const struct intarsia_window *window, const int8_t *input,
                                   int8_t *output, int8_t *scratch, const int8_t *weights,
                                   const int32_t *channels);
void intarsia_long_conv_any_s8(const struct intarsia_window *window, const int8_t *input,
                               int8_t *output, int8_t *scratch, const int8_t *weights,
                               const int32_t *channels);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_CORTEX_M_LONG_CONV_H_
