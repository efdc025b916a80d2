// LSTM: the four gates of a unit are four channels of one dot product.
#include "intarsia/targets/cortex_m/lstm.h"

#include <string.h>

#include "intarsia/targets/cortex_m/optimise.h"
#include "intarsia/targets/cortex_m/wide_curves.h"
#include "intarsia/targets/cortex_m/wide_results.h"
#include "intarsia/targets/cortex_m/widen.h"

enum gate { kInput, kForget, kCandidate, kOutput, kGates };

// Sums of products: of int8 activations; of int16 ones, which fit 32 bits (compiler/recurrent.cpp) or not.
enum sums { kNarrow, kShort, kWide };

enum { kTogether = 4 };  // units

// Of sums that the compiler has bounded (compiler/recurrent.cpp).
INTARSIA_INLINE int32_t narrow_share(int32_t sum, const struct intarsia_lstm_shares *shares,
                                     int32_t gate) {
  const int32_t scaled = intarsia_high_product((int32_t)((uint32_t)sum << shares->left[gate]),
                                               shares->multiplier[gate]);
  const int32_t less = (int32_t)((uint32_t)scaled >> 31) & shares->signs[gate];
  return intarsia_saturate_s16((scaled - less + shares->half[gate]) >> shares->shift[gate]);
}

// intarsia_requantize_wide of a sum of 32 bits: the lower half of the product is less than the last bit of what is shifted.
INTARSIA_INLINE int32_t short_share(int32_t sum, const struct intarsia_lstm_shares *shares,
                                    int32_t gate) {
  const int32_t high = (int32_t)((int64_t)sum * shares->multiplier[gate] >> 32);
  return intarsia_saturate_s16((high + shares->half[gate]) >> shares->shift[gate]);
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
INTARSIA_INLINE int32x4_t four_sums(const int16_t *x, const int8_t *weights, int32_t count) {
  const struct intarsia_four_sums sums = intarsia_mve_wide_sums(x, weights, count);
  const int32x4_t vector = {sums.a, sums.b, sums.c, sums.d};
  return vector;
}

INTARSIA_INLINE int32x4_t saturated(int32x4_t values) {
  return vmovlbq_s16(vqmovnbq_s32(vreinterpretq_s16_s32(values), values));
}

// A lane for each gate: narrow_share or short_share of its sum. VRSHL adds the half.
INTARSIA_INLINE int32x4_t four_shares(int32x4_t sums, const struct intarsia_lstm_shares *shares,
                                      enum sums kind) {
  const int32x4_t multipliers = vldrwq_s32(shares->multiplier),
                  right = vnegq_s32(vldrwq_s32(shares->shift));
  if (kind == kShort) return saturated(vrshlq_s32(vmulhq_s32(sums, multipliers), right));
  const int32x4_t scaled = vrmulhq_s32(vshlq_s32(sums, vldrwq_s32(shares->left)), multipliers);
  const int32x4_t signs = vreinterpretq_s32_u32(vshrq_n_u32(vreinterpretq_u32_s32(scaled), 31));
  const int32x4_t less = vandq_s32(signs, vldrwq_s32(shares->signs));
  return saturated(vrshlq_s32(vsubq_s32(scaled, less), right));
}
#endif

// What the inputs and the hidden state give to the four gates, in Q3.12.
INTARSIA_INLINE void narrow_sums(const int16_t *x, int32_t inputs, const int16_t *hidden,
                                 int32_t units, const int8_t *weights, const int32_t *biases,
                                 const struct intarsia_lstm_gates *gates,
                                 enum intarsia_wide_core core, enum sums kind,
                                 int32_t results[kGates]) {
  const int8_t *hidden_weights = weights + INTARSIA_WIDE_LANES * intarsia_wide_run(inputs, core);
#if INTARSIA_HAS_MVE
  if (core == INTARSIA_WIDE_MVE) {
    const int32x4_t biased = vaddq_s32(four_sums(x, weights, inputs), vld2q_s32(biases).val[0]);
    const int32x4_t from_input = four_shares(biased, &gates->input, kind);
    const int32x4_t from_hidden =
        four_shares(four_sums(hidden, hidden_weights, units), &gates->hidden, kind);
    vstrwq_s32(results, saturated(vaddq_s32(from_input, from_hidden)));
    return;
  }
#endif
  int32_t from_input[kGates], from_hidden[kGates];
  intarsia_narrow_products(x, weights, inputs, from_input, core);
  intarsia_narrow_products(hidden, hidden_weights, units, from_hidden, core);
  for (int32_t i = 0; i < kGates; ++i) {
    const int32_t sum = intarsia_add_wrapping_i32(from_input[i], biases[2 * i]);
    results[i] = kind == kShort
                     ? intarsia_saturate_s16(short_share(sum, &gates->input, i) +
                                             short_share(from_hidden[i], &gates->hidden, i))
                     : intarsia_saturate_s16(narrow_share(sum, &gates->input, i) +
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
    results[i] = intarsia_saturate_s16(
        intarsia_saturate_s16(intarsia_scaled_wide(sum, input->multiplier[i], input->shift[i])) +
        intarsia_saturate_s16(
            intarsia_scaled_wide(from_hidden[i], state->multiplier[i], state->shift[i])));
  }
}

// From the gates' sums of up to four units to their cells and results: `least` and `most` limit these, of `size` bytes.
#if INTARSIA_HAS_MVE
INTARSIA_INLINE int32x4_t four_scaled_products(int32x4_t a, int32x4_t b, int32_t multiplier,
                                               int32_t shift) {
  const int32x4_t product = vmulq_s32(a, b);
  const int32x4_t scaled = vrmulhq_s32(vaddq_s32(product, product), vdupq_n_s32(multiplier));
  return vrshlq_n_s32(vaddq_s32(scaled, vshrq_n_s32(scaled, 31)), -shift);
}
INTARSIA_INLINE void finish_together(const struct intarsia_lstm *l, const int32_t *values,
                                     int32_t count, const uint16_t *points, int16_t *cell,
                                     int8_t *out, int32_t size) {
  const struct intarsia_wide_curve sigmoid = INTARSIA_WIDE_SIGMOID, tanh = INTARSIA_WIDE_TANH;
  const mve_pred16_t some = vctp32q((uint32_t)count);
  const int32x4x4_t sums = vld4q_s32(values);
  const int32x4_t inputs = intarsia_four_on_curve(sigmoid, points, sums.val[kInput], 3, 0);
  const int32x4_t candidates = intarsia_four_on_curve(tanh, points, sums.val[kCandidate], 3, 0);
  const int32x4_t forgets = intarsia_four_on_curve(sigmoid, points, sums.val[kForget], 3, 0);
  const int32x4_t outputs = intarsia_four_on_curve(sigmoid, points, sums.val[kOutput], 3, 0);
  const int32x4_t added =
      saturated(four_scaled_products(inputs, candidates, l->input_multiplier, l->input_shift));
  const int32x4_t kept = saturated(four_scaled_products(forgets, vldrhq_z_s32(cell, some),
                                                        l->forget_multiplier, l->forget_shift));
  const int32x4_t limit = vdupq_n_s32(l->cell_limit);
  const int32x4_t fresh =
      vminq_s32(vmaxq_s32(saturated(vaddq_s32(kept, added)), vnegq_s32(limit)), limit);
  vstrhq_p_s32(cell, fresh, some);
  const int32x4_t product = four_scaled_products(
      intarsia_four_on_curve(tanh, points, fresh, l->tanh_multiplier, l->tanh_shift), outputs,
      l->out_multiplier, l->out_shift);
  const int32x4_t results = saturated(vaddq_n_s32(product, l->hidden_zero));
  if (size == 2)
    vstrhq_p_s32((int16_t *)(void *)out, results, some);
  else
    vstrbq_p_s32(out, vminq_s32(vmaxq_s32(results, vdupq_n_s32(-128)), vdupq_n_s32(127)), some);
}
#else
// intarsia_requantize_right of a product of two int16 that are not both the least, and 1 <= shift: results.h has the proof.
INTARSIA_INLINE int32_t scaled_product(int32_t product, int32_t multiplier, int32_t shift) {
  const int32_t scaled = intarsia_high_product(product + product, multiplier);
  return (scaled + (scaled >> 31) + (int32_t)(UINT32_C(1) << (shift - 1))) >> shift;
}

INTARSIA_INLINE int16_t next_cell(const struct intarsia_lstm *l, int32_t old, int32_t forget,
                                  int32_t input, int32_t candidate) {
  const int32_t kept = scaled_product(forget * old, l->forget_multiplier, l->forget_shift);
  const int32_t added = scaled_product(input * candidate, l->input_multiplier, l->input_shift);
  const int32_t fresh =
      intarsia_saturate_s16(intarsia_saturate_s16(kept) + intarsia_saturate_s16(added));
  return (int16_t)intarsia_clamp_i32(fresh, -l->cell_limit, l->cell_limit);
}
INTARSIA_INLINE void finish_together(const struct intarsia_lstm *l, const int32_t *values,
                                     int32_t count, const uint16_t *points, int16_t *cell,
                                     int8_t *out, int32_t size) {
  const struct intarsia_wide_curve sigmoid = INTARSIA_WIDE_SIGMOID, tanh = INTARSIA_WIDE_TANH;
  const int32_t limit = size == 2 ? 32768 : 128;
  for (int32_t unit = 0; unit < count; ++unit, values += kGates) {
    cell[unit] = next_cell(l, cell[unit], intarsia_on_curve(sigmoid, points, values[kForget], 3, 0),
                           intarsia_on_curve(sigmoid, points, values[kInput], 3, 0),
                           intarsia_on_curve(tanh, points, values[kCandidate], 3, 0));
    const int32_t product = scaled_product(
        intarsia_on_curve(tanh, points, cell[unit], l->tanh_multiplier, l->tanh_shift) *
            intarsia_on_curve(sigmoid, points, values[kOutput], 3, 0),
        l->out_multiplier, l->out_shift);
    const int32_t result = intarsia_clamp_i32(product + l->hidden_zero, -limit, limit - 1);
    if (size == 2) {
      const int16_t half = (int16_t)result;
      memcpy(out + 2 * unit, &half, sizeof half);
    } else {
      out[unit] = (int8_t)result;
    }
  }
}
#endif

INTARSIA_INLINE void lstm(const struct intarsia_lstm *l, const int8_t *input, int8_t *hidden,
                          int16_t *cell, int8_t *output, int16_t *scratch, const int8_t *weights,
                          const int32_t *biases, const int32_t *gate_words, enum sums kind,
                          enum intarsia_wide_core core) {
  const struct intarsia_lstm_gates *gates =
      (const struct intarsia_lstm_gates *)(const void *)gate_words;
  const uint16_t *const points = intarsia_sigmoid_points();
  const int32_t size = kind == kNarrow ? 1 : 2;
  int16_t *x = scratch, *h = scratch + intarsia_wide_run(l->inputs, core);
  const int32_t unit_bytes =
      INTARSIA_WIDE_LANES * (int32_t)(h - x + intarsia_wide_run(l->units, core));
  for (int32_t n = 0; n < l->batches; ++n, hidden += l->units * size, cell += l->units) {
    for (int32_t step = 0; step < l->steps; ++step) {
      const int32_t row = l->time_major != 0 ? step * l->batches + n : n * l->steps + step;
      int8_t *out = output + row * l->units * size;
      take(x, input + row * l->inputs * size, l->inputs, l->in_zero, size, core);
      take(h, hidden, l->units, l->hidden_zero, size, core);
      for (int32_t unit = 0; unit < l->units; unit += kTogether) {
        int32_t values[kTogether * kGates];
        const int32_t count = l->units - unit < kTogether ? l->units - unit : kTogether;
        if (count < kTogether) memset(values, 0, sizeof values);
        for (int32_t i = 0; i < count; ++i) {
          const int8_t *unit_weights = weights + (unit + i) * unit_bytes;
          const int32_t *unit_biases = biases + 2 * kGates * (unit + i);
          if (kind == kWide)
            wide_sums(x, l->inputs, h, l->units, unit_weights, unit_biases, gates, core,
                      values + kGates * i);
          else
            narrow_sums(x, l->inputs, h, l->units, unit_weights, unit_biases, gates, core, kind,
                        values + kGates * i);
        }
        finish_together(l, values, count, points, cell + unit, out + size * unit, size);
      }
      (void)intarsia_copy(hidden, out, l->units * size);
    }
  }
}

void intarsia_dsp_lstm_s8(const struct intarsia_lstm *l, const int8_t *input, int8_t *hidden,
                          int16_t *cell, int8_t *output, int16_t *scratch, const int8_t *weights,
                          const int32_t *biases, const int32_t *gates) {
  lstm(l, input, hidden, cell, output, scratch, weights, biases, gates, kNarrow, INTARSIA_WIDE_DSP);
}

void intarsia_dsp_lstm_s16(const struct intarsia_lstm *l, const int16_t *input, int16_t *hidden,
                           int16_t *cell, int16_t *output, int16_t *scratch, const int8_t *weights,
                           const int32_t *biases, const int32_t *gates) {
  lstm(l, (const int8_t *)input, (int8_t *)hidden, cell, (int8_t *)output, scratch, weights, biases,
       gates, kWide, INTARSIA_WIDE_DSP);
}

void intarsia_mve_lstm_s8(const struct intarsia_lstm *l, const int8_t *input, int8_t *hidden,
                          int16_t *cell, int8_t *output, int16_t *scratch, const int8_t *weights,
                          const int32_t *biases, const int32_t *gates) {
  lstm(l, input, hidden, cell, output, scratch, weights, biases, gates, kNarrow, INTARSIA_WIDE_MVE);
}

void intarsia_mve_lstm_s16(const struct intarsia_lstm *l, const int16_t *input, int16_t *hidden,
                           int16_t *cell, int16_t *output, int16_t *scratch, const int8_t *weights,
                           const int32_t *biases, const int32_t *gates) {
  lstm(l, (const int8_t *)input, (int8_t *)hidden, cell, (int8_t *)output, scratch, weights, biases,
       gates, kWide, INTARSIA_WIDE_MVE);
}

void intarsia_dsp_lstm_s16_short(const struct intarsia_lstm *l, const int16_t *input,
                                 int16_t *hidden, int16_t *cell, int16_t *output, int16_t *scratch,
                                 const int8_t *weights, const int32_t *biases,
                                 const int32_t *gates) {
  lstm(l, (const int8_t *)input, (int8_t *)hidden, cell, (int8_t *)output, scratch, weights, biases,
       gates, kShort, INTARSIA_WIDE_DSP);
}

void intarsia_mve_lstm_s16_short(const struct intarsia_lstm *l, const int16_t *input,
                                 int16_t *hidden, int16_t *cell, int16_t *output, int16_t *scratch,
                                 const int8_t *weights, const int32_t *biases,
                                 const int32_t *gates) {
  lstm(l, (const int8_t *)input, (int8_t *)hidden, cell, (int8_t *)output, scratch, weights, biases,
       gates, kShort, INTARSIA_WIDE_MVE);
}
