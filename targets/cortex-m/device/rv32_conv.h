// Convolution on cores with the 31 registers of RISC-V; a fully connected layer is one whose window is 1 x 1.
#ifndef INTARSIA_CORTEX_M_RV32_CONV_H_
#define INTARSIA_CORTEX_M_RV32_CONV_H_

#include "intarsia/targets/cortex_m/window.h"

#ifdef __cplusplus
extern "C" {
#endif

// window->strip_h, if 0: pixel by pixel, all as thumb_conv.h says. Else that many rows of the windows of four pixels at a time,
// and weights and channels are those of pairs of channels, in any order.
// weights: for each such part of the windows, of each pair of channels
//   4 bytes: the numbers of excesses, two bytes each; the last one's highest bit says that blocks are of eight weights
//   four weights of the first channel, four of the second, and so on, filled up with zeros to whole fours
//   excesses of the first channel, then those of the second: the elements since the one before (or since the first), and what is
//   missing of that element's weight
// Products of a block with any inputs add up in 16 bits. Where blocks are of eight, an odd four is one of its own, the first.
// channels: struct intarsia_channel of each of them, an odd one twice; the upper half of its shift is its place in the output.
// (The byte below that is for estimates: instructions of four elements of the pair.)
// scratch, word-aligned: as thumb_conv.h has it, with 32 bytes for a pair of channels.
void intarsia_rv32_conv_s8(const struct intarsia_window *window, const int8_t *input,
                           int8_t *output, int8_t *scratch, const int8_t *weights,
                           const int32_t *channels);
void intarsia_rv32_conv_limited_s8(const struct intarsia_window *window, const int8_t *input,
                                   int8_t *output, int8_t *scratch, const int8_t *weights,
                                   const int32_t *channels);
void intarsia_rv32_conv_any_s8(const struct intarsia_window *window, const int8_t *input,
                               int8_t *output, int8_t *scratch, const int8_t *weights,
                               const int32_t *channels);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_CORTEX_M_RV32_CONV_H_
