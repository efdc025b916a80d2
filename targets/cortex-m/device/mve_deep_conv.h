// Convolution of many channels on cores with Helium: eight pixels of a row or of two rows by one channel.
#ifndef INTARSIA_CORTEX_M_MVE_DEEP_CONV_H_
#define INTARSIA_CORTEX_M_MVE_DEEP_CONV_H_

#include "intarsia/targets/cortex_m/window.h"

#ifdef __cplusplus
extern "C" {
#endif

// Pixels are taken in two fours. With strip_w of 5 to 8 these are the first and the last four of as many neighbours of a
// row, rows of more being taken so many at a time, and the last so many; with strip_w == 4 each is a row's next four, or
// its last ones, and has columns of its own. out_w >= 4; at most six of these groups of taps.
//
// What eight pixels see is laid out as planes: for each column of a stride, each row of the window and each 16 channels
// the vectors of every stride-th column, so that neighbouring pixels are neighbouring vectors. A column of the window,
// a tap, is as many vectors further on; taps of one plane are taken three, two or one at a time and share their loads.
//
// weights: for each channel its bias; of each three, two or one taps [kernel_h][in_c / 16][taps][16], filled
// with zeros; multiplier, rounding (results.h) and 24 less the shift. Behind the last channel a word.
// scratch, aligned to four bytes: the planes, and 16 bytes for each tap of one.
void intarsia_mve_deep_conv_s8(const struct intarsia_window *window, const int8_t *input,
                               int8_t *output, int8_t *scratch, const int32_t *weights);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_CORTEX_M_MVE_DEEP_CONV_H_
