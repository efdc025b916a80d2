// LSTM: the four gates of a unit are four channels of one dot product. A block of units at a time: their gates in Q3.12, the curves of
// all these, then cells and results.
#include "intarsia/targets/cortex_m/lstm.h"

#include <stddef.h>

#include "intarsia/targets/cortex_m/optimise.h"

#include "intarsia/targets/cortex_m/byte_dot.h"
#include "intarsia/targets/cortex_m/bytes.h"
#include "intarsia/targets/cortex_m/pool_softmax.h"
#include "intarsia/targets/cortex_m/wide_results.h"

#if INTARSIA_HAS_MVE
#include <arm_mve.h>
#endif

// As weights, biases and shares have them. Scratch has a run of the block's units for each, those with one curve side by side.
enum gate { kInput, kForget, kCandidate, kOutput, kGates };
enum run { kInputRun, kForgetRun, kOutputRun, kCandidateRun };

// Sums of products: of int8 activations; of int16 ones, which fit 32 bits (compiler/recurrent.cpp) or not.
enum sums { kNarrow, kShort, kWide };

// What units' gates are summed from; the assembly knows the layout.
struct gate_sums {
  const void *x;  // as byte_dot.h or wide_dot.h take them
  int32_t inputs;
  const void *hidden;
  int32_t units;
  const int8_t *weights;
  const int32_t *biases;
  const struct intarsia_lstm_gates *gates;
};

INTARSIA_INLINE int32_t weight_run(int32_t count, enum sums kind, enum intarsia_wide_core core) {
  return INTARSIA_WIDE_LANES *
         (kind == kNarrow ? intarsia_byte_run(count, core) : intarsia_wide_run(count, core));
}

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

INTARSIA_INLINE int32_t wide_share(int64_t sum, const struct intarsia_lstm_shares *shares,
                                   int32_t gate) {
  return intarsia_saturate_s16(
      intarsia_scaled_wide(sum, shares->multiplier[gate], shares->shift[gate]));
}

#if INTARSIA_HAS_MVE
_Static_assert(offsetof(struct gate_sums, inputs) == 4 && offsetof(struct gate_sums, hidden) == 8 &&
                   sizeof(struct intarsia_lstm_shares) == 80,
               "the assembly's numbers");

// A lane for each gate: the products of `x`, and narrow_share or short_share of their sum. VRSHL adds the half.
#define GATE_LANES(size, lanes)     \
  "dlstp." size                     \
  " lr, r0\n"                       \
  "movs r0, #0\n"                   \
  "movs r2, #0\n"                   \
  "movs r4, #0\n"                   \
  "movs r6, #0\n" lanes             \
  "vmov q0[2], q0[0], r0, r4\n"     \
  "vldrw.32 q1, [%[biases]], #16\n" \
  "vmov q0[3], q0[1], r2, r6\n"     \
  "vadd.i32 q0, q0, q1\n"
#define NARROW_SHARES(side)         \
  "vldrw.32 q2, [%[shares], #" side \
  " + 32]\n"                        \
  "vldrw.32 q3, [%[shares], #" side \
  "]\n"                             \
  "vshl.s32 q0, q0, q2\n"           \
  "vldrw.32 q1, [%[shares], #" side \
  " + 64]\n"                        \
  "vrmulh.s32 q0, q0, q3\n"         \
  "vldrw.32 q2, [%[shares], #" side \
  " + 16]\n"                        \
  "vshr.u32 q3, q0, #31\n"          \
  "vneg.s32 q2, q2\n"               \
  "vand q3, q3, q1\n"               \
  "vsub.i32 q0, q0, q3\n"           \
  "vrshl.s32 q0, q0, q2\n"
#define SHORT_SHARES(side)          \
  "vldrw.32 q3, [%[shares], #" side \
  "]\n"                             \
  "vldrw.32 q2, [%[shares], #" side \
  " + 16]\n"                        \
  "vmulh.s32 q0, q0, q3\n"          \
  "vneg.s32 q2, q2\n"               \
  "vrshl.s32 q0, q0, q2\n"
// Of a unit: both shares of its gates, each as halfwords, to their runs.
#define UNIT_GATES(LANES, SHARES) \
  __asm__ volatile("ldrd %[x], r0, [%[sums]]\n" LANES SHARES("0")                                       \
                   "vqmovnb.s32 q4, q0\n"                                                               \
                   "ldrd %[x], r0, [%[sums], #8]\n" LANES SHARES("80")                                  \
                   "vqmovnb.s32 q0, q0\n"                                                               \
                   "vqadd.s16 q0, q0, q4\n"                                                             \
                   "vstrh.32 q0, [%[gates], %q[runs], uxtw #1]\n"                                       \
                   : [weights] "+l"(weights), [biases] "+r"(biases), [x] "=&r"(x)                       \
                   : [sums] "r"(s), [shares] "r"(s->gates), [gates] "r"(gates + unit), [runs] "w"(runs) \
                   : "r0", "r2", "r4", "r6", "q0", "q1", "q2", "q3", "q4",                              \
                     "lr", "cc" INTARSIA_CLOBBERS_PREDICATE, "memory")

INTARSIA_INLINE void lane_gates(const struct gate_sums *s, int32_t count, int16_t *gates,
                                enum sums kind) {
  const uint32_t n = (uint32_t)count;
  const uint32x4_t runs = {kInputRun * n, kForgetRun * n, kCandidateRun * n, kOutputRun * n};
  const int8_t *weights = s->weights;
  const int32_t *biases = s->biases;
  for (int32_t unit = 0; unit < count; ++unit) {
    const void *x;
    if (kind == kNarrow)
      UNIT_GATES(GATE_LANES("8", INTARSIA_BYTE_LANES), NARROW_SHARES);
    else
      UNIT_GATES(GATE_LANES("16", INTARSIA_HALF_LANES), SHORT_SHARES);
  }
}
#undef UNIT_GATES
#undef SHORT_SHARES
#undef NARROW_SHARES
#undef GATE_LANES
#endif

INTARSIA_INLINE void single_gates(struct gate_sums s, int32_t count, int16_t *gates, enum sums kind,
                                  enum intarsia_wide_core core) {
  const int32_t runs[kGates] = {kInputRun, kForgetRun, kCandidateRun, kOutputRun};
  const int32_t input_weights = weight_run(s.inputs, kind, core),
                hidden_weights = weight_run(s.units, kind, core);
  for (int32_t unit = 0; unit < count; ++unit) {
    int32_t sums[2 * kGates];
    for (int32_t side = 0; side < 2; ++side) {
      const void *const x = side == 0 ? s.x : s.hidden;
      const int32_t elements = side == 0 ? s.inputs : s.units;
      if (kind == kNarrow)
        intarsia_byte_products(x, s.weights, elements, sums + side * kGates, core);
      else
        intarsia_narrow_products(x, s.weights, elements, sums + side * kGates, core);
      s.weights += side == 0 ? input_weights : hidden_weights;
    }
    for (int32_t gate = 0; gate < kGates; ++gate, ++s.biases) {
      const int32_t of_input = intarsia_add_wrapping_i32(sums[gate], s.biases[0]),
                    of_hidden = intarsia_add_wrapping_i32(sums[kGates + gate], s.biases[kGates]);
      const int32_t both = kind == kNarrow ? narrow_share(of_input, &s.gates->input, gate) +
                                                 narrow_share(of_hidden, &s.gates->hidden, gate)
                                           : short_share(of_input, &s.gates->input, gate) +
                                                 short_share(of_hidden, &s.gates->hidden, gate);
      gates[runs[gate] * count + unit] = (int16_t)intarsia_saturate_s16(both);
    }
    s.biases += kGates;
  }
}

// Of sums that 32 bits do not hold.
INTARSIA_INLINE void wide_gates(struct gate_sums s, int32_t count, int16_t *gates,
                                enum intarsia_wide_core core) {
  const int32_t runs[kGates] = {kInputRun, kForgetRun, kCandidateRun, kOutputRun};
  const int32_t input_weights = weight_run(s.inputs, kWide, core),
                hidden_weights = weight_run(s.units, kWide, core);
  for (int32_t unit = 0; unit < count; ++unit, s.biases += 2 * kGates) {
    int64_t input[kGates], hidden[kGates];
    intarsia_wide_products(s.x, s.weights, s.inputs, input, core);
    s.weights += input_weights;
    intarsia_wide_products(s.hidden, s.weights, s.units, hidden, core);
    s.weights += hidden_weights;
    for (int32_t gate = 0; gate < kGates; ++gate) {
      const uint64_t bias =
          (uint64_t)(uint32_t)s.biases[2 * gate + 1] << 32 | (uint32_t)s.biases[2 * gate];
      const int32_t both =
          wide_share((int64_t)((uint64_t)input[gate] + bias), &s.gates->input, gate) +
          wide_share(hidden[gate], &s.gates->hidden, gate);
      gates[runs[gate] * count + unit] = (int16_t)intarsia_saturate_s16(both);
    }
  }
}

INTARSIA_INLINE void gates_of(const struct gate_sums *s, int32_t count, int16_t *gates,
                              enum sums kind, enum intarsia_wide_core core) {
  if (kind == kWide) {
    wide_gates(*s, count, gates, core);
    return;
  }
#if INTARSIA_HAS_MVE
  if (core == INTARSIA_WIDE_MVE) {
    lane_gates(s, count, gates, kind);
    return;
  }
#endif
  single_gates(*s, count, gates, kind, core);
}

#if INTARSIA_HAS_MVE
// Of eight products a * b: scaled_product below. Four lanes each of the even and the odd ones.
INTARSIA_INLINE int32x4_t four_scaled(int32x4_t product, int32_t multiplier, int32_t shift) {
  const int32x4_t scaled = vrmulhq_s32(vaddq_s32(product, product), vdupq_n_s32(multiplier));
  return vrshlq_n_s32(vaddq_s32(scaled, vshrq_n_s32(scaled, 31)), -shift);
}
INTARSIA_INLINE int16x8_t eight_scaled(int16x8_t a, int16x8_t b, int32_t multiplier, int32_t shift,
                                       int32_t zero) {
  const int32x4_t even = four_scaled(vmullbq_int_s16(a, b), multiplier, shift),
                  odd = four_scaled(vmulltq_int_s16(a, b), multiplier, shift);
  return vqmovntq_s32(vqmovnbq_s32(vdupq_n_s16(0), vaddq_n_s32(even, zero)),
                      vaddq_n_s32(odd, zero));
}
#else
// intarsia_requantize_right of a product of two int16 that are not both the least, and 1 <= shift: results.h has the proof.
INTARSIA_INLINE int32_t scaled_product(int32_t product, int32_t multiplier, int32_t shift) {
  const int32_t scaled = intarsia_high_product(product + product, multiplier);
  return (scaled + (scaled >> 31) + (int32_t)(UINT32_C(1) << (shift - 1))) >> shift;
}
#endif

// The cells of `count` units, from gates behind their curves.
INTARSIA_INLINE void next_cells(const struct intarsia_lstm *l, const int16_t *gates, int32_t count,
                                int16_t *cell) {
  const int16_t *const input = gates + kInputRun * count,
                       *const forget = gates + kForgetRun * count,
                       *const candidate = gates + kCandidateRun * count;
#if INTARSIA_HAS_MVE
  const int16x8_t most = vdupq_n_s16((int16_t)(l->cell_limit > 32767 ? 32767 : l->cell_limit)),
                  least = vdupq_n_s16((int16_t)-l->cell_limit);
  for (int32_t unit = 0; unit < count; unit += 8) {
    const mve_pred16_t some = vctp16q((uint32_t)(count - unit));
    const int16x8_t kept =
        eight_scaled(vldrhq_z_s16(forget + unit, some), vldrhq_z_s16(cell + unit, some),
                     l->forget_multiplier, l->forget_shift, 0);
    const int16x8_t added =
        eight_scaled(vldrhq_z_s16(input + unit, some), vldrhq_z_s16(candidate + unit, some),
                     l->input_multiplier, l->input_shift, 0);
    vstrhq_p_s16(cell + unit, vminq_s16(vmaxq_s16(vqaddq_s16(kept, added), least), most), some);
  }
#else
  for (int32_t unit = 0; unit < count; ++unit) {
    const int32_t kept =
        scaled_product(forget[unit] * cell[unit], l->forget_multiplier, l->forget_shift);
    const int32_t added =
        scaled_product(input[unit] * candidate[unit], l->input_multiplier, l->input_shift);
    const int32_t fresh =
        intarsia_saturate_s16(intarsia_saturate_s16(kept) + intarsia_saturate_s16(added));
    cell[unit] = (int16_t)intarsia_clamp_i32(fresh, -l->cell_limit, l->cell_limit);
  }
#endif
}

// The hidden state, of elements of `size` bytes: tanh of the cells times the output gates.
INTARSIA_INLINE void hidden_state(const struct intarsia_lstm *l, const int16_t *tanh_cell,
                                  const int16_t *gate, int32_t count, int8_t *out, int32_t size) {
#if INTARSIA_HAS_MVE
  for (int32_t unit = 0; unit < count; unit += 8) {
    const mve_pred16_t some = vctp16q((uint32_t)(count - unit));
    const int16x8_t results =
        eight_scaled(vldrhq_z_s16(tanh_cell + unit, some), vldrhq_z_s16(gate + unit, some),
                     l->out_multiplier, l->out_shift, l->hidden_zero);
    if (size == 2)
      vstrhq_p_s16((int16_t *)(void *)out + unit, results, some);
    else
      vstrbq_p_s16(out + unit, vminq_s16(vmaxq_s16(results, vdupq_n_s16(-128)), vdupq_n_s16(127)),
                   some);
  }
#else
  const int32_t limit = size == 2 ? 32768 : 128;
  for (int32_t unit = 0; unit < count; ++unit) {
    const int32_t product =
        scaled_product(tanh_cell[unit] * gate[unit], l->out_multiplier, l->out_shift);
    const int32_t result = intarsia_clamp_i32(product + l->hidden_zero, -limit, limit - 1);
    if (size == 2)
      ((int16_t *)(void *)out)[unit] = (int16_t)result;
    else
      out[unit] = (int8_t)result;
  }
#endif
}

// Activations as the sums take them: with Dsp in scratch, expanded, or filled with zeros to a whole group.
INTARSIA_INLINE const void *activations(int16_t *scratch, const int8_t *from, int32_t count,
                                        enum sums kind, enum intarsia_wide_core core) {
  if (kind == kNarrow) return intarsia_byte_activations(scratch, from, count, 0, core);
  if (core == INTARSIA_WIDE_MVE) return from;
  (void)intarsia_copy((int8_t *)scratch, from, 2 * count);
  for (int32_t i = count; i < intarsia_wide_run(count, core); ++i) scratch[i] = 0;
  return scratch;
}

INTARSIA_INLINE void lstm(const struct intarsia_lstm *l, const int8_t *input, int8_t *hidden,
                          int16_t *cell, int8_t *output, int16_t *scratch, const int8_t *weights,
                          const int32_t *biases, const int32_t *gate_words, enum sums kind,
                          enum intarsia_wide_core core) {
  const int32_t size = kind == kNarrow ? 1 : 2;
  const int32_t unit_weights = weight_run(l->inputs, kind, core) + weight_run(l->units, kind, core);
  int16_t *const x = scratch, *h = x, *gates = x;
  if (core == INTARSIA_WIDE_DSP) {
    h = x + intarsia_wide_run(l->inputs, core);
    gates = h + intarsia_wide_run(l->units, core);
  }
  struct gate_sums sums = {0};
  sums.inputs = l->inputs, sums.units = l->units;
  sums.gates = (const struct intarsia_lstm_gates *)(const void *)gate_words;
  for (int32_t n = 0; n < l->batches; ++n, hidden += l->units * size, cell += l->units) {
    for (int32_t step = 0; step < l->steps; ++step) {
      const int32_t row = l->time_major != 0 ? step * l->batches + n : n * l->steps + step;
      int8_t *const out = output + row * l->units * size;
      sums.x = activations(x, input + row * l->inputs * size, l->inputs, kind, core);
      sums.hidden = activations(h, hidden, l->units, kind, core);
      for (int32_t unit = 0; unit < l->units; unit += INTARSIA_LSTM_BLOCK) {
        const int32_t count = intarsia_min_i32(INTARSIA_LSTM_BLOCK, l->units - unit);
        int16_t *const candidate = gates + kCandidateRun * count;
        sums.weights = weights + unit * unit_weights;
        sums.biases = biases + 2 * kGates * unit;
        gates_of(&sums, count, gates, kind, core);
        intarsia_each_sigmoid_s16(gates, gates, kCandidateRun * count, 3, 0);
        intarsia_each_tanh_s16(candidate, candidate, count, 3, 0);
        next_cells(l, gates, count, cell + unit);
        intarsia_each_tanh_s16(cell + unit, candidate, count, l->tanh_multiplier, l->tanh_shift);
        hidden_state(l, candidate, gates + kOutputRun * count, count, out + size * unit, size);
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
