// LSTM: the four gates of a unit are four channels of one dot product.
#include "intarsia/targets/cortex_m/lstm.h"

#include <string.h>

#include "intarsia/kernels/sigmoid.h"
#include "intarsia/targets/cortex_m/optimise.h"
#include "intarsia/targets/cortex_m/wide_results.h"
#include "intarsia/targets/cortex_m/widen.h"

enum gate { kInput, kForget, kCandidate, kOutput, kGates };

INTARSIA_INLINE int32_t clamp_s16(int32_t value) {
  return intarsia_clamp_i32(value, -32768, 32767);
}

// Of sums that the compiler has bounded (compiler/recurrent.cpp).
INTARSIA_INLINE int32_t narrow_share(int32_t sum, const struct intarsia_lstm_shares *shares,
                                     int32_t gate) {
  const int32_t scaled = intarsia_high_product((int32_t)((uint32_t)sum << shares->left[gate]),
                                               shares->multiplier[gate]);
  const int32_t less = (int32_t)((uint32_t)scaled >> 31) & shares->signs[gate];
  return clamp_s16((scaled - less + shares->half[gate]) >> shares->shift[gate]);
}

// intarsia_requantize_right of a product of two int16 that are not both the least, and 1 <= shift: results.h has the proof.
INTARSIA_INLINE int32_t scaled_product(int32_t product, int32_t multiplier, int32_t shift) {
  const int32_t scaled = intarsia_high_product(product + product, multiplier);
  return (scaled + (scaled >> 31) + (int32_t)(UINT32_C(1) << (shift - 1))) >> shift;
}

// Row `from` of activations of `size` bytes as int16 less the zero point.
INTARSIA_INLINE void take(int16_t *to, const int8_t *from, int32_t count, int32_t zero,
                          int32_t size, enum intarsia_wide_core core) {
  if (size == 2)
    intarsia_fill_group(to, (const int16_t *)(const void *)from, count, core);
  else
    intarsia_widen(to, from, count, zero, core);
}

#if INTARSIA_HAS_MVE
// A lane for each gate: narrow_share of its sum. VRSHL adds the half.
#define SHARE(sum, shares)   \
  "vldrw.32 q2, [" shares    \
  ", #32]\n"                 \
  "vshl.s32 " sum ", " sum   \
  ", q2\n"                   \
  "vldrw.32 q0, [" shares    \
  "]\n"                      \
  "vrmulh.s32 " sum ", " sum \
  ", q0\n"                   \
  "vldrw.32 q1, [" shares    \
  ", #64]\n"                 \
  "vshr.u32 q3, " sum        \
  ", #31\n"                  \
  "vldrw.32 q2, [" shares    \
  ", #16]\n"                 \
  "vand q3, q3, q1\n"        \
  "vneg.s32 q2, q2\n"        \
  "vsub.i32 " sum ", " sum   \
  ", q3\n"                   \
  "vrshl.s32 " sum ", " sum ", q2\n" LIMITED(sum)
#define LIMITED(sum)          \
  "vqmovnb.s32 " sum ", " sum \
  "\n"                        \
  "vmovlb.s16 " sum ", " sum "\n"
INTARSIA_INLINE void add_scaled(const int32_t from_input[kGates], const int32_t from_hidden[kGates],
                                const int32_t *biases, const struct intarsia_lstm_gates *gates,
                                int32_t results[kGates]) {
  __asm__ volatile(
      "vld20.32 {q4, q5}, [%[biases]]\n"
      "vld21.32 {q4, q5}, [%[biases]]\n"
      "vldrw.32 q6, [%[from_input]]\n"
      "vadd.i32 q6, q6, q4\n"
      "vldrw.32 q7, [%[from_hidden]]\n" SHARE("q6", "%[input]") SHARE(
          "q7", "%[hidden]") "vadd.i32 q6, q6, q7\n" LIMITED("q6") "vstrw.32 q6, [%[results]]\n"
      :
      : [from_input] "r"(from_input), [from_hidden] "r"(from_hidden), [biases] "r"(biases),
        [input] "r"(&gates->input), [hidden] "r"(&gates->hidden), [results] "r"(results)
      : "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "memory");
}
#undef LIMITED
#undef SHARE
#endif

// What the inputs and the hidden state give to the four gates, in Q3.12.
INTARSIA_INLINE void narrow_sums(const int16_t *x, int32_t inputs, const int16_t *hidden,
                                 int32_t units, const int8_t *weights, const int32_t *biases,
                                 const struct intarsia_lstm_gates *gates,
                                 enum intarsia_wide_core core, int32_t results[kGates]) {
  int32_t from_input[kGates], from_hidden[kGates];
  intarsia_narrow_products(x, weights, inputs, from_input, core);
  intarsia_narrow_products(hidden, weights + INTARSIA_WIDE_LANES * intarsia_wide_run(inputs, core),
                           units, from_hidden, core);
#if INTARSIA_HAS_MVE
  if (core == INTARSIA_WIDE_MVE) {
    add_scaled(from_input, from_hidden, biases, gates, results);
    return;
  }
#endif
  for (int32_t i = 0; i < kGates; ++i) {
    const int32_t sum = intarsia_add_wrapping_i32(from_input[i], biases[2 * i]);
    results[i] = clamp_s16(narrow_share(sum, &gates->input, i) +
                           narrow_share(from_hidden[i], &gates->hidden, i));
  }
}

INTARSIA_INLINE void wide_sums(const int16_t *x, int32_t inputs, const int16_t *hidden,
                               int32_t units, const int8_t *weights, const int32_t *biases,
                               const struct intarsia_lstm_gates *gates,
                               enum intarsia_wide_core core, int32_t results[kGates]) {
  int64_t from_input[kGates], from_hidden[kGates];
  intarsia_wide_products(x, weights, inputs, from_input, core);
  intarsia_wide_products(hidden, weights + INTARSIA_WIDE_LANES * intarsia_wide_run(inputs, core),
                         units, from_hidden, core);
  for (int32_t i = 0; i < kGates; ++i) {
    const struct intarsia_lstm_shares *input = &gates->input, *state = &gates->hidden;
    const uint64_t bias = (uint64_t)(uint32_t)biases[2 * i + 1] << 32 | (uint32_t)biases[2 * i];
    const int64_t sum = (int64_t)((uint64_t)from_input[i] + bias);
    results[i] = clamp_s16(
        clamp_s16(intarsia_scaled_wide(sum, input->multiplier[i], input->shift[i])) +
        clamp_s16(intarsia_scaled_wide(from_hidden[i], state->multiplier[i], state->shift[i])));
  }
}

INTARSIA_INLINE int16_t next_cell(const struct intarsia_lstm *l, int32_t old,
                                  const int32_t values[kGates]) {
  const int32_t kept = scaled_product(values[kForget] * old, l->forget_multiplier, l->forget_shift);
  const int32_t added =
      scaled_product(values[kInput] * values[kCandidate], l->input_multiplier, l->input_shift);
  const int32_t fresh = clamp_s16(clamp_s16(kept) + clamp_s16(added));
  return (int16_t)intarsia_clamp_i32(fresh, -l->cell_limit, l->cell_limit);
}

INTARSIA_INLINE void lstm(const struct intarsia_lstm *l, const int8_t *input, int8_t *hidden,
                          int16_t *cell, int8_t *output, int16_t *scratch, const int8_t *weights,
                          const int32_t *biases, const int32_t *gate_words, int32_t size,
                          enum intarsia_wide_core core) {
  const struct intarsia_lstm_gates *gates =
      (const struct intarsia_lstm_gates *)(const void *)gate_words;
  int16_t *x = scratch, *h = scratch + intarsia_wide_run(l->inputs, core);
  const int32_t unit_bytes =
      INTARSIA_WIDE_LANES * (int32_t)(h - x + intarsia_wide_run(l->units, core));
  const int32_t limit = size == 2 ? 32768 : 128;
  for (int32_t n = 0; n < l->batches; ++n, hidden += l->units * size, cell += l->units) {
    for (int32_t step = 0; step < l->steps; ++step) {
      const int32_t row = l->time_major != 0 ? step * l->batches + n : n * l->steps + step;
      int8_t *out = output + row * l->units * size;
      take(x, input + row * l->inputs * size, l->inputs, l->in_zero, size, core);
      take(h, hidden, l->units, l->hidden_zero, size, core);
      for (int32_t unit = 0; unit < l->units; ++unit) {
        int32_t values[kGates];
        const int8_t *unit_weights = weights + unit * unit_bytes;
        const int32_t *unit_biases = biases + 2 * kGates * unit;
        if (size == 2)
          wide_sums(x, l->inputs, h, l->units, unit_weights, unit_biases, gates, core, values);
        else
          narrow_sums(x, l->inputs, h, l->units, unit_weights, unit_biases, gates, core, values);
        for (int32_t gate = 0; gate < kGates; ++gate)
          values[gate] = gate == kCandidate ? intarsia_tanh_s16(values[gate], 3, 0)
                                            : intarsia_sigmoid_s16(values[gate], 3, 0);
        cell[unit] = next_cell(l, cell[unit], values);
        const int32_t tanh = intarsia_tanh_s16(cell[unit], l->tanh_multiplier, l->tanh_shift);
        const int32_t product =
            scaled_product(tanh * values[kOutput], l->out_multiplier, l->out_shift);
        const int32_t result = intarsia_clamp_i32(product + l->hidden_zero, -limit, limit - 1);
        if (size == 2) {
          const int16_t half = (int16_t)result;
          memcpy(out + 2 * unit, &half, sizeof half);
        } else {
          out[unit] = (int8_t)result;
        }
      }
      (void)intarsia_copy(hidden, out, l->units * size);
    }
  }
}

void intarsia_dsp_lstm_s8(const struct intarsia_lstm *l, const int8_t *input, int8_t *hidden,
                          int16_t *cell, int8_t *output, int16_t *scratch, const int8_t *weights,
                          const int32_t *biases, const int32_t *gates) {
  lstm(l, input, hidden, cell, output, scratch, weights, biases, gates, 1, INTARSIA_WIDE_DSP);
}

void intarsia_dsp_lstm_s16(const struct intarsia_lstm *l, const int16_t *input, int16_t *hidden,
                           int16_t *cell, int16_t *output, int16_t *scratch, const int8_t *weights,
                           const int32_t *biases, const int32_t *gates) {
  lstm(l, (const int8_t *)input, (int8_t *)hidden, cell, (int8_t *)output, scratch, weights, biases,
       gates, 2, INTARSIA_WIDE_DSP);
}

void intarsia_mve_lstm_s8(const struct intarsia_lstm *l, const int8_t *input, int8_t *hidden,
                          int16_t *cell, int8_t *output, int16_t *scratch, const int8_t *weights,
                          const int32_t *biases, const int32_t *gates) {
  lstm(l, input, hidden, cell, output, scratch, weights, biases, gates, 1, INTARSIA_WIDE_MVE);
}

void intarsia_mve_lstm_s16(const struct intarsia_lstm *l, const int16_t *input, int16_t *hidden,
                           int16_t *cell, int16_t *output, int16_t *scratch, const int8_t *weights,
                           const int32_t *biases, const int32_t *gates) {
  lstm(l, (const int8_t *)input, (int8_t *)hidden, cell, (int8_t *)output, scratch, weights, biases,
       gates, 2, INTARSIA_WIDE_MVE);
}
