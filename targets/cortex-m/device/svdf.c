// SVDF: four filters share the inputs; a unit's memories and their weights are one run each.
#include "intarsia/targets/cortex_m/svdf.h"

#include <string.h>

#include "intarsia/targets/cortex_m/byte_dot.h"
#include "intarsia/targets/cortex_m/optimise.h"

// start + a . b, modulo 2^32.
INTARSIA_INLINE int32_t dot_s16(const int16_t *a, const int16_t *b, int32_t count, int32_t start) {
#if INTARSIA_HAS_MVE
  register int32_t sum __asm__("r0") = start;  // VMLADAVA takes even registers
  __asm__ volatile(
      "dlstp.16 lr, %[count]\n"
      "1: vldrh.u16 q0, [%[a]], #16\n"
      "vldrh.u16 q1, [%[b]], #16\n"
      "vmladava.s16 %[sum], q0, q1\n"
      "letp lr, 1b\n"
      : [a] "+r"(a), [b] "+r"(b), [sum] "+r"(sum)
      : [count] "r"(count)
      : "q0", "q1", "lr" INTARSIA_CLOBBERS_PREDICATE, "memory");
  return sum;
#else
  for (; count >= 4; count -= 4, a += 4, b += 4) {
    start = intarsia_pair_product(intarsia_load_halves(a), intarsia_load_halves(b), start);
    start = intarsia_pair_product(intarsia_load_halves(a + 2), intarsia_load_halves(b + 2), start);
  }
  for (; count > 0; --count) start = (int32_t)((uint32_t)start + (uint32_t)(*a++ * *b++));
  return start;
#endif
}

INTARSIA_INLINE int32_t dot_s8(const int8_t *a, const int8_t *b, int32_t count, int32_t start) {
#if INTARSIA_HAS_MVE
  register int32_t sum __asm__("r0") = start;
  __asm__ volatile(
      "dlstp.8 lr, %[count]\n"
      "1: vldrb.8 q0, [%[a]], #16\n"
      "vldrb.8 q1, [%[b]], #16\n"
      "vmladava.s8 %[sum], q0, q1\n"
      "letp lr, 1b\n"
      : [a] "+r"(a), [b] "+r"(b), [sum] "+r"(sum)
      : [count] "r"(count)
      : "q0", "q1", "lr" INTARSIA_CLOBBERS_PREDICATE, "memory");
  return sum;
#else
  for (; count >= 4; count -= 4, a += 4, b += 4) {
    const uint32_t x = intarsia_load_word(a), y = intarsia_load_word(b);
    start = intarsia_pair_product(intarsia_even_pair(x), intarsia_even_pair(y), start);
    start = intarsia_pair_product(intarsia_odd_pair(x), intarsia_odd_pair(y), start);
  }
  for (; count > 0; --count) start += *a++ * *b++;
  return start;
#endif
}

// Elements 1.. take the places of those before them. Upwards by words: each is read before it is written, the
// last one, which may overlap the one before, first of all.
INTARSIA_INLINE void move_by(int8_t *memory, int32_t element, int32_t bytes) {
  const int32_t count = bytes - element;
  uint32_t last, word;
  if (count < 4) {
    for (int32_t i = 0; i < count; ++i) memory[i] = memory[i + element];
    return;
  }
  memcpy(&last, memory + bytes - 4, sizeof last);
  for (int32_t i = 0; i + 4 < count; i += 4) {
    memcpy(&word, memory + i + element, sizeof word);
    memcpy(memory + i, &word, sizeof word);
  }
  memcpy(memory + count - 4, &last, sizeof last);
}

// From sums to results: scaled as intarsia_requantize_right does, the zero point, the range.
struct scaling {
  int32_t multiplier, shift, zero, low, high;
};
INTARSIA_INLINE int32_t scaled(int32_t value, const struct scaling *s) {
  const int32_t result = intarsia_requantize_right(value, s->multiplier, s->shift) + s->zero;
  return intarsia_clamp_i32(result, s->low, s->high);
}

// Four at a time.
INTARSIA_INLINE void scale_four(int32_t values[INTARSIA_WIDE_LANES], const struct scaling *s) {
#if INTARSIA_HAS_MVE
  // Negative products are one less before they are shifted, so that halves are rounded away from zero; not with a shift
  // of 0.
  __asm__ volatile(
      "vldrw.32 q0, [%[values]]\n"
      "vqrdmulh.s32 q0, q0, %[multiplier]\n"
      "vdup.32 q2, %[signs]\n"
      "vshr.s32 q1, q0, #31\n"
      "vand q1, q1, q2\n"
      "vadd.i32 q0, q0, q1\n"
      "vrshl.s32 q0, %[shift]\n"
      "vdup.32 q1, %[low]\n"
      "vadd.i32 q0, q0, %[zero]\n"
      "vdup.32 q2, %[high]\n"
      "vmax.s32 q0, q0, q1\n"
      "vmin.s32 q0, q0, q2\n"
      "vstrw.32 q0, [%[values]]\n"
      :
      : [values] "r"(values), [multiplier] "r"(s->multiplier), [shift] "r"(-s->shift),
        [signs] "r"(s->shift == 0 ? 0 : -1), [zero] "r"(s->zero), [low] "r"(s->low),
        [high] "r"(s->high)
      : "q0", "q1", "q2", "memory");
#else
  for (int32_t i = 0; i < INTARSIA_WIDE_LANES; ++i) values[i] = scaled(values[i], s);
#endif
}

// What a layer's two parts share; `size` is that of a state's element.
INTARSIA_INLINE void svdf(const struct intarsia_svdf *s, const int8_t *input, int8_t *state,
                          int8_t *output, int16_t *scratch, const int8_t *weights,
                          const int8_t *time, const int32_t *bias, int32_t size,
                          enum intarsia_wide_core core) {
  const int32_t filters = s->units * s->rank, memory_bytes = s->memory * size;
  const int32_t block_bytes = INTARSIA_WIDE_LANES * intarsia_byte_run(s->inputs, core);
  const int32_t *const starts = bias;
  if (core == INTARSIA_WIDE_MVE)
    bias += (filters + INTARSIA_WIDE_LANES - 1) / INTARSIA_WIDE_LANES * INTARSIA_WIDE_LANES;
  const int32_t limit = size == 2 ? 32768 : 128, unit_elements = s->rank * s->memory;
  const struct scaling of_features = {s->feature_multiplier, s->feature_shift, s->state_zero,
                                      s->state_zero - limit, s->state_zero + limit - 1};
  const struct scaling of_results = {s->time_multiplier, s->time_shift, s->out_zero, -128, 127};
  for (int32_t n = 0; n < s->batches; ++n, input += s->inputs) {
    const int8_t *block = weights;
    int8_t *memory = state + n * filters * memory_bytes;
    const int8_t *unit_memory = memory, *unit_time = time;
    const void *const x = intarsia_byte_activations(scratch, input, s->inputs, s->in_zero, core);
    for (int32_t first = 0; first < filters; first += INTARSIA_WIDE_LANES, block += block_bytes) {
      int32_t sums[INTARSIA_WIDE_LANES];
      const int32_t lanes = intarsia_min_i32(INTARSIA_WIDE_LANES, filters - first);
      intarsia_byte_products(x, block, s->inputs, sums, core);
      if (core == INTARSIA_WIDE_MVE) {
        for (int32_t lane = 0; lane < INTARSIA_WIDE_LANES; ++lane)
          sums[lane] += starts[first + lane];
        scale_four(sums, &of_features);
      }
      for (int32_t lane = 0; lane < lanes; ++lane, memory += memory_bytes) {
        int32_t feature = sums[lane];
        if (core != INTARSIA_WIDE_MVE) {
          feature = intarsia_requantize_right(feature, s->feature_multiplier, s->feature_shift);
          feature = intarsia_clamp_i32(feature, -limit, limit - 1) + s->state_zero;
        }
        int8_t *last = memory + memory_bytes - size;
        move_by(memory, size, memory_bytes);
        if (size == 2) {
          const int16_t half = (int16_t)feature;
          memcpy(last, &half, sizeof half);
        } else {
          *last = (int8_t)feature;
        }
      }
    }
    const int32_t together = core == INTARSIA_WIDE_MVE ? INTARSIA_WIDE_LANES : 1;
    for (int32_t first = 0; first < s->units; first += together) {
      int32_t sums[INTARSIA_WIDE_LANES] = {0};
      const int32_t lanes = intarsia_min_i32(together, s->units - first);
      for (int32_t lane = 0; lane < lanes; ++lane) {
        const int32_t start = bias[first + lane];
        sums[lane] = size == 2
                         ? dot_s16((const int16_t *)(const void *)unit_memory,
                                   (const int16_t *)(const void *)unit_time, unit_elements, start)
                         : dot_s8(unit_memory, unit_time, unit_elements, start);
        unit_memory += unit_elements * size;
        unit_time += unit_elements * size;
      }
      if (core == INTARSIA_WIDE_MVE)
        scale_four(sums, &of_results);
      else
        sums[0] = scaled(sums[0], &of_results);
      for (int32_t lane = 0; lane < lanes; ++lane) *output++ = (int8_t)sums[lane];
    }
  }
}

void intarsia_dsp_svdf_s16(const struct intarsia_svdf *s, const int8_t *input, int16_t *state,
                           int8_t *output, int16_t *scratch, const int8_t *weights,
                           const int16_t *time, const int32_t *bias) {
  svdf(s, input, (int8_t *)state, output, scratch, weights, (const int8_t *)time, bias, 2,
       INTARSIA_WIDE_DSP);
}

void intarsia_dsp_svdf_s8(const struct intarsia_svdf *s, const int8_t *input, int8_t *state,
                          int8_t *output, int16_t *scratch, const int8_t *weights,
                          const int8_t *time, const int32_t *bias) {
  svdf(s, input, state, output, scratch, weights, time, bias, 1, INTARSIA_WIDE_DSP);
}

void intarsia_mve_svdf_s16(const struct intarsia_svdf *s, const int8_t *input, int16_t *state,
                           int8_t *output, int16_t *scratch, const int8_t *weights,
                           const int16_t *time, const int32_t *bias) {
  svdf(s, input, (int8_t *)state, output, scratch, weights, (const int8_t *)time, bias, 2,
       INTARSIA_WIDE_MVE);
}

void intarsia_mve_svdf_s8(const struct intarsia_svdf *s, const int8_t *input, int8_t *state,
                          int8_t *output, int16_t *scratch, const int8_t *weights,
                          const int8_t *time, const int32_t *bias) {
  svdf(s, input, state, output, scratch, weights, time, bias, 1, INTARSIA_WIDE_MVE);
}
