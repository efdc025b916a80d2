// Convolution on cores with Helium; a fully connected layer is one whose window is 1 x 1.
#ifndef INTARSIA_CORTEX_M_MVE_CONV_H_
#define INTARSIA_CORTEX_M_MVE_CONV_H_

#include "intarsia/targets/cortex_m/window.h"

#ifdef __cplusplus
extern "C" {
#endif

// A run is what an output pixel sees, kernel_h * kernel_w * in_c bytes. With strip_h == 0 runs lie in the
// input: kernel_h is 1 and there is no padding. Otherwise strip_h output rows of strip_w pixels are computed
// at a time, from strips (mve_strip.h); strip_h > 1 only with strip_w == out_w.
// group > 0, a multiple of four: so many channels' weights and table rows are copied to scratch first, and serve all pixels
// from there: for constants in a memory that is slower than that of the scratch.
//
// weights: [out_c / 4][run / 16][4][16], filled with zeros; of a strip's run in its order.
// channels: [out_c / 4] of four biases, four multipliers, four roundings (results.h), four times 24 less the shift.
// scratch, aligned to four bytes: the copies of a group; strip_h strips of (strip_w - 1) * stride_w + kernel_w columns, and 16 bytes. With strip_h == 0, as
// many runs, filled to a multiple of 16, as reach beyond the input's end when they are, and one more.
void intarsia_mve_conv_s8(const struct intarsia_window *window, const int8_t *input, int8_t *output,
                          int8_t *scratch, const int8_t *weights, const int32_t *channels);

// One output pixel, eight channels at a time. weights: [out_c / 8][run / 16][8][16].
// channels: [out_c / 8] of eight biases; multipliers of channels 0, 2, 4, 6, and of 1, 3, 5, 7; roundings, and 24 less
// the shifts, alike.
// scratch: a run filled to a multiple of 16; unused when it is one already.
void intarsia_mve_dense_s8(const struct intarsia_window *window, const int8_t *input,
                           int8_t *output, int8_t *scratch, const int8_t *weights,
                           const int32_t *channels);

// The same of channels that share what follows their sums. channels: multiplier, rounding and 24 less the shift of all;
// [out_c / 8] of eight biases.
void intarsia_mve_dense_shared_s8(const struct intarsia_window *window, const int8_t *input,
                                  int8_t *output, int8_t *scratch, const int8_t *weights,
                                  const int32_t *channels);

// Int16 activations with int8 weights; in_c is the bytes of a column, and so runs, strips and scratch are in bytes. group: as above.
// weights: [out_c / 4] of four biases, [run / 16][4][8] weights of a byte, four multipliers times 2^16, four times 16 less
// the shift, at least 17.
void intarsia_mve_conv_s16(const struct intarsia_window *window, const int16_t *input,
                           int16_t *output, int16_t *scratch, const int32_t *weights);

// The same of one output pixel whose run lies in the input, of which nothing behind it is read.
void intarsia_mve_dense_s16(const struct intarsia_window *window, const int16_t *input,
                            int16_t *output, const int32_t *weights);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_CORTEX_M_MVE_CONV_H_
