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

// Weights of two channels A and B, a group at a time: a word of A's elements 0 and 2 in its bytes 0 and 2 and B's in
// bytes 1 and 3, then one with elements 1 and 3 alike. So one SXTB16 makes A's pair, and a rotated one B's.

// sums[p] of A and sums[4 + p] of B += products with four pixels, over `groups` groups.
INTARSIA_INLINE void intarsia_dot_2x4(const uint32_t *pairs, const int8_t *weights, int32_t groups,
                                      int32_t sums[8]) {
  for (int32_t word = 0; word < 2 * groups; ++word, pairs += 4, weights += 4) {
    const uint32_t both = intarsia_load_word(weights);
    const uint32_t a = intarsia_even_pair(both), b = intarsia_odd_pair(both);
    for (int32_t pixel = 0; pixel < 4; ++pixel) {
      sums[pixel] = intarsia_pair_product(pairs[pixel], a, sums[pixel]);
      sums[4 + pixel] = intarsia_pair_product(pairs[pixel], b, sums[4 + pixel]);
    }
  }
}

// sums[0] of A and sums[1] of B += products with one pixel.
INTARSIA_INLINE void intarsia_dot_2x1(const uint32_t *pairs, const int8_t *weights, int32_t groups,
                                      int32_t sums[2]) {
#if INTARSIA_HAS_DSP_LOOPS
  register int32_t sum0 __asm__("r8") = sums[0];
  register int32_t sum1 __asm__("r9") = sums[1];
  register const uint32_t *from __asm__("r12") = pairs;
  register const int8_t *row __asm__("r11") = weights;
  register int32_t left __asm__("lr") = groups;
  // Two words of weights and of pairs: thirteen cycles for eight products.
#define INTARSIA_GROUP_2X1  \
  "ldr.w r0, [r11], #4\n"   \
  "ldr.w r1, [r12], #4\n"   \
  "ldr.w r2, [r11], #4\n"   \
  "ldr.w r3, [r12], #4\n"   \
  "sxtb16 r4, r0\n"         \
  "sxtb16 r0, r0, ror #8\n" \
  "smlad r8, r1, r4, r8\n"  \
  "smlad r9, r1, r0, r9\n"  \
  "sxtb16 r4, r2\n"         \
  "sxtb16 r2, r2, ror #8\n" \
  "smlad r8, r3, r4, r8\n"  \
  "smlad r9, r3, r2, r9\n"
  __asm__ volatile(
      "subs.w lr, lr, #4\n"
      "blt.w 2f\n"
      ".balign 4\n"
      "1:\n" INTARSIA_GROUP_2X1 INTARSIA_GROUP_2X1 INTARSIA_GROUP_2X1 INTARSIA_GROUP_2X1
      "subs.w lr, lr, #4\n"
      "bge.w 1b\n"
      "2: adds.w lr, lr, #4\n"
      "beq.w 4f\n"
      "3:\n" INTARSIA_GROUP_2X1
      "subs.w lr, lr, #1\n"
      "bne.w 3b\n"
      "4:\n"
      : "+r"(sum0), "+r"(sum1), "+r"(from), "+r"(row), "+r"(left)
      :
      : "r0", "r1", "r2", "r3", "r4", "cc", "memory");
#undef INTARSIA_GROUP_2X1
  sums[0] = sum0, sums[1] = sum1;
#else
  for (int32_t word = 0; word < 2 * groups; ++word, weights += 4) {
    const uint32_t both = intarsia_load_word(weights);
    sums[0] = intarsia_pair_product(pairs[word], intarsia_even_pair(both), sums[0]);
    sums[1] = intarsia_pair_product(pairs[word], intarsia_odd_pair(both), sums[1]);
  }
#endif
}

// Weights of two channels A and B that share halfwords, 256 * B + A: SMLAD with the halfwords as they are adds up 256 * B + A,
// SXTB16 leaves A alone, and B's sum is the difference. Four channels, a group at a time: a word of A and B for elements 0 and 2, one of C
// and D, then both for elements 1 and 3. Sums of A and C, and of the halfwords behind each.

// sums += products with one pixel, whose words are `step` apart, over `groups` groups.
INTARSIA_INLINE void intarsia_shared_dot_4x1(const uint32_t *pairs, int32_t step,
                                             const int8_t *weights, int32_t groups,
                                             int32_t sums[4]) {
  for (int32_t word = 0; word < 2 * groups; ++word, pairs += step, weights += 8) {
    const uint32_t ab = intarsia_load_word(weights), cd = intarsia_load_word(weights + 4);
    sums[1] = intarsia_pair_product(*pairs, ab, sums[1]);
    sums[0] = intarsia_pair_product(*pairs, intarsia_even_pair(ab), sums[0]);
    sums[3] = intarsia_pair_product(*pairs, cd, sums[3]);
    sums[2] = intarsia_pair_product(*pairs, intarsia_even_pair(cd), sums[2]);
  }
}

// The sum of B, of which bias is the start.
INTARSIA_INLINE int32_t intarsia_shared_sum(int32_t a, int32_t both, int32_t bias) {
  return bias + ((int32_t)((uint32_t)both - (uint32_t)a) >> 8);
}

#endif  // INTARSIA_CORTEX_M_DSP_DOT_H_
