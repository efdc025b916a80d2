// Convolution on cores that multiply single elements; a fully connected layer is one whose window is 1 x 1.
#ifndef INTARSIA_CORTEX_M_THUMB_CONV_H_
#define INTARSIA_CORTEX_M_THUMB_CONV_H_

#include "intarsia/targets/cortex_m/window.h"

#ifdef __cplusplus
extern "C" {
#endif

// A run is the kernel_h * kernel_w * in_c weights of a channel, filled with zeros to a multiple of four.
// weights: [out_c][run]. channels: out_c times struct intarsia_channel.
// window->strip_h, if not 0: four pixels at a time (device/thumb_pairs.h), of that many rows of their windows, whose
// weights are whole words unless these are all. There are four pixels at least; the second byte of a channel's shift is 2 or
// 4: blocks of so many weights, counted from the end of each such part, have products that add up in 16 bits.
// scratch, word-aligned: of a part filled up to a multiple of four elements 8 bytes each; four rows of a window unless it is
// 1 x 1; and 16 bytes, times out_c if the part is not the whole window.
// Otherwise pixel by pixel, in scratch of a run; none when the window is 1 x 1 without padding and in_c a multiple of four.
// _limited and _any as in dsp_kernels.h.
void intarsia_thumb_conv_s8(const struct intarsia_window *window, const int8_t *input,
                            int8_t *output, int8_t *scratch, const int8_t *weights,
                            const int32_t *channels);
void intarsia_thumb_conv_limited_s8(const struct intarsia_window *window, const int8_t *input,
                                    int8_t *output, int8_t *scratch, const int8_t *weights,
                                    const int32_t *channels);
void intarsia_thumb_conv_any_s8(const struct intarsia_window *window, const int8_t *input,
                                int8_t *output, int8_t *scratch, const int8_t *weights,
                                const int32_t *channels);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_CORTEX_M_THUMB_CONV_H_
