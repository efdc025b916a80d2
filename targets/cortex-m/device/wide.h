// Convolutions and fully connected layers of int16 activations and int8 weights. Weights: wide_dot.h.
#ifndef INTARSIA_CORTEX_M_WIDE_H_
#define INTARSIA_CORTEX_M_WIDE_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct intarsia_wide {
#define FIELD(name) int16_t name;
#include "intarsia/targets/cortex_m/wide.def"
#undef FIELD
};

// One per output channel. Modular: the sum starts with the bias and is scaled as intarsia_requantize does.
// Otherwise products times the multiplier are added to the start, the bias times the multiplier with half of the
// last bit, and shifted to the right, 1..62.
struct intarsia_wide_channel {
  int32_t start_low, start_high;  // the halves of 64 bits
  int32_t multiplier;
  int32_t shift;
};

// scratch: one window, filled to a whole group.
// weights: blocks of four channels, the last filled with zeros; channels: as many rows as weights have.
void intarsia_dsp_wide_conv_s16(const struct intarsia_wide *wide, const int16_t *input,
                                int16_t *output, int16_t *scratch, const int8_t *weights,
                                const int32_t *channels);
void intarsia_mve_wide_conv_s16(const struct intarsia_wide *wide, const int16_t *input,
                                int16_t *output, int16_t *scratch, const int8_t *weights,
                                const int32_t *channels);

// The same where sums and biases fit 32 bits and shifts are at least 17; channels: as those of intarsia_dsp_conv_s16 (dsp_kernels.h).
void intarsia_dsp_short_conv_s16(const struct intarsia_wide *wide, const int16_t *input,
                                 int16_t *output, int16_t *scratch, const int8_t *weights,
                                 const int32_t *channels);

// One filter per channel; windows of up to 504 elements; not modular, shifts of at most 31.
// Dsp: blocks of four channels, the last of which overlaps the one before; out_c >= 4.
// weights: [block][kernel_h * kernel_w][4], channels in the order 0, 2, 1, 3. channels: out_c rows.
void intarsia_dsp_wide_depthwise_s16(const struct intarsia_wide *wide, const int16_t *input,
                                     int16_t *output, const int8_t *weights,
                                     const int32_t *channels);
// Mve: blocks of eight channels, the last filled with zeros. weights: [block][kernel_h * kernel_w][8].
void intarsia_mve_wide_depthwise_s16(const struct intarsia_wide *wide, const int16_t *input,
                                     int16_t *output, const int8_t *weights,
                                     const int32_t *channels);
// The same where sums fit 32 bits and shifts are at least 17. weights: of each block eight biases, [kernel_h * kernel_w][8] of a byte, eight
// multipliers times 2^16, and 16 less the shifts; of words, those of the even channels first. scratch, word-aligned: a block, and
// 24 bytes for each window, of 16 at most.
void intarsia_mve_depthwise_s16(const struct intarsia_wide *wide, const int16_t *input,
                                int16_t *output, int8_t *scratch, const int32_t *weights);
// Several filters per channel: out_c a multiple of in_c.
void intarsia_mve_depthwise_shared_s16(const struct intarsia_wide *wide, const int16_t *input,
                                       int16_t *output, int8_t *scratch, const int32_t *weights);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_CORTEX_M_WIDE_H_
