// Depthwise convolution on cores that multiply single elements.
#ifndef INTARSIA_CORTEX_M_THUMB_DEPTHWISE_H_
#define INTARSIA_CORTEX_M_THUMB_DEPTHWISE_H_

#include "intarsia/targets/cortex_m/window.h"

#ifdef __cplusplus
extern "C" {
#endif

// out_c is a multiple of in_c; kernel_h <= 15.
// weights: [out_c][kernel_h][kernel_w]. channels: out_c times struct intarsia_channel; the second byte of the shift is 1
// where products of the first two weights of each row, of the next two and so on, add up in 16 bits, else 0.
// scratch, word-aligned: words for out_w outputs, filled up to fours; for kernel_h * kernel_w * out_c / in_c weights; and for the
// rows that a window reaches over, times the columns that a row of those outputs needs and twice the stride.
// transposed: see window.def.
// _limited and _any as in dsp_kernels.h.
void intarsia_thumb_depthwise_s8(const struct intarsia_window *window, const int8_t *input,
                                 int8_t *output, int8_t *scratch, const int8_t *weights,
                                 const int32_t *channels);
void intarsia_thumb_depthwise_limited_s8(const struct intarsia_window *window, const int8_t *input,
                                         int8_t *output, int8_t *scratch, const int8_t *weights,
                                         const int32_t *channels);
void intarsia_thumb_depthwise_any_s8(const struct intarsia_window *window, const int8_t *input,
                                     int8_t *output, int8_t *scratch, const int8_t *weights,
                                     const int32_t *channels);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_CORTEX_M_THUMB_DEPTHWISE_H_
