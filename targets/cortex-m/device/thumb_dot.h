// Dot products on cores that multiply single elements: four channels share each element of a pixel. On
// Armv6-M the sums live in the upper registers, which only take additions.
#ifndef INTARSIA_CORTEX_M_THUMB_DOT_H_
#define INTARSIA_CORTEX_M_THUMB_DOT_H_

#include "intarsia/targets/cortex_m/thumb_results.h"

enum { kIntarsiaLanes = 4 };

#if INTARSIA_HAS_THUMB1
#define INTARSIA_DOT_4X1 intarsia_dot_4x1_pushes_20
#else
#define INTARSIA_DOT_4X1 intarsia_dot_4x1
#endif

// sums += products of a run with four rows of weights that are `pitch` bytes apart. run: a multiple of four, > 0.
INTARSIA_OUTLINE void INTARSIA_DOT_4X1(const int8_t *input, const int8_t *weights, int32_t run,
                                       int32_t pitch, int32_t sums[kIntarsiaLanes]) {
#if INTARSIA_HAS_THUMB1
  // From the ends, by an index that counts up to zero: fourteen instructions for four products.
  register const int8_t *x __asm__("r0") = input + run;
  register const int8_t *row __asm__("r1") = weights + run;
  register int32_t between __asm__("r2") = pitch;
  register int32_t *to __asm__("r3") = sums;
  register int32_t from __asm__("r4") = -run;
#define INTARSIA_LANE(end, sum) \
  "ldrsb r7, [" end             \
  ", r4]\n"                     \
  "muls r7, r6, r7\n"           \
  "add " sum ", " sum ", r7\n"
#define INTARSIA_STEP                                                        \
  "ldrsb r6, [r0, r4]\n" INTARSIA_LANE("r1", "r8") INTARSIA_LANE("r5", "r9") \
      INTARSIA_LANE("r2", "r10") INTARSIA_LANE("r3", "r11") "adds r4, r4, #1\n"
  __asm__ volatile(".syntax unified\n" INTARSIA_SAVE_R7
                   "mov r12, r3\n" INTARSIA_SAVE_HIGH("r3", "r5", "r6", "r7")
                   "mov r3, r12\n"
                   "ldmia r3!, {r5, r6, r7}\n"
                   "ldr r3, [r3]\n"
                   "mov r8, r5\n"
                   "mov r9, r6\n"
                   "mov r10, r7\n"
                   "mov r11, r3\n"
                   "adds r5, r1, r2\n"
                   "adds r6, r5, r2\n"
                   "adds r3, r6, r2\n"
                   "mov r2, r6\n"
                   "1:\n" INTARSIA_STEP INTARSIA_STEP INTARSIA_STEP INTARSIA_STEP
                   "bne 1b\n"
                   "mov r0, r12\n"
                   "mov r1, r8\n"
                   "mov r2, r9\n"
                   "mov r3, r10\n"
                   "mov r4, r11\n"
                   "stmia r0!, {r1, r2, r3, r4}\n" INTARSIA_RESTORE_HIGH("r3", "r5", "r6", "r7")
                       INTARSIA_RESTORE_R7
                   : "+r"(x), "+r"(row), "+r"(between), "+r"(to), "+r"(from)
                   :
                   : "r5", "r6", INTARSIA_CLOBBERS_R7 "r12", "cc",
                     "memory");
#undef INTARSIA_STEP
#undef INTARSIA_LANE
#elif INTARSIA_HAS_DSP_LOOPS && INTARSIA_HAS_DSP_WORDS
  // Four elements at a time, as two pairs of halfwords; the second and the fourth row are `pitch` behind the others.
  const int8_t *row0 = weights, *row2 = weights + 2 * pitch;
  int32_t sum0 = sums[0], sum1 = sums[1], sum2 = sums[2], sum3 = sums[3];
  uint32_t odd, even, weight, pair;
#define INTARSIA_LANE(sum)                     \
  "sxtb16 %[pair], %[weight]\n"                \
  "sxtb16 %[weight], %[weight], ror #8\n"      \
  "smlad %[" sum "], %[even], %[pair], %[" sum \
  "]\n"                                        \
  "smlad %[" sum "], %[odd], %[weight], %[" sum "]\n"
  __asm__ volatile(
      ".balign 4\n"
      "1: ldr.w %[odd], [%[input]], #4\n"
      "ldr.w %[weight], [%[row0], %[pitch]]\n"
      "sxtb16 %[even], %[odd]\n"
      "sxtb16 %[odd], %[odd], ror #8\n" INTARSIA_LANE("sum1")
      "ldr.w %[weight], [%[row0]], #4\n" INTARSIA_LANE("sum0")
      "ldr.w %[weight], [%[row2], %[pitch]]\n" INTARSIA_LANE("sum3")
      "ldr.w %[weight], [%[row2]], #4\n" INTARSIA_LANE("sum2")
      "subs.w %[run], %[run], #4\n"
      "bne.w 1b\n"
      : [input] "+r"(input), [row0] "+r"(row0), [row2] "+r"(row2), [sum0] "+r"(sum0),
        [sum1] "+r"(sum1), [sum2] "+r"(sum2), [sum3] "+r"(sum3), [run] "+r"(run), [odd] "=&r"(odd),
        [even] "=&r"(even), [weight] "=&r"(weight), [pair] "=&r"(pair)
      : [pitch] "r"(pitch)
      : "cc", "memory");
#undef INTARSIA_LANE
  sums[0] = sum0, sums[1] = sum1, sums[2] = sum2, sums[3] = sum3;
#elif INTARSIA_HAS_THUMB2
  const int8_t *row0 = weights, *row1 = weights + pitch, *row2 = weights + 2 * pitch,
               *row3 = weights + 3 * pitch;
  int32_t sum0 = sums[0], sum1 = sums[1], sum2 = sums[2], sum3 = sums[3], x, weight;
#define INTARSIA_LANE(row, sum) \
  "ldrsb %[weight], [%[" row    \
  "]], #1\n"                    \
  "mla %[" sum "], %[x], %[weight], %[" sum "]\n"
#define INTARSIA_STEP                                                                        \
  "ldrsb %[x], [%[input]], #1\n" INTARSIA_LANE("row0", "sum0") INTARSIA_LANE("row1", "sum1") \
      INTARSIA_LANE("row2", "sum2") INTARSIA_LANE("row3", "sum3")
  __asm__ volatile("1:\n" INTARSIA_STEP INTARSIA_STEP INTARSIA_STEP INTARSIA_STEP
                   "subs %[run], #4\n"
                   "bne 1b\n"
                   : [input] "+r"(input), [row0] "+r"(row0), [row1] "+r"(row1), [row2] "+r"(row2),
                     [row3] "+r"(row3), [sum0] "+r"(sum0), [sum1] "+r"(sum1), [sum2] "+r"(sum2),
                     [sum3] "+r"(sum3), [run] "+r"(run), [x] "=&r"(x), [weight] "=&r"(weight)
                   :
                   : "cc", "memory");
#undef INTARSIA_STEP
#undef INTARSIA_LANE
  sums[0] = sum0, sums[1] = sum1, sums[2] = sum2, sums[3] = sum3;
#else
  const int8_t *row0 = weights, *row1 = weights + pitch, *row2 = weights + 2 * pitch,
               *row3 = weights + 3 * pitch;
  int32_t sum0 = sums[0], sum1 = sums[1], sum2 = sums[2], sum3 = sums[3];
#define INTARSIA_STEP(i)      \
  sum0 += input[i] * row0[i]; \
  sum1 += input[i] * row1[i]; \
  sum2 += input[i] * row2[i]; \
  sum3 += input[i] * row3[i];
  for (const int8_t *end = input + run; input != end;
       input += 4, row0 += 4, row1 += 4, row2 += 4, row3 += 4) {
    INTARSIA_STEP(0) INTARSIA_STEP(1) INTARSIA_STEP(2) INTARSIA_STEP(3)
  }
#undef INTARSIA_STEP
  sums[0] = sum0, sums[1] = sum1, sums[2] = sum2, sums[3] = sum3;
#endif
}

// The results of one pixel whose window is the run `input`; weights are [out_c][run].
INTARSIA_INLINE void intarsia_one_pixel(const struct intarsia_window *w, const int8_t *input,
                                        int8_t *output, const int8_t *weights,
                                        const struct intarsia_channel *channels, int32_t run,
                                        enum intarsia_way way) {
  const int32_t out_c = w->out_c;
  int32_t sums[kIntarsiaLanes];
  struct intarsia_results results = {sums, channels, output, kIntarsiaLanes, 1, 1, w->low, w->high};
  if (out_c < kIntarsiaLanes) {  // one by one, all lanes alike
    results.count = 1;
    for (int32_t left = out_c; left > 0;
         --left, ++results.channel, ++results.output, weights += run) {
      sums[0] = sums[1] = sums[2] = sums[3] = results.channel->bias;
      INTARSIA_DOT_4X1(input, weights, run, 0, sums);
      intarsia_results(&results, way);
    }
    return;
  }
  for (int32_t left = out_c;;) {
    sums[0] = results.channel[0].bias;
    sums[1] = results.channel[1].bias;
    sums[2] = results.channel[2].bias;
    sums[3] = results.channel[3].bias;
    INTARSIA_DOT_4X1(input, weights, run, run, sums);
    intarsia_results(&results, way);
    left -= kIntarsiaLanes;
    if (left <= 0) return;
    const int32_t next =
        left < kIntarsiaLanes ? left : kIntarsiaLanes;  // the last block overlaps the one before
    results.channel += next;
    results.output += next;
    weights += next * run;
    if (left < kIntarsiaLanes) left = kIntarsiaLanes;
  }
}

#endif  // INTARSIA_CORTEX_M_THUMB_DOT_H_
