// Convolution in single precision: the window of each result is a run of floats, and four pixels by four channels share
// their loads. Sums begin with the bias and follow the order of the run (those of one pixel: even and odd elements apart).
// Products are rounded before they are added, or not: whichever the core is faster with.
#include "intarsia/targets/cortex_m/matmul.h"
#include "intarsia/targets/cortex_m/staged_conv.h"

#include "intarsia/targets/cortex_m/optimise.h"

#include "intarsia/targets/cortex_m/assembly.h"
#include "intarsia/targets/cortex_m/float_vectors.h"
#include "intarsia/targets/cortex_m/results.h"
#include "intarsia/targets/cortex_m/staging.h"

enum { kPixels = 4, kLanes = 4 };

// The first results of some runs and what they are made of.
struct block {
  const float *runs[kPixels];
  float *to[kPixels];
  int32_t count;  // of runs: kPixels, or one
  bool has_low, has_high;
};

#if INTARSIA_FLOAT_VECTORS
// What is not a number stays.
INTARSIA_INLINE void finish(const struct block *block, float *to, float32x4_t sums, float low,
                            float high, mve_pred16_t lanes) {
  if (block->has_low) sums = vpselq_f32(vdupq_n_f32(low), sums, vcmpltq_n_f32(sums, low));
  if (block->has_high) sums = vpselq_f32(vdupq_n_f32(high), sums, vcmpgtq_n_f32(sums, high));
  vstrwq_p_f32(to, sums, lanes);
}

INTARSIA_OUTLINE void all_channels(const struct block *block, const float *weights,
                                   const float *table, int32_t run, int32_t channels) {
  const float low = *table++, high = *table++;
  for (int32_t c = 0; c < channels; c += kLanes, table += kLanes) {
    const mve_pred16_t lanes = vctp32q((uint32_t)(channels - c));
    float32x4_t sum0 = vldrwq_f32(table), sum1 = sum0, sum2 = sum0, sum3 = sum0, some;
    const float *x0 = block->runs[0];
    if (block->count == 1) {
      int32_t x;
      __asm__ volatile(
          "dls lr, %[run]\n"
          "1: ldr %[x], [%[x0]], #4\n"
          "vldrw.32 %q[some], [%[weights]], #16\n"
          "vfma.f32 %q[sum0], %q[some], %[x]\n"
          "le lr, 1b\n"
          : [x0] "+r"(x0), [weights] "+r"(weights), [x] "=&r"(x), [some] "=&w"(some),
            [sum0] "+w"(sum0)
          : [run] "r"(run)
          : "lr", "memory");
      finish(block, block->to[0] + c, sum0, low, high, lanes);
      continue;
    }
    const float *x1 = block->runs[1], *x2 = block->runs[2], *x3 = block->runs[3];
    int32_t a, b;
    __asm__ volatile(
        "dls lr, %[run]\n"
        "1: vldrw.32 %q[some], [%[weights]], #16\n"
        "ldr %[a], [%[x0]], #4\n"
        "ldr %[b], [%[x1]], #4\n"
        "vfma.f32 %q[sum0], %q[some], %[a]\n"
        "ldr %[a], [%[x2]], #4\n"
        "vfma.f32 %q[sum1], %q[some], %[b]\n"
        "ldr %[b], [%[x3]], #4\n"
        "vfma.f32 %q[sum2], %q[some], %[a]\n"
        "vfma.f32 %q[sum3], %q[some], %[b]\n"
        "le lr, 1b\n"
        : [x0] "+r"(x0), [x1] "+r"(x1), [x2] "+r"(x2), [x3] "+r"(x3), [weights] "+r"(weights),
          [a] "=&r"(a), [b] "=&r"(b), [some] "=&w"(some), [sum0] "+w"(sum0), [sum1] "+w"(sum1),
          [sum2] "+w"(sum2), [sum3] "+w"(sum3)
        : [run] "r"(run)
        : "lr", "memory");
    finish(block, block->to[0] + c, sum0, low, high, lanes);
    finish(block, block->to[1] + c, sum1, low, high, lanes);
    finish(block, block->to[2] + c, sum2, low, high, lanes);
    finish(block, block->to[3] + c, sum3, low, high, lanes);
  }
}
#else
#if INTARSIA_HAS_ASM && defined(__ARM_FP) && !defined(__SOFTFP__)
// A fused sum takes the Cortex-M4 three cycles, a product and a sum one each; later units, one of which is that with
// doubles of the M7, begin one every cycle.
#if __ARM_ARCH >= 8 || (__ARM_FP & 8)
#define FOUR(x, w0, w1, w2, w3, a, b, c, d) \
  "vfma.f32 " a ", " w0 ", " x              \
  "\n"                                      \
  "vfma.f32 " b ", " w1 ", " x              \
  "\n"                                      \
  "vfma.f32 " c ", " w2 ", " x              \
  "\n"                                      \
  "vfma.f32 " d ", " w3 ", " x "\n"
#else
#define FOUR(x, w0, w1, w2, w3, a, b, c, d) \
  "vmul.f32 s26, " w0 ", " x                \
  "\n"                                      \
  "vmul.f32 s27, " w1 ", " x                \
  "\n"                                      \
  "vmul.f32 s28, " w2 ", " x                \
  "\n"                                      \
  "vmul.f32 s29, " w3 ", " x                \
  "\n"                                      \
  "vadd.f32 " a ", " a                      \
  ", s26\n"                                 \
  "vadd.f32 " b ", " b                      \
  ", s27\n"                                 \
  "vadd.f32 " c ", " c                      \
  ", s28\n"                                 \
  "vadd.f32 " d ", " d ", s29\n"
#endif
// An element of one pixel, and two.
#define ONE(run, a, b, c, d) \
  "vldmia %[" run "]!, {s24}\n" FOUR("s24", "s16", "s17", "s18", "s19", a, b, c, d)
#define TWO(run, a, b, c, d)                                                             \
  "vldmia %[" run "]!, {s24, s25}\n" FOUR("s24", "s16", "s17", "s18", "s19", a, b, c, d) \
      FOUR("s25", "s20", "s21", "s22", "s23", a, b, c, d)
#define LOOP(ones, twos)                    \
  "subs %[left], %[left], #2\n"             \
  "blt.w 2f\n"                              \
  ".balign 4\n"                             \
  "1: vldmia %[weights]!, {s16-s23}\n" twos \
  "subs %[left], %[left], #2\n"             \
  "bge.w 1b\n"                              \
  "2: adds %[left], %[left], #2\n"          \
  "beq.w 3f\n"                              \
  "vldmia %[weights]!, {s16-s19}\n" ones "3:\n"

INTARSIA_OUTLINE const float *four_pixels(const struct block *block, const float *weights,
                                          const float *bias, int32_t run, float *sums) {
  const float *x0 = block->runs[0], *x1 = block->runs[1], *x2 = block->runs[2],
              *x3 = block->runs[3];
  __asm__ volatile(
      "vldmia %[bias], {s0-s3}\n"
      "vldmia %[bias], {s4-s7}\n"
      "vldmia %[bias], {s8-s11}\n"
      "vldmia %[bias], {s12-s15}\n" LOOP(
          ONE("x0", "s0", "s1", "s2", "s3") ONE("x1", "s4", "s5", "s6", "s7")
              ONE("x2", "s8", "s9", "s10", "s11") ONE("x3", "s12", "s13", "s14", "s15"),
          TWO("x0", "s0", "s1", "s2", "s3") TWO("x1", "s4", "s5", "s6", "s7")
              TWO("x2", "s8", "s9", "s10", "s11")
                  TWO("x3", "s12", "s13", "s14", "s15")) "vstmia %[sums], {s0-s15}\n"
      : [x0] "+r"(x0), [x1] "+r"(x1), [x2] "+r"(x2), [x3] "+r"(x3), [weights] "+r"(weights),
        [left] "+r"(run)
      : [bias] "r"(bias), [sums] "r"(sums)
      : "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13",
        "s14", "s15", "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23", "s24", "s25", "s26",
        "s27", "s28", "s29", "cc", "memory");
  return weights;
}

// Two elements of a pixel alone. The M7 loads a float beside each fused sum, but does nothing beside a load of several.
#if __ARM_ARCH == 7 && (__ARM_FP & 8)
#define LOAD_AND(number, load, sum, weight, x) \
  "vldr " weight ", [%[weights], #" number "]\n" load "vfma.f32 " sum ", " weight ", " x "\n"
#define TWO_ALONE                                                                           \
  "vldr s24, [%[x0]]\n" LOAD_AND("0", "", "s0", "s16", "s24")                               \
      LOAD_AND("4", "", "s1", "s17", "s24")                                                 \
          LOAD_AND("8", "vldr s25, [%[x0], #4]\n", "s2", "s18", "s24")                      \
              LOAD_AND("12", "", "s3", "s19", "s24") LOAD_AND("16", "", "s4", "s20", "s25") \
                  LOAD_AND("20", "", "s5", "s21", "s25")                                    \
                      LOAD_AND("24", "add %[x0], #8\n", "s6", "s22", "s25")                 \
                          LOAD_AND("28", "add %[weights], #32\n", "s7", "s23", "s25")
#else
#define TWO_ALONE                                                                               \
  "vldmia %[weights]!, {s16-s23}\n"                                                             \
  "vldmia %[x0]!, {s24, s25}\n" FOUR("s24", "s16", "s17", "s18", "s19", "s0", "s1", "s2", "s3") \
      FOUR("s25", "s20", "s21", "s22", "s23", "s4", "s5", "s6", "s7")
#endif

// The odd elements of the run have sums of their own, which begin with zero: four sums alone would wait for one another.
INTARSIA_OUTLINE const float *one_pixel(const struct block *block, const float *weights,
                                        const float *bias, int32_t run, float *sums) {
  const float *x0 = block->runs[0];
  __asm__ volatile(
      "vldmia %[bias], {s0-s3}\n"
      "vmov s4, %[zero]\n"
      "vmov s5, %[zero]\n"
      "vmov s6, %[zero]\n"
      "vmov s7, %[zero]\n"
      "subs %[left], %[left], #2\n"
      "blt.w 2f\n"
      ".balign 4\n"
      "1:\n" TWO_ALONE
      "subs %[left], %[left], #2\n"
      "bge.w 1b\n"
      "2: adds %[left], %[left], #2\n"
      "beq.w 3f\n"
      "vldmia %[weights]!, {s16-s19}\n" ONE("x0", "s0", "s1", "s2", "s3")
      "3:\n"
      "vadd.f32 s0, s0, s4\n"
      "vadd.f32 s1, s1, s5\n"
      "vadd.f32 s2, s2, s6\n"
      "vadd.f32 s3, s3, s7\n"
      "vstmia %[sums], {s0-s3}\n"
      : [x0] "+r"(x0), [weights] "+r"(weights), [left] "+r"(run)
      : [bias] "r"(bias), [sums] "r"(sums), [zero] "r"(0)
      : "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s16", "s17", "s18", "s19", "s20", "s21",
        "s22", "s23", "s24", "s25", "s26", "s27", "s28", "s29", "cc", "memory");
  return weights;
}
#undef TWO_ALONE
#undef LOOP
#undef TWO
#undef ONE
#undef FOUR
#else
static const float *some_pixels(const struct block *block, const float *weights, const float *bias,
                                int32_t run, float *sums) {
  for (int32_t i = 0; i < block->count; ++i)
    for (int32_t lane = 0; lane < kLanes; ++lane) {
      float sum = bias[lane];
      for (int32_t k = 0; k < run; ++k) sum += block->runs[i][k] * weights[k * kLanes + lane];
      sums[i * kLanes + lane] = sum;
    }
  return weights + run * kLanes;
}
#define four_pixels some_pixels
#define one_pixel some_pixels
#endif

INTARSIA_OUTLINE void all_channels(const struct block *block, const float *weights,
                                   const float *table, int32_t run, int32_t channels) {
  const float low = *table++, high = *table++;
  for (int32_t c = 0; c < channels; c += kLanes, table += kLanes) {
    float sums[kPixels * kLanes];
    weights = block->count == 1 ? one_pixel(block, weights, table, run, sums)
                                : four_pixels(block, weights, table, run, sums);
    const int32_t some = channels - c < kLanes ? channels - c : kLanes;
    const float *sum = sums;
    for (int32_t i = 0; i < block->count; ++i, sum += kLanes)
      for (int32_t lane = 0; lane < some; ++lane) {
        float value = sum[lane];  // what is not a number stays
        if (block->has_low && value < low) value = low;
        if (block->has_high && value > high) value = high;
        block->to[i][c + lane] = value;
      }
  }
}
#endif

// Extents of the window along channels are in bytes, as staging.h has them.
INTARSIA_OUTLINE void convolve(const struct intarsia_window *w, const int8_t *input, int8_t *output,
                               const int8_t *weights, const int32_t *table) {
  const int32_t run = w->kernel_w * w->in_c / 4, channels = w->out_c / 4;
  struct block block;
  block.has_low = w->low != 0, block.has_high = w->high != 0;
  for (int32_t y = 0; y < w->out_h; ++y) {
    const int8_t *row = input + y * w->in_w * w->in_c;
    for (int32_t x = 0; x < w->out_w;) {
      // The last four overlap those before rather than be two or three.
      const int32_t left = w->out_w - x;
      block.count = left == 1 || w->out_w < kPixels ? 1 : kPixels;
      if (left < block.count) x = w->out_w - block.count;
      for (int32_t i = 0; i < block.count; ++i) {
        block.runs[i] = (const float *)(const void *)(row + (x + i) * w->stride_w * w->in_c);
        block.to[i] = (float *)(void *)(output + (y * w->out_w + x + i) * w->out_c);
      }
      all_channels(&block, (const float *)(const void *)weights, (const float *)(const void *)table,
                   run, channels);
      x += block.count;
    }
  }
}

void intarsia_staged_conv_f32(const struct intarsia_staged *staged, const float *image,
                              float *results, int8_t *scratch, const float *weights_of_groups,
                              const float *tables) {
  const int8_t *const input = (const int8_t *)(const void *)image;
  int8_t *const output = (int8_t *)(void *)results;
  const int8_t *const weights = (const int8_t *)(const void *)weights_of_groups;
  const int32_t *const channels = (const int32_t *)(const void *)tables;
  struct intarsia_piece p;
  intarsia_begin_staging(&p, staged, input, output, scratch, weights, channels);
  do {
    convolve(&p.w, p.from, p.results, p.weights, p.channels);
  } while (intarsia_next_piece(&p));
}

// Columns of the second matrix are laid out as the weights of channels are, beside a table without limits and biases, and serve all
// rows of the first one.
void intarsia_matmul_f32(const struct intarsia_matmul *matmul, const float *a, const float *b,
                         float *output, float *scratch) {
  const int32_t rows = matmul->rows, depth = matmul->depth, columns = matmul->columns;
  const int32_t between = matmul->transposed != 0 ? depth : 1,
                below = matmul->transposed != 0 ? 1 : columns;
  float *const weights = scratch + 2 + matmul->block;
  struct block block;
  block.has_low = block.has_high = false;
  for (int32_t i = 0; i < 2 + matmul->block; ++i) scratch[i] = 0.0f;
  for (int32_t first = 0; first < columns; first += matmul->block) {
    const int32_t count = intarsia_min_i32(matmul->block, columns - first);
    float *to = weights;
    for (int32_t column = 0; column < count; column += kLanes)
      for (int32_t k = 0; k < depth; ++k)
        for (int32_t lane = column; lane < column + kLanes; ++lane)
          *to++ = lane < count ? b[(first + lane) * between + k * below] : 0.0f;
    for (int32_t row = 0; row < rows; row += block.count) {
      // The last four overlap those before.
      block.count = rows < kPixels ? 1 : kPixels;
      if (rows - row < block.count) row = rows - block.count;
      for (int32_t i = 0; i < block.count; ++i) {
        block.runs[i] = a + (row + i) * depth;
        block.to[i] = output + (row + i) * columns + first;
      }
      all_channels(&block, weights, scratch, depth, count);
    }
  }
}
