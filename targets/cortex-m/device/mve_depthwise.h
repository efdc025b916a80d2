// Depthwise convolution on cores with Helium.
#ifndef INTARSIA_CORTEX_M_MVE_DEPTHWISE_H_
#define INTARSIA_CORTEX_M_MVE_DEPTHWISE_H_

#include "cortex_m/window.h"

#ifdef __cplusplus
extern "C" {
#endif

// Channels in blocks of 16, the last of which overlaps the one before where they are no multiple of 16;
// in_c == out_c >= 16. Taps (the kernel_h * kernel_w weights of a channel) go in pairs, an odd number
// with a tap of zeros at the end; in each pair the magnitudes of the weights add up to 255 at most.
// weights: [block][tap][16].
// channels: [block] of 16 biases, 16 multipliers, 16 shifts (negative: to the right, as VRSHL); in each
// the channels 0, 4, 8, 12, then 2, 6, ..., then 1, 5, ..., then 3, 7, ... of the block.
// scratch: taps (odd number: and one more) times (8 + in_c) bytes, word-aligned.
void intarsia_mve_depthwise_s8(const struct intarsia_window *window, const int8_t *input, int8_t *output,
                               int8_t *scratch, const int8_t *weights, const int32_t *channels);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_CORTEX_M_MVE_DEPTHWISE_H_
