// Convolution on cores with the DSP extension; a fully connected layer is one whose window is 1 x 1.
#ifndef INTARSIA_CORTEX_M_DSP_CONV_H_
#define INTARSIA_CORTEX_M_DSP_CONV_H_

#include "intarsia/targets/cortex_m/window.h"

#ifdef __cplusplus
extern "C" {
#endif

// A run is the kernel_h * kernel_w * in_c weights of a channel, filled with zeros to a multiple of four.
// weights: [out_c][run], word-aligned.
// channels: out_c times struct intarsia_channel.
// scratch, word-aligned: from four pixels on eight times a run, otherwise twice a run; and a run where rows of the
// window are no multiple of four bytes or reach over an edge.
// The first is for results in the whole range of int8, _rectified for those whose zero point is besides the lowest
// of them, _limited for those that an activation limits,
// _any for multipliers and sums that the quick arithmetic of results.h does not cover.
void intarsia_dsp_conv_s8(const struct intarsia_window *window, const int8_t *input, int8_t *output,
                          int8_t *scratch, const int8_t *weights, const int32_t *channels);
void intarsia_dsp_conv_rectified_s8(const struct intarsia_window *window, const int8_t *input,
                                    int8_t *output, int8_t *scratch, const int8_t *weights,
                                    const int32_t *channels);
void intarsia_dsp_conv_limited_s8(const struct intarsia_window *window, const int8_t *input,
                                  int8_t *output, int8_t *scratch, const int8_t *weights,
                                  const int32_t *channels);
void intarsia_dsp_conv_any_s8(const struct intarsia_window *window, const int8_t *input,
                              int8_t *output, int8_t *scratch, const int8_t *weights,
                              const int32_t *channels);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_CORTEX_M_DSP_CONV_H_
