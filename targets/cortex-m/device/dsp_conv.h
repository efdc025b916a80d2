// Convolution on cores with the DSP extension; a fully connected layer is one whose window is 1 x 1.
#ifndef INTARSIA_CORTEX_M_DSP_CONV_H_
#define INTARSIA_CORTEX_M_DSP_CONV_H_

#include "cortex_m/window.h"

#ifdef __cplusplus
extern "C" {
#endif

// weights: [out_c][kernel_h][kernel_w * in_c, filled with zeros to a multiple of four], word-aligned.
// channels: out_c times struct intarsia_channel.
// scratch: 32 bytes per four weights of one channel, word-aligned.
// The first is for results in the whole range of int8, _limited for those that an activation limits,
// _any for multipliers and sums that the quick arithmetic of results.h does not cover.
void intarsia_dsp_conv_s8(const struct intarsia_window *window, const int8_t *input, int8_t *output,
                          int8_t *scratch, const int8_t *weights, const int32_t *channels);
void intarsia_dsp_conv_limited_s8(const struct intarsia_window *window, const int8_t *input, int8_t *output,
                                  int8_t *scratch, const int8_t *weights, const int32_t *channels);
void intarsia_dsp_conv_any_s8(const struct intarsia_window *window, const int8_t *input, int8_t *output,
                              int8_t *scratch, const int8_t *weights, const int32_t *channels);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_CORTEX_M_DSP_CONV_H_
