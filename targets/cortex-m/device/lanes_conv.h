// Convolution and depthwise convolution on 64-bit cores with vectors: sixteen output channels at a time, one in each lane. Which
// instructions hold the lanes is decided when the kernels are compiled (lanes.h); the constants are the same for all.
//
// Weights of a convolution: for each sixteen channels, for each row of the window, for each four elements of it, [16 channels][4
// elements]; rows are filled to four elements, channels to sixteen, both with zeros. Of a depthwise convolution: for each sixteen
// channels, for each four taps, [16 channels][4 taps].
// The table: for each sixteen channels five rows of sixteen words: bias, the bias for inputs that are 128 larger, multiplier, rounding
// (of _any kernels the zero point), shift.
// Scratch: rows of the image (lanes_rows.h); of a window of 1 x 1 without a step eight pixels and 64 bytes; of a depthwise convolution
// before them the constants of 64 channels.
#ifndef INTARSIA_CORTEX_M_LANES_CONV_H_
#define INTARSIA_CORTEX_M_LANES_CONV_H_

#include "intarsia/targets/cortex_m/window.h"

#ifdef __cplusplus
extern "C" {
#endif

// Windows have 32 rows at most.
void intarsia_lanes_conv_s8(const struct intarsia_window *w, const int8_t *input, int8_t *output,
                            int8_t *scratch, const int8_t *weights, const int32_t *table);
void intarsia_lanes_conv_any_s8(const struct intarsia_window *w, const int8_t *input,
                                int8_t *output, int8_t *scratch, const int8_t *weights,
                                const int32_t *table);

// Windows have 64 taps at most.
void intarsia_lanes_depthwise_s8(const struct intarsia_window *w, const int8_t *input,
                                 int8_t *output, int8_t *scratch, const int8_t *weights,
                                 const int32_t *table);
void intarsia_lanes_depthwise_any_s8(const struct intarsia_window *w, const int8_t *input,
                                     int8_t *output, int8_t *scratch, const int8_t *weights,
                                     const int32_t *table);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_CORTEX_M_LANES_CONV_H_
