// Dot products for cores with the DSP extension. SMLAD multiplies two pairs of halfwords, SXTB16 makes
// a pair from bytes 0 and 2 of a word (rotated: 1 and 3). Inputs are made into pairs once, by the kernel,
// and serve every output channel; weights stay bytes in flash and are made into pairs on the way,
// which serves several pixels.
//
// Pairs of a run of inputs, four elements (a group) at a time, `pixels` of them side by side:
//   word 0 .. pixels-1: elements 0, 2 of each pixel; then as many with elements 1, 3.
// Every function has a portable twin that reads the same layout.
#ifndef INTARSIA_CORTEX_M_DSP_DOT_H_
#define INTARSIA_CORTEX_M_DSP_DOT_H_

#include <stdint.h>
#include <string.h>

#include "intarsia/targets/cortex_m/results.h"

// Bytes 0 and 2 as a pair.
INTARSIA_INLINE uint32_t intarsia_even_pair(uint32_t bytes) {
#if INTARSIA_HAS_DSP
  uint32_t pair;
  __asm__("sxtb16 %0, %1" : "=r"(pair) : "r"(bytes));
  return pair;
#else
  return ((uint32_t)(int8_t)(bytes >> 16) << 16) | ((uint32_t)(int8_t)bytes & 0xffffu);
#endif
}

// Bytes 1 and 3 as a pair.
INTARSIA_INLINE uint32_t intarsia_odd_pair(uint32_t bytes) {
#if INTARSIA_HAS_DSP
  uint32_t pair;
  __asm__("sxtb16 %0, %1, ror #8" : "=r"(pair) : "r"(bytes));
  return pair;
#else
  return intarsia_even_pair(bytes >> 8);
#endif
}

INTARSIA_INLINE uint32_t intarsia_load_word(const int8_t *bytes) {
  uint32_t word;
  memcpy(&word, bytes, sizeof word);
  return word;
}

// sum + both products.
INTARSIA_INLINE int32_t intarsia_pair_product(uint32_t a, uint32_t b, int32_t sum) {
#if INTARSIA_HAS_DSP
  int32_t result;
  __asm__("smlad %0, %1, %2, %3" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
  return result;
#else
  const int32_t low = (int32_t)(int16_t)a * (int16_t)b;
  const int32_t high = (int32_t)(int16_t)(a >> 16) * (int16_t)(b >> 16);
  return (int32_t)((uint32_t)sum + (uint32_t)low + (uint32_t)high);
#endif
}

// sums[p] = start + products of one channel's weights with four pixels, over `groups` groups.
INTARSIA_INLINE void intarsia_dot_1x4(const uint32_t *pairs, const int8_t *weights, int32_t groups,
                                      int32_t start, int32_t sums[4]) {
  for (int32_t pixel = 0; pixel < 4; ++pixel) sums[pixel] = start;
  for (int32_t group = 0; group < groups; ++group) {
    const uint32_t word = intarsia_load_word(weights + 4 * group);
    for (int32_t pixel = 0; pixel < 4; ++pixel) {
      sums[pixel] =
          intarsia_pair_product(pairs[8 * group + pixel], intarsia_even_pair(word), sums[pixel]);
      sums[pixel] =
          intarsia_pair_product(pairs[8 * group + 4 + pixel], intarsia_odd_pair(word), sums[pixel]);
    }
  }
}

#if INTARSIA_HAS_DSP_LOOPS
// In assembly: a group of one channel and four pixels. Pairs r12, weights r7, sums r8-r11; changes r1-r6.
// Thirteen instructions for sixteen products.
#define INTARSIA_GROUP_1X4         \
  "ldr r6, [r7], #4\n"             \
  "ldmia r12!, {r1, r2, r3, r4}\n" \
  "sxtb16 r5, r6\n"                \
  "sxtb16 r6, r6, ror #8\n"        \
  "smlad r8, r1, r5, r8\n"         \
  "smlad r9, r2, r5, r9\n"         \
  "smlad r10, r3, r5, r10\n"       \
  "smlad r11, r4, r5, r11\n"       \
  "ldmia r12!, {r1, r2, r3, r4}\n" \
  "smlad r8, r1, r6, r8\n"         \
  "smlad r9, r2, r6, r9\n"         \
  "smlad r10, r3, r6, r10\n"       \
  "smlad r11, r4, r6, r11\n"
// A sum becomes a result of the whole range (intarsia_result).
#define INTARSIA_RESULT(sum, multiplier, round, shift) \
  "add " sum ", " sum ", " sum                         \
  "\n"                                                 \
  "smmulr " sum ", " sum ", " multiplier               \
  "\n"                                                 \
  "add " sum ", " sum ", " sum                         \
  ", asr #31\n"                                        \
  "add " sum ", " sum ", " round                       \
  "\n"                                                 \
  "asr " sum ", " sum ", " shift                       \
  "\n"                                                 \
  "ssat " sum ", #8, " sum "\n"
// Or one of INTARSIA_RECTIFIED.
#define INTARSIA_RECTIFIED_RESULT(sum, multiplier, round, shift) \
  "add " sum ", " sum ", " sum                                   \
  "\n"                                                           \
  "smmulr " sum ", " sum ", " multiplier                         \
  "\n"                                                           \
  "add " sum ", " sum ", " round                                 \
  "\n"                                                           \
  "asr " sum ", " sum ", " shift                                 \
  "\n"                                                           \
  "ssat " sum ", #8, " sum "\n"
// Or one within limits.
#define INTARSIA_LIMIT(sum, low, high) \
  "cmp " sum ", " low                  \
  "\n"                                 \
  "it lt\n"                            \
  "movlt " sum ", " low                \
  "\n"                                 \
  "cmp " sum ", " high                 \
  "\n"                                 \
  "it gt\n"                            \
  "movgt " sum ", " high "\n"
#endif

// sums[c] += products of two channels' weights with one pixel.
INTARSIA_INLINE void intarsia_dot_2x1(const uint32_t *pairs, const int8_t *weights0,
                                      const int8_t *weights1, int32_t groups, int32_t sums[2]) {
#if INTARSIA_HAS_DSP_LOOPS
  register int32_t sum0 __asm__("r8") = sums[0];
  register int32_t sum1 __asm__("r9") = sums[1];
  register const uint32_t *from __asm__("r12") = pairs;
  register const int8_t *row0 __asm__("r11") = weights0;
  register const int8_t *row1 __asm__("r10") = weights1;
  register int32_t left __asm__("lr") = groups;
  // Two groups of pairs in r2-r5: nineteen instructions for sixteen products.
#define INTARSIA_CHANNEL(row, sum) \
  "ldrd r1, r6, [" row             \
  "], #8\n"                        \
  "sxtb16 r0, r1\n"                \
  "sxtb16 r1, r1, ror #8\n"        \
  "smlad " sum ", r2, r0, " sum    \
  "\n"                             \
  "smlad " sum ", r3, r1, " sum    \
  "\n"                             \
  "sxtb16 r0, r6\n"                \
  "sxtb16 r6, r6, ror #8\n"        \
  "smlad " sum ", r4, r0, " sum    \
  "\n"                             \
  "smlad " sum ", r5, r6, " sum "\n"
#define INTARSIA_LAST_GROUP(row, sum) \
  "ldr r1, [" row                     \
  "]\n"                               \
  "sxtb16 r0, r1\n"                   \
  "sxtb16 r1, r1, ror #8\n"           \
  "smlad " sum ", r2, r0, " sum       \
  "\n"                                \
  "smlad " sum ", r3, r1, " sum "\n"
  __asm__ volatile(
      "subs lr, lr, #4\n"
      "blt 2f\n"
      "1: ldmia r12!, {r2, r3, r4, r5}\n"
      INTARSIA_CHANNEL("r11", "r8") INTARSIA_CHANNEL("r10", "r9")
      "ldmia r12!, {r2, r3, r4, r5}\n"
      INTARSIA_CHANNEL("r11", "r8") INTARSIA_CHANNEL("r10", "r9")
      "subs lr, lr, #4\n"
      "bge 1b\n"
      "2: adds lr, lr, #2\n"
      "blt 4f\n"
      "ldmia r12!, {r2, r3, r4, r5}\n"
      INTARSIA_CHANNEL("r11", "r8") INTARSIA_CHANNEL("r10", "r9")
      "subs lr, lr, #2\n"
      "4: adds lr, lr, #2\n"
      "beq 3f\n"
      "ldmia r12!, {r2, r3}\n"
      INTARSIA_LAST_GROUP("r11", "r8") INTARSIA_LAST_GROUP("r10", "r9")
      "3:\n"
      : "+r"(sum0), "+r"(sum1), "+r"(from), "+r"(row0), "+r"(row1), "+r"(left)
      :
      : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "cc", "memory");
#undef INTARSIA_LAST_GROUP
#undef INTARSIA_CHANNEL
  sums[0] = sum0, sums[1] = sum1;
#else
  for (int32_t group = 0; group < groups; ++group) {
    const uint32_t even = pairs[2 * group], odd = pairs[2 * group + 1];
    const uint32_t word0 = intarsia_load_word(weights0 + 4 * group);
    const uint32_t word1 = intarsia_load_word(weights1 + 4 * group);
    sums[0] =
        intarsia_pair_product(odd, intarsia_odd_pair(word0),
                              intarsia_pair_product(even, intarsia_even_pair(word0), sums[0]));
    sums[1] =
        intarsia_pair_product(odd, intarsia_odd_pair(word1),
                              intarsia_pair_product(even, intarsia_even_pair(word1), sums[1]));
  }
#endif
}

#endif  // INTARSIA_CORTEX_M_DSP_DOT_H_
