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

// Gates in the order input, forget, candidate, output. How a gate's two sums become Q3.12: _s8 as
// intarsia_requantize_right takes it, _s16 as intarsia_requantize_wide.
struct intarsia_lstm_gate {
  int32_t input_multiplier, input_shift;
  int32_t hidden_multiplier, hidden_shift;
};

// hidden: [batches][units]; cell: [batches][units]. scratch: the inputs and the hidden state, each filled to
// a whole group (wide_dot.h).
// weights: per unit, those of the inputs to its four gates, then those of the hidden state (wide_dot.h).
// biases: per unit those of its four gates, the lower half of 64 bits first. gates: four of struct
// intarsia_lstm_gate.
void intarsia_dsp_lstm_s8(const struct intarsia_lstm *lstm, const int8_t *input, int8_t *hidden,
                          int16_t *cell, int8_t *output, int16_t *scratch, const int8_t *weights,
                          const int32_t *biases, const int32_t *gates);
void intarsia_dsp_lstm_s16(const struct intarsia_lstm *lstm, const int16_t *input, int16_t *hidden,
                           int16_t *cell, int16_t *output, int16_t *scratch, const int8_t *weights,
                           const int32_t *biases, const int32_t *gates);
void intarsia_mve_lstm_s8(const struct intarsia_lstm *lstm, const int8_t *input, int8_t *hidden,
                          int16_t *cell, int8_t *output, int16_t *scratch, const int8_t *weights,
                          const int32_t *biases, const int32_t *gates);
void intarsia_mve_lstm_s16(const struct intarsia_lstm *lstm, const int16_t *input, int16_t *hidden,
                           int16_t *cell, int16_t *output, int16_t *scratch, const int8_t *weights,
                           const int32_t *biases, const int32_t *gates);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_CORTEX_M_LSTM_H_
