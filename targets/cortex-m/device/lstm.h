// Unidirectional LSTM layers of int8 or int16 with int8 weights and a cell state of int16.
#ifndef INTARSIA_CORTEX_M_LSTM_H_
#define INTARSIA_CORTEX_M_LSTM_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct intarsia_lstm {
#define FIELD(name) int32_t name;
#include "intarsia/targets/cortex_m/lstm.def"
#undef FIELD
};

// How one of the two sums of each gate becomes Q3.12, by gate: input, forget, candidate, output. _s16: by multiplier and
// shift, as intarsia_requantize_wide takes them. _s8: the sum shifted to the left by `left`, 1 or more, times the multiplier, of
// which the upper half is rounded; less `signs` where that is negative; plus `half`; shifted to the right. That is
// intarsia_requantize of a sum that the shift to the left keeps within 31 bits (results.h, "quick": there the shift is 1 and
// halves are the zero point's); where nothing is shifted to the right, half and signs are 0, otherwise signs is 1. _s16_short: sums
// fit 32 bits; the upper half of the sum times the multiplier, which is 2^16 times that of _s16, plus `half`, shifted to the right by
// `shift`, 1 or more: what is below the upper half never changes a result.
struct intarsia_lstm_shares {
  int32_t multiplier[4], shift[4], left[4], half[4], signs[4];
};
struct intarsia_lstm_gates {
  struct intarsia_lstm_shares input, hidden;
};

enum { INTARSIA_LSTM_BLOCK = 32 };  // units whose gates lie in scratch at once

// hidden: [batches][units]; cell: [batches][units]. scratch, word-aligned: with Dsp the inputs and the hidden state, each filled to a whole
// group; then four halfwords for each unit of a block.
// weights: per unit, those of the inputs to its four gates, then those of the hidden state, as byte_dot.h has them for _s8, wide_dot.h for
// the others. biases: per unit what the sums of its four gates begin with, those of the inputs and those of the hidden state; of _s16 the
// biases of its four gates, the lower half of 64 bits first. gates: struct intarsia_lstm_gates.
void intarsia_dsp_lstm_s8(const struct intarsia_lstm *lstm, const int8_t *input, int8_t *hidden,
                          int16_t *cell, int8_t *output, int16_t *scratch, const int8_t *weights,
                          const int32_t *biases, const int32_t *gates);
void intarsia_dsp_lstm_s16(const struct intarsia_lstm *lstm, const int16_t *input, int16_t *hidden,
                           int16_t *cell, int16_t *output, int16_t *scratch, const int8_t *weights,
                           const int32_t *biases, const int32_t *gates);
void intarsia_dsp_lstm_s16_short(const struct intarsia_lstm *lstm, const int16_t *input,
                                 int16_t *hidden, int16_t *cell, int16_t *output, int16_t *scratch,
                                 const int8_t *weights, const int32_t *biases,
                                 const int32_t *gates);
void intarsia_mve_lstm_s8(const struct intarsia_lstm *lstm, const int8_t *input, int8_t *hidden,
                          int16_t *cell, int8_t *output, int16_t *scratch, const int8_t *weights,
                          const int32_t *biases, const int32_t *gates);
void intarsia_mve_lstm_s16(const struct intarsia_lstm *lstm, const int16_t *input, int16_t *hidden,
                           int16_t *cell, int16_t *output, int16_t *scratch, const int8_t *weights,
                           const int32_t *biases, const int32_t *gates);
void intarsia_mve_lstm_s16_short(const struct intarsia_lstm *lstm, const int16_t *input,
                                 int16_t *hidden, int16_t *cell, int16_t *output, int16_t *scratch,
                                 const int8_t *weights, const int32_t *biases,
                                 const int32_t *gates);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_CORTEX_M_LSTM_H_
