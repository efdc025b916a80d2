// Depthwise convolution on cores with the DSP extension.
#ifndef INTARSIA_CORTEX_M_DSP_DEPTHWISE_H_
#define INTARSIA_CORTEX_M_DSP_DEPTHWISE_H_

#include "intarsia/targets/cortex_m/window.h"

#ifdef __cplusplus
extern "C" {
#endif

// Channels in blocks of four, the last of which overlaps the one before where they are no multiple of
// four; in_c == out_c >= 4; no dilation.
// Rows of the padded input are taken in pairs (0, 1), (2, 3), ... A window covers `pairs` of them, and
// begins on an even row (phase 0) or on an odd one (phase 1); with an even stride always on an even
// one. weights: [block][phase][pair][kernel_w][8]: of channels 0, 1 the upper row, 0, 1 the lower,
// then channels 2, 3 alike; zero where a pair reaches beyond the window.
// _rectified, _limited and _any as in dsp_conv.h.
// scratch: 16 bytes times pairs * (phases * kernel_w + columns that a row of outputs needs).
void intarsia_dsp_depthwise_s8(const struct intarsia_window *window, const int8_t *input,
                               int8_t *output, int8_t *scratch, const int8_t *weights,
                               const int32_t *channels);
void intarsia_dsp_depthwise_rectified_s8(const struct intarsia_window *window, const int8_t *input,
                                         int8_t *output, int8_t *scratch, const int8_t *weights,
                                         const int32_t *channels);
void intarsia_dsp_depthwise_limited_s8(const struct intarsia_window *window, const int8_t *input,
                                       int8_t *output, int8_t *scratch, const int8_t *weights,
                                       const int32_t *channels);
void intarsia_dsp_depthwise_any_s8(const struct intarsia_window *window, const int8_t *input,
                                   int8_t *output, int8_t *scratch, const int8_t *weights,
                                   const int32_t *channels);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_CORTEX_M_DSP_DEPTHWISE_H_
