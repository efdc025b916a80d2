// Fully connected layers of one row on cores with the DSP extension, without scratch.
#ifndef INTARSIA_CORTEX_M_DSP_DENSE_H_
#define INTARSIA_CORTEX_M_DSP_DENSE_H_

#include "intarsia/targets/cortex_m/window.h"

#ifdef __cplusplus
extern "C" {
#endif

// Channels in blocks of four, A to D, the last of which overlaps the one before where they are no multiple of
// four; out_c >= 4; in_c is a multiple of four.
// weights: [block][in_c / 4][8] halfwords 256 * B + A or 256 * D + C, word-aligned: of inputs 0, 2 for A and
// B, then C and D; of inputs 1, 3 alike. No such halfword may leave 16 bits.
// channels: out_c times struct intarsia_channel. _limited and _any as in dsp_conv.h.
void intarsia_dsp_dense_s8(const struct intarsia_window *window, const int8_t *input,
                           int8_t *output, const int8_t *weights, const int32_t *channels);
void intarsia_dsp_dense_limited_s8(const struct intarsia_window *window, const int8_t *input,
                                   int8_t *output, const int8_t *weights, const int32_t *channels);
void intarsia_dsp_dense_any_s8(const struct intarsia_window *window, const int8_t *input,
                               int8_t *output, const int8_t *weights, const int32_t *channels);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_CORTEX_M_DSP_DENSE_H_
