// Convolutions of floats by integer weights (hybrid.h) on cores with Helium: two pixels by four channels, as mve_conv.c has them, or
// one pixel.
#include "intarsia/targets/cortex_m/staged_conv.h"

#include "intarsia/targets/cortex_m/optimise.h"

#include "intarsia/targets/cortex_m/hybrid.h"
#include "intarsia/targets/cortex_m/mve_results.h"

enum { kHybridTwo = 2, kHybridQuad = 4, kHybridVector = 16 };

#if INTARSIA_HAS_MVE
#include <arm_mve.h>

// At the beginning of a step its first weights are in q4, the first pixel in q2; the last step loads no further ones.
#define STEP_OF_TWO(left, weights, pixel) \
  "vmladava.s8 r0, q4, q2\n"              \
  "vldrb.8 q3, [r3], #16\n"               \
  "vmladava.s8 r8, q4, q3\n"              \
  "vldrb.8 q1, [r5], #64\n"               \
  "vmladava.s8 r2, q1, q2\n" left         \
  "vmladava.s8 r10, q1, q3\n"             \
  "vldrb.8 q0, [r5, #-48]\n"              \
  "vmladava.s8 r4, q0, q2\n" weights      \
  "vmladava.s8 r12, q0, q3\n"             \
  "vldrb.8 q1, [r5, #-32]\n"              \
  "vmladava.s8 r6, q1, q2\n" pixel "vmladava.s8 lr, q1, q3\n"
#define STEP_OF_ONE(left, weights, pixel) \
  "vmladava.s8 r0, q4, q2\n"              \
  "vldrb.8 q1, [r5], #64\n"               \
  "vmladava.s8 r2, q1, q2\n" left         \
  "vldrb.8 q0, [r5, #-48]\n"              \
  "vmladava.s8 r4, q0, q2\n"              \
  "vldrb.8 q1, [r5, #-32]\n" weights "vmladava.s8 r6, q1, q2\n" pixel
#define STEPS(step) \
  "subs r11, r11, #1\n"                                                                     \
  "vldrb.8 q4, [r5], #16\n"                                                                 \
  "vldrb.8 q2, [r1], #16\n"                                                                 \
  "beq.w 2f\n"                                                                              \
  ".balign 4\n"                                                                             \
  "1:\n" step("subs r11, r11, #1\n", "vldrb.8 q4, [r5, #-16]\n", "vldrb.8 q2, [r1], #16\n") \
  "bne.w 1b\n"                                                                              \
  "2:\n" step("", "", "")                                                                   \
  "sub r5, r5, #16\n"

// Returns where the weights of the next channels are.
INTARSIA_OUTLINE const int8_t *sums_of_two(const int8_t *const *runs, const int8_t *weights,
                                           int32_t steps, int32_t *sums) {
  register const int8_t *x0 __asm__("r1") = runs[0];
  register const int8_t *x1 __asm__("r3") = runs[1];
  register const int8_t *next __asm__("r5") = weights;
  register int32_t left __asm__("r11") = steps;
  int32x4_t first, second;
  __asm__ volatile(
      "movs r0, #0\n"
      "movs r2, #0\n"
      "movs r4, #0\n"
      "movs r6, #0\n"
      "mov r8, r0\n"
      "mov r10, r0\n"
      "mov r12, r0\n"
      "mov lr, r0\n" STEPS(STEP_OF_TWO)
      "vmov %q[first][2], %q[first][0], r0, r4\n"
      "vmov %q[first][3], %q[first][1], r2, r6\n"
      "vmov %q[second][2], %q[second][0], r8, r12\n"
      "vmov %q[second][3], %q[second][1], r10, lr\n"
      : "+r"(x0), "+r"(x1), "+r"(next), "+r"(left), [first] "=&w"(first), [second] "=&w"(second)
      :
      : "r0", "r2", "r4", "r6", "r8", "r10", "r12", "lr", "q0", "q1", "q2", "q3", "q4", "cc",
        "memory");
  vstrwq_s32(sums, first);
  vstrwq_s32(sums + kHybridQuad, second);
  return next;
}

INTARSIA_OUTLINE const int8_t *sums_of_one(const int8_t *const *runs, const int8_t *weights,
                                           int32_t steps, int32_t *sums) {
  register const int8_t *x0 __asm__("r1") = runs[0];
  register const int8_t *next __asm__("r5") = weights;
  register int32_t left __asm__("r11") = steps;
  int32x4_t first;
  __asm__ volatile(
      "movs r0, #0\n"
      "movs r2, #0\n"
      "movs r4, #0\n"
      "movs r6, #0\n" STEPS(STEP_OF_ONE)
      "vmov %q[first][2], %q[first][0], r0, r4\n"
      "vmov %q[first][3], %q[first][1], r2, r6\n"
      : "+r"(x0), "+r"(next), "+r"(left), [first] "=&w"(first)
      :
      : "r0", "r2", "r4", "r6", "q0", "q1", "q2", "q4", "cc", "memory");
  vstrwq_s32(sums, first);
  return next;
}
#undef STEPS
#undef STEP_OF_ONE
#undef STEP_OF_TWO

#else

static const int8_t *sums_of_some(const int8_t *const *runs, const int8_t *weights, int32_t steps,
                                  int32_t *sums, int32_t count) {
  for (int32_t i = 0; i < count; ++i)
    for (int32_t lane = 0; lane < kHybridQuad; ++lane) {
      int32_t sum = 0;
      for (int32_t k = 0; k < steps * kHybridVector; ++k)
        sum +=
            runs[i][k] *
            weights[(k / kHybridVector * kHybridQuad + lane) * kHybridVector + k % kHybridVector];
      sums[i * kHybridQuad + lane] = sum;
    }
  return weights + steps * kHybridQuad * kHybridVector;
}
static const int8_t *sums_of_two(const int8_t *const *runs, const int8_t *weights, int32_t steps,
                                 int32_t *sums) {
  return sums_of_some(runs, weights, steps, sums, kHybridTwo);
}
static const int8_t *sums_of_one(const int8_t *const *runs, const int8_t *weights, int32_t steps,
                                 int32_t *sums) {
  return sums_of_some(runs, weights, steps, sums, 1);
}
#endif

// The table of four channels: sums of their weights, scales, biases.
INTARSIA_INLINE void quad_results(const struct hybrid *h, const int32_t *sums, const int32_t *table,
                                  int32_t row, int8_t *output, int32_t count) {
  const float scale = h->scales[row];
  const int32_t zero = h->zeros[row];
#if INTARSIA_HAS_MVE && (__ARM_FEATURE_MVE & 2)
  const mve_pred16_t lanes = vctp32q((uint32_t)count);
  const int32x4_t about_zero = vmlaq_n_s32(vldrwq_s32(sums), vldrwq_s32(table), -zero);
  const float32x4_t scales =
      vmulq_n_f32(vreinterpretq_f32_s32(vldrwq_s32(table + kHybridQuad)), scale);
  float32x4_t value = vaddq_f32(vmulq_f32(vcvtq_f32_s32(about_zero), scales),
                                vreinterpretq_f32_s32(vldrwq_s32(table + 2 * kHybridQuad)));
  if (h->has_low) value = vpselq_f32(vdupq_n_f32(h->low), value, vcmpltq_n_f32(value, h->low));
  if (h->has_high) value = vpselq_f32(vdupq_n_f32(h->high), value, vcmpgtq_n_f32(value, h->high));
  vstrwq_p_f32((float *)(void *)output, value, lanes);
#else
  for (int32_t c = 0; c < count && c < kHybridQuad; ++c) {
    const float value =
        hybrid_result(h, sums[c], table[c], zero, scale * hybrid_real(table[kHybridQuad + c]),
                      hybrid_real(table[2 * kHybridQuad + c]));
    memcpy(output + 4 * c, &value, sizeof value);
  }
#endif
}

static void mve_pixels(const struct hybrid *h, const int8_t *const *runs, int8_t *output,
                       int32_t first, int32_t count) {
  const struct intarsia_window *w = &h->piece->w;
  const int32_t steps = (w->kernel_w * w->in_c + kHybridVector - 1) / kHybridVector;
  const int8_t *weights = h->piece->weights;
  const int32_t *table = h->table;
  const int32_t row = h->by_pixel ? first : 0, next = h->by_pixel ? row + 1 : 0;
  for (int32_t left = w->out_c / 4; left > 0; left -= kHybridQuad) {
    int32_t sums[kHybridTwo * kHybridQuad];
    if (count == kHybridTwo) {
      weights = sums_of_two(runs, weights, steps, sums);
      quad_results(h, sums + kHybridQuad, table, next, output + w->out_c, left);
    } else {
      weights = sums_of_one(runs, weights, steps, sums);
    }
    quad_results(h, sums, table, row, output, left);
    table += 3 * kHybridQuad, output += 4 * kHybridQuad;
  }
}

void intarsia_staged_mve_hybrid(const struct intarsia_staged *staged, const int8_t *input,
                                const float *scales, const int32_t *zeros, float *results,
                                int8_t *scratch, const int8_t *weights, const int32_t *table) {
  hybrid_convolution(staged, input, scales, zeros, results, scratch, weights, table, kHybridTwo,
                     mve_pixels);
}

// ---- weights of nine bits ------------------------------------------------------------------------

#if INTARSIA_HAS_MVE
INTARSIA_OUTLINE int32_t sum_of_run(const int8_t *run, int32_t count) {
  int32_t sum = 0;
  for (; count > 0; count -= kHybridVector, run += kHybridVector) {
    const mve_pred16_t some = vctp8q((uint32_t)count);
    sum = vaddvaq_p_s8(sum, vldrbq_z_s8(run, some), some);
  }
  return sum;
}
#else
static int32_t sum_of_run(const int8_t *run, int32_t count) {
  int32_t sum = 0;
  for (; count > 0; --count) sum += *run++;
  return sum;
}
#endif

// The table of four channels: biases, multipliers, roundings, 24 less the shifts (mve_results.h), shifts of the weights.
INTARSIA_INLINE void quad_shifted(const struct intarsia_window *w, const int32_t *sums,
                                  const int32_t *table, int32_t all, int8_t *output,
                                  int32_t count) {
#if INTARSIA_HAS_MVE
  const mve_pred16_t lanes = vctp32q((uint32_t)count);
  const int32x4_t sum = vmlaq_n_s32(vaddq_s32(vldrwq_s32(sums), vldrwq_s32(table)),
                                    vldrwq_s32(table + 4 * kHybridQuad), all);
  const int32x4_t scaled = vqrdmulhq_s32(sum, vldrwq_s32(table + kHybridQuad));
  const int32x4_t rounded =
      vaddq_s32(vaddq_s32(scaled, vshrq_n_s32(scaled, 31)), vldrwq_s32(table + 2 * kHybridQuad));
  int32x4_t result = vshrq_n_s32(vqshlq_s32(rounded, vldrwq_s32(table + 3 * kHybridQuad)), 24);
  result = vminq_s32(vmaxq_s32(result, vdupq_n_s32(w->low)), vdupq_n_s32(w->high));
  vstrbq_p_s32(output, result, lanes);
#else
  for (int32_t c = 0; c < count && c < kHybridQuad; ++c) {
    const uint32_t sum = (uint32_t)sums[c] + (uint32_t)table[c] +
                         (uint32_t)table[4 * kHybridQuad + c] * (uint32_t)all;
    output[c] = (int8_t)intarsia_clamp_i32(
        intarsia_mve_top_result((int32_t)sum, table[kHybridQuad + c], table[2 * kHybridQuad + c],
                                table[3 * kHybridQuad + c], true),
        w->low, w->high);
  }
#endif
}

static void mve_shifted_pixels(const struct hybrid *h, const int8_t *const *runs, int8_t *output,
                               int32_t first, int32_t count) {
  const struct intarsia_window *w = &h->piece->w;
  const int32_t run = w->kernel_w * w->in_c, steps = (run + kHybridVector - 1) / kHybridVector;
  const int8_t *weights = h->piece->weights;
  const int32_t *table = h->table;
  int32_t all[kHybridTwo];
  (void)first;
  for (int32_t i = 0; i < count; ++i) all[i] = sum_of_run(runs[i], run);
  for (int32_t left = w->out_c; left > 0; left -= kHybridQuad) {
    int32_t sums[kHybridTwo * kHybridQuad];
    if (count == kHybridTwo) {
      weights = sums_of_two(runs, weights, steps, sums);
      quad_shifted(w, sums + kHybridQuad, table, all[1], output + w->out_c, left);
    } else {
      weights = sums_of_one(runs, weights, steps, sums);
    }
    quad_shifted(w, sums, table, all[0], output, left);
    table += 5 * kHybridQuad, output += kHybridQuad;
  }
}

void intarsia_staged_mve_shifted_s8(const struct intarsia_staged *staged, const int8_t *input,
                                    int8_t *output, int8_t *scratch, const int8_t *weights,
                                    const int32_t *channels) {
  hybrid_shifted(staged, input, output, scratch, weights, channels, kHybridTwo, mve_shifted_pixels);
}
