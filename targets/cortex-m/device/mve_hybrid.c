// Convolutions of floats by integer weights (hybrid.h) on cores with Helium: two pixels by four channels, as mve_conv.c has them, or
// one pixel.
#include <string.h>

#include "intarsia/targets/cortex_m/staged_conv.h"

#include <stddef.h>

#include "intarsia/targets/cortex_m/optimise.h"

#include "intarsia/targets/cortex_m/hybrid.h"
#include "intarsia/targets/cortex_m/mve_results.h"
#include "intarsia/targets/cortex_m/no_frame_pointer.h"

enum { kHybridTwo = 2, kHybridQuad = 4, kHybridVector = 16 };

#if INTARSIA_HAS_MVE
#include <arm_mve.h>

// One pixel or two, and their channels four at a time; the assembly knows the layout.
struct hybrid_pair {
  const int8_t *runs[2];
  int8_t *outputs[2];
  int32_t parts[2];  // of the pixels: their sums, or what their zero points are below zero
  float scales[2];
  int32_t steps;
  int32_t left;  // channels
  const int32_t *table;
};
_Static_assert(offsetof(struct hybrid_pair, outputs) == 8 &&
                   offsetof(struct hybrid_pair, parts) == 16 &&
                   offsetof(struct hybrid_pair, scales) == 24 &&
                   offsetof(struct hybrid_pair, steps) == 32 &&
                   offsetof(struct hybrid_pair, left) == 36 &&
                   offsetof(struct hybrid_pair, table) == 40,
               "the assembly's numbers");

// Sums of the first pixel (r1) r0, r2, r4, r6, of the second (r3) r8, r10, r12, lr. Weights r5, steps that are left r7.
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
// `start` has the table in r1 and gives the sums what they begin with; `results` finds the sums in q2 and q3 and the table, which it
// moves on, in r1, and has the predicate of four channels.
#define ALL_QUADS(start, step, sums, results) \
  __asm__ volatile(                                                                           \
      INTARSIA_SAVE_R7                                                                        \
      "1: ldr r1, [r11, #40]\n"                                                               \
      "ldr r7, [r11, #32]\n" start                                                            \
      "ldrd r1, r3, [r11]\n"                                                                  \
      "subs r7, r7, #1\n"                                                                     \
      "vldrb.8 q4, [r5], #16\n"                                                               \
      "vldrb.8 q2, [r1], #16\n"                                                               \
      "beq.w 3f\n"                                                                            \
      ".balign 4\n"                                                                           \
      "2:\n" step("subs r7, r7, #1\n", "vldrb.8 q4, [r5, #-16]\n", "vldrb.8 q2, [r1], #16\n") \
      "bne.w 2b\n"                                                                            \
      "3:\n" step("", "", "")                                                                 \
      "ldr r1, [r11, #40]\n" sums                                                             \
      "ldr r7, [r11, #36]\n"                                                                  \
      "sub r5, r5, #16\n"                                                                     \
      "vctp.32 r7\n"                                                                          \
      "ldrd r0, r2, [r11, #16]\n" results                                                     \
      "str r1, [r11, #40]\n"                                                                  \
      "subs r7, r7, #4\n"                                                                     \
      "str r7, [r11, #36]\n"                                                                  \
      "bgt.w 1b\n" INTARSIA_RESTORE_R7                                                        \
      : "+r"(p), "+r"(next)                                                                   \
      :                                                                                       \
      : "r0", "r1", "r2", "r3", "r4", "r6", INTARSIA_CLOBBERS_R7 "r8", "r10", "r12", "lr",    \
        "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7" INTARSIA_CLOBBERS_PREDICATE, "cc",     \
        "memory")
#define SUMS_OF_ONE             \
  "vmov q2[2], q2[0], r0, r4\n" \
  "vmov q2[3], q2[1], r2, r6\n"
#define SUMS_OF_TWO              \
  SUMS_OF_ONE                    \
  "vmov q3[2], q3[0], r8, r12\n" \
  "vmov q3[3], q3[1], r10, lr\n"
#define QUADS_FUNCTION(name, ...)                                               \
  INTARSIA_OUTLINE void name(struct hybrid_pair *pair, const int8_t *weights) { \
    register struct hybrid_pair *p __asm__("r11") = pair;                       \
    register const int8_t *next __asm__("r5") = weights;                        \
    __VA_ARGS__;                                                                \
  }

// Weights of nine bits: the table of four channels has biases, multipliers, roundings, 24 less the shifts (mve_results.h), and what
// their weights have more.
#define BIASES_OF_ONE "ldm r1, {r0, r2, r4, r6}\n"
#define BIASES_OF_TWO \
  BIASES_OF_ONE       \
  "mov r8, r0\n"      \
  "mov r10, r2\n"     \
  "mov r12, r4\n"     \
  "mov lr, r6\n"
#define SHIFTED_ONE           \
  "vldrw.32 q0, [r1, #64]\n"  \
  "vmla.s32 q2, q0, r0\n"     \
  "vldrw.32 q6, [r1, #16]\n"  \
  "vqrdmulh.s32 q2, q2, q6\n" \
  "vldrw.32 q7, [r1, #32]\n"  \
  "vshr.s32 q4, q2, #31\n"    \
  "vadd.i32 q2, q2, q7\n"     \
  "vldrw.32 q6, [r1, #48]\n"  \
  "vadd.i32 q2, q2, q4\n"     \
  "add r1, r1, #80\n"         \
  "vqshl.s32 q2, q2, q6\n"    \
  "ldr r0, [r11, #8]\n"       \
  "vshr.s32 q2, q2, #24\n"    \
  "vpst\n"                    \
  "vstrbt.32 q2, [r0], #4\n"  \
  "str r0, [r11, #8]\n"
#define SHIFTED_TWO           \
  "vldrw.32 q0, [r1, #64]\n"  \
  "vmla.s32 q2, q0, r0\n"     \
  "vldrw.32 q6, [r1, #16]\n"  \
  "vmla.s32 q3, q0, r2\n"     \
  "vqrdmulh.s32 q2, q2, q6\n" \
  "vldrw.32 q7, [r1, #32]\n"  \
  "vqrdmulh.s32 q3, q3, q6\n" \
  "vshr.s32 q4, q2, #31\n"    \
  "vldrw.32 q6, [r1, #48]\n"  \
  "vadd.i32 q2, q2, q7\n"     \
  "vshr.s32 q0, q3, #31\n"    \
  "vadd.i32 q2, q2, q4\n"     \
  "add r1, r1, #80\n"         \
  "vadd.i32 q3, q3, q7\n"     \
  "ldrd r0, r2, [r11, #8]\n"  \
  "vqshl.s32 q2, q2, q6\n"    \
  "vadd.i32 q3, q3, q0\n"     \
  "vshr.s32 q2, q2, #24\n"    \
  "vqshl.s32 q3, q3, q6\n"    \
  "vpst\n"                    \
  "vstrbt.32 q2, [r0], #4\n"  \
  "vshr.s32 q3, q3, #24\n"    \
  "vpst\n"                    \
  "vstrbt.32 q3, [r2], #4\n"  \
  "strd r0, r2, [r11, #8]\n"
QUADS_FUNCTION(shifted_pixel, ALL_QUADS(BIASES_OF_ONE, STEP_OF_ONE, SUMS_OF_ONE, SHIFTED_ONE))
QUADS_FUNCTION(shifted_pair, ALL_QUADS(BIASES_OF_TWO, STEP_OF_TWO, SUMS_OF_TWO, SHIFTED_TWO))

#if __ARM_FEATURE_MVE & 2
// Floats: the table has sums of weights, scales, biases.
#define ZEROS_OF_ONE \
  "movs r0, #0\n"    \
  "movs r2, #0\n"    \
  "movs r4, #0\n"    \
  "movs r6, #0\n"
#define ZEROS_OF_TWO \
  ZEROS_OF_ONE       \
  "mov r8, r0\n"     \
  "mov r10, r0\n"    \
  "mov r12, r0\n"    \
  "mov lr, r0\n"
#define FLOATS_OF_ONE         \
  "vldrw.32 q0, [r1]\n"       \
  "ldr r4, [r11, #24]\n"      \
  "vmla.s32 q2, q0, r0\n"     \
  "vldrw.32 q6, [r1, #16]\n"  \
  "vmul.f32 q6, q6, r4\n"     \
  "vcvt.f32.s32 q2, q2\n"     \
  "vldrw.32 q7, [r1, #32]\n"  \
  "vmul.f32 q2, q2, q6\n"     \
  "ldr r0, [r11, #8]\n"       \
  "add r1, r1, #48\n"         \
  "vadd.f32 q2, q2, q7\n"     \
  "vpst\n"                    \
  "vstrwt.32 q2, [r0], #16\n" \
  "str r0, [r11, #8]\n"
#define FLOATS_OF_TWO         \
  "vldrw.32 q0, [r1]\n"       \
  "ldrd r4, r6, [r11, #24]\n" \
  "vmla.s32 q2, q0, r0\n"     \
  "vldrw.32 q6, [r1, #16]\n"  \
  "vmla.s32 q3, q0, r2\n"     \
  "vmul.f32 q4, q6, r4\n"     \
  "vcvt.f32.s32 q2, q2\n"     \
  "vldrw.32 q7, [r1, #32]\n"  \
  "vmul.f32 q6, q6, r6\n"     \
  "vcvt.f32.s32 q3, q3\n"     \
  "ldrd r0, r2, [r11, #8]\n"  \
  "vmul.f32 q2, q2, q4\n"     \
  "add r1, r1, #48\n"         \
  "vmul.f32 q3, q3, q6\n"     \
  "vadd.f32 q2, q2, q7\n"     \
  "vadd.f32 q3, q3, q7\n"     \
  "vpst\n"                    \
  "vstrwt.32 q2, [r0], #16\n" \
  "vpst\n"                    \
  "vstrwt.32 q3, [r2], #16\n" \
  "strd r0, r2, [r11, #8]\n"
QUADS_FUNCTION(float_pixel, ALL_QUADS(ZEROS_OF_ONE, STEP_OF_ONE, SUMS_OF_ONE, FLOATS_OF_ONE))
QUADS_FUNCTION(float_pair, ALL_QUADS(ZEROS_OF_TWO, STEP_OF_TWO, SUMS_OF_TWO, FLOATS_OF_TWO))
#define FLOAT_QUADS 1
#endif
#undef ALL_QUADS
#undef QUADS_FUNCTION
#undef SUMS_OF_ONE
#undef SUMS_OF_TWO
#undef STEP_OF_ONE
#undef STEP_OF_TWO
#endif

#if !defined(FLOAT_QUADS)
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

#if defined(FLOAT_QUADS)
// What is not a number stays.
static void limit_floats(const struct hybrid *h, float *results, int32_t count) {
  for (; count > 0; count -= kHybridQuad, results += kHybridQuad) {
    const mve_pred16_t lanes = vctp32q((uint32_t)count);
    float32x4_t value = vldrwq_z_f32(results, lanes);
    if (h->has_low) value = vpselq_f32(vdupq_n_f32(h->low), value, vcmpltq_n_f32(value, h->low));
    if (h->has_high) value = vpselq_f32(vdupq_n_f32(h->high), value, vcmpgtq_n_f32(value, h->high));
    vstrwq_p_f32(results, value, lanes);
  }
}
#else
// The table of four channels: sums of their weights, scales, biases.
INTARSIA_INLINE void quad_results(const struct hybrid *h, const int32_t *sums, const int32_t *table,
                                  int32_t row, int8_t *output, int32_t count) {
  const float scale = h->scales[row];
  const int32_t zero = h->zeros[row];
  for (int32_t c = 0; c < count && c < kHybridQuad; ++c) {
    const float value = hybrid_result(
        h, sums[c], table[c], zero, scale * intarsia_f32_of_bits((uint32_t)table[kHybridQuad + c]),
        intarsia_f32_of_bits((uint32_t)table[2 * kHybridQuad + c]));
    memcpy(output + 4 * c, &value, sizeof value);
  }
}
#endif

// A piece, some channels after others where row_bytes says so many: their constants are copied to scratch, for all of its pixels.
INTARSIA_INLINE void by_groups(struct hybrid *h, int32_t table_words, int32_t result_bytes,
                               hybrid_pixels pixels) {
  const struct intarsia_window *w = &h->piece->w;
  const int32_t channels = w->out_c / result_bytes, group = w->strip_w;
  const int32_t run = (w->kernel_w * w->in_c + kHybridVector - 1) / kHybridVector * kHybridVector;
  h->weights = h->piece->weights, h->first = 0, h->count = channels;
  if (group == 0) {
    hybrid_piece(h, kHybridTwo, pixels);
    return;
  }
  const int32_t *table = h->table;
  for (; h->first < channels; h->first += group) {
    h->count = intarsia_min_i32(group, channels - h->first);
    const int32_t filled = (h->count + kHybridQuad - 1) / kHybridQuad * kHybridQuad;
    intarsia_copy(h->scratch, h->piece->weights + h->first * run, run * filled);
    intarsia_copy(h->scratch + run * group, (const int8_t *)(table + h->first * table_words),
                  filled * table_words * (int32_t)sizeof *table);
    h->weights = h->scratch;
    h->table = (const int32_t *)(const void *)(h->scratch + run * group);
    hybrid_piece(h, kHybridTwo, pixels);
  }
}

static void mve_pixels(const struct hybrid *h, const int8_t *const *runs, int8_t *output,
                       int32_t first, int32_t count) {
  const struct intarsia_window *w = &h->piece->w;
  const int32_t steps = (w->kernel_w * w->in_c + kHybridVector - 1) / kHybridVector;
  const int8_t *weights = h->weights;
  const int32_t row = h->by_pixel ? first : 0, next = h->by_pixel ? row + 1 : 0;
#if defined(FLOAT_QUADS)
  int8_t *const to = output + 4 * h->first;
  struct hybrid_pair pair = {.runs = {runs[0], runs[count - 1]},
                             .outputs = {to, to + w->out_c},
                             .parts = {-h->zeros[row], count > 1 ? -h->zeros[next] : 0},
                             .scales = {h->scales[row], count > 1 ? h->scales[next] : 0},
                             .steps = steps,
                             .left = h->count,
                             .table = h->table};
  if (count == kHybridTwo)
    float_pair(&pair, weights);
  else
    float_pixel(&pair, weights);
  for (int32_t i = 0; i < count && (h->has_low || h->has_high); ++i)
    limit_floats(h, (float *)(void *)(to + i * w->out_c), h->count);
#else
  const int32_t *table = h->table;
  output += 4 * h->first;
  for (int32_t left = h->count; left > 0; left -= kHybridQuad) {
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
#endif
}

static void mve_piece(struct hybrid *h) {
  by_groups(h, 3, 4, mve_pixels);
}

void intarsia_staged_mve_hybrid(const struct intarsia_staged *staged, const int8_t *input,
                                const float *scales, const int32_t *zeros, float *results,
                                int8_t *scratch, const int8_t *weights, const int32_t *table) {
  hybrid_convolution(staged, input, scales, zeros, results, scratch, weights, table, mve_piece);
}

// ---- weights of nine bits ------------------------------------------------------------------------

#if INTARSIA_HAS_MVE
INTARSIA_INLINE int32_t sum_of_run(const int8_t *run, int32_t count) {
  register int32_t sum __asm__("r2") = 0;  // an even one
  __asm__ volatile(
      "dlstp.8 lr, %[count]\n"
      "1: vldrb.8 q0, [%[run]], #16\n"
      "vaddva.s8 %[sum], q0\n"
      "letp lr, 1b\n"
      : [run] "+r"(run), [sum] "+r"(sum)
      : [count] "r"(count)
      : "q0", "lr" INTARSIA_CLOBBERS_PREDICATE, "memory");
  return sum;
}
#else
static int32_t sum_of_run(const int8_t *run, int32_t count) {
  int32_t sum = 0;
  for (; count > 0; --count) sum += *run++;
  return sum;
}
#endif

#if !INTARSIA_HAS_MVE
// The table of four channels: biases, multipliers, roundings, 24 less the shifts (mve_results.h), shifts of the weights.
INTARSIA_INLINE void quad_shifted(const int32_t *sums, const int32_t *table, int32_t all,
                                  int8_t *output, int32_t count) {
  for (int32_t c = 0; c < count && c < kHybridQuad; ++c) {
    const uint32_t sum = (uint32_t)sums[c] + (uint32_t)table[c] +
                         (uint32_t)table[4 * kHybridQuad + c] * (uint32_t)all;
    output[c] =
        intarsia_mve_top_result((int32_t)sum, table[kHybridQuad + c], table[2 * kHybridQuad + c],
                                table[3 * kHybridQuad + c], true);
  }
}
#endif

static void mve_shifted_pixels(const struct hybrid *h, const int8_t *const *runs, int8_t *output,
                               int32_t first, int32_t count) {
  const struct intarsia_window *w = &h->piece->w;
  const int32_t run = w->kernel_w * w->in_c, steps = (run + kHybridVector - 1) / kHybridVector;
  const int8_t *weights = h->weights;
  int8_t *const to = output + h->first;
  int32_t all[kHybridTwo] = {0, 0};
  (void)first;
  for (int32_t i = 0; i < count; ++i) all[i] = sum_of_run(runs[i], run);
#if INTARSIA_HAS_MVE
  struct hybrid_pair pair = {.runs = {runs[0], runs[count - 1]},
                             .outputs = {to, to + w->out_c},
                             .parts = {all[0], all[1]},
                             .steps = steps,
                             .left = h->count,
                             .table = h->table};
  if (count == kHybridTwo)
    shifted_pair(&pair, weights);
  else
    shifted_pixel(&pair, weights);
#else
  const int32_t *table = h->table;
  int8_t *next = to;
  for (int32_t left = h->count; left > 0; left -= kHybridQuad) {
    int32_t sums[kHybridTwo * kHybridQuad];
    if (count == kHybridTwo) {
      weights = sums_of_two(runs, weights, steps, sums);
      quad_shifted(sums + kHybridQuad, table, all[1], next + w->out_c, left);
    } else {
      weights = sums_of_one(runs, weights, steps, sums);
    }
    quad_shifted(sums, table, all[0], next, left);
    table += 5 * kHybridQuad, next += kHybridQuad;
  }
#endif
  for (int32_t i = 0; i < count && (w->low != -128 || w->high != 127); ++i)
    intarsia_mve_clamp(to + i * w->out_c, h->count, w->low, w->high);
}

static void mve_shifted_piece(struct hybrid *h) {
  by_groups(h, 5, 1, mve_shifted_pixels);
}

void intarsia_staged_mve_shifted_s8(const struct intarsia_staged *staged, const int8_t *input,
                                    int8_t *output, int8_t *scratch, const int8_t *weights,
                                    const int32_t *channels) {
  hybrid_shifted(staged, input, output, scratch, weights, channels, mve_shifted_piece);
}
