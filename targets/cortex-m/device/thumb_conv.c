// Convolution on cores that multiply single elements: four channels share each element of a pixel. On
// Armv6-M the sums live in the upper registers, which only take additions.
#include "cortex_m/thumb_conv.h"

#include "cortex_m/optimise.h"
#include "cortex_m/runs.h"

enum { kLanes = 4 };

// sums += products of a run with four rows of weights; run is a multiple of four.
INTARSIA_OUTLINE void dot_4x1(const int8_t *input, const int8_t *weights, int32_t run, int32_t sums[kLanes]) {
#if defined(__ARM_ARCH_6M__) && defined(__OPTIMIZE__)
  // From the ends, by an index that counts up to zero: fourteen instructions for four products.
  struct {
    const int8_t *ends[kLanes], *input;
    int32_t from;
    int32_t sums[kLanes];
  } work;
  for (int32_t lane = 0; lane < kLanes; ++lane) {
    work.ends[lane] = weights + (lane + 1) * run;
    work.sums[lane] = sums[lane];
  }
  work.input = input + run;
  work.from = -run;
  register void *at __asm__("r0") = &work;
#define INTARSIA_LANE(end, sum)  \
  "ldrsb r7, [" end ", r5]\n"    \
  "muls r7, r6, r7\n"            \
  "add " sum ", " sum ", r7\n"
#define INTARSIA_STEP                                                                 \
  "ldrsb r6, [r4, r5]\n"                                                              \
  INTARSIA_LANE("r0", "r8") INTARSIA_LANE("r1", "r9") INTARSIA_LANE("r2", "r10")      \
  INTARSIA_LANE("r3", "r11")                                                          \
  "adds r5, r5, #1\n"
  __asm__ volatile(
      ".syntax unified\n"
      "mov r12, r0\n"
      "adds r0, r0, #24\n"
      "ldmia r0!, {r1, r2, r3, r4}\n"
      "mov r8, r1\n"
      "mov r9, r2\n"
      "mov r10, r3\n"
      "mov r11, r4\n"
      "mov r0, r12\n"
      "ldr r5, [r0, #20]\n"
      "ldr r4, [r0, #16]\n"
      "ldr r3, [r0, #12]\n"
      "ldr r2, [r0, #8]\n"
      "ldr r1, [r0, #4]\n"
      "ldr r0, [r0]\n"
      "1:\n" INTARSIA_STEP INTARSIA_STEP INTARSIA_STEP INTARSIA_STEP
      "bne 1b\n"
      "mov r0, r12\n"
      "adds r0, r0, #24\n"
      "mov r1, r8\n"
      "mov r2, r9\n"
      "mov r3, r10\n"
      "mov r4, r11\n"
      "stmia r0!, {r1, r2, r3, r4}\n"
      : "+r"(at)
      :
      : "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "cc", "memory");
#undef INTARSIA_STEP
#undef INTARSIA_LANE
  for (int32_t lane = 0; lane < kLanes; ++lane) sums[lane] = work.sums[lane];
#else
  const int8_t *row0 = weights, *row1 = weights + run, *row2 = weights + 2 * run, *row3 = weights + 3 * run;
  int32_t sum0 = sums[0], sum1 = sums[1], sum2 = sums[2], sum3 = sums[3];
  for (const int8_t *end = input + run; input != end; ++input) {
    const int32_t x = *input;
    sum0 += x * *row0++;
    sum1 += x * *row1++;
    sum2 += x * *row2++;
    sum3 += x * *row3++;
  }
  sums[0] = sum0, sums[1] = sum1, sums[2] = sum2, sums[3] = sum3;
#endif
}

static void one_pixel(const struct intarsia_window *w, const int8_t *input, int8_t *output, const int8_t *weights,
                      const struct intarsia_channel *channels, int32_t run) {
  const int32_t low = w->low, high = w->high, out_c = w->out_c;
  for (int32_t next = 0; next < out_c; next += kLanes) {
    const int32_t first = next + kLanes <= out_c ? next : out_c - kLanes;
    const struct intarsia_channel *channel = channels + first;
    int32_t sums[kLanes] = {channel[0].bias, channel[1].bias, channel[2].bias, channel[3].bias};
    dot_4x1(input, weights + first * run, run, sums);
    for (int32_t lane = 0; lane < kLanes; ++lane)
      output[first + lane] = intarsia_result(sums[lane], &channel[lane], low, high, INTARSIA_LIMITED);
  }
}

void intarsia_thumb_conv_s8(const struct intarsia_window *w, const int8_t *input, int8_t *output, int8_t *scratch,
                            const int8_t *weights, const int32_t *channel_words) {
  const struct intarsia_channel *channels = (const struct intarsia_channel *)channel_words;
  const int32_t run = (w->kernel_h * w->kernel_w * w->in_c + 3) / 4 * 4;
  const bool direct = w->kernel_h == 1 && w->kernel_w == 1 && w->in_c % 4 == 0;
  struct intarsia_place at = {input, 0, 0};
  for (int32_t pixels = w->batches * w->out_h * w->out_w; pixels > 0; --pixels, output += w->out_c) {
    const int8_t *from = scratch;
    if (direct)
      from = at.image + (at.y * w->stride_h * w->in_w + at.x * w->stride_w) * w->in_c;
    else
      intarsia_gather(w, &at, scratch);
    one_pixel(w, from, output, weights, channels, run);
    intarsia_advance(w, &at);
  }
}
