// Four pixels in two words: one product of 32 bits multiplies two pixels with a weight, the lower half of a word holds
// one pixel, the upper half the other. The halves of a sum of such products are the sums of both while the lower
// one fits 16 bits, as the sums of a few weights do; the compiler knows how many (compiler/thumb.cpp).
#ifndef INTARSIA_CORTEX_M_THUMB_PAIRS_H_
#define INTARSIA_CORTEX_M_THUMB_PAIRS_H_

#include "intarsia/targets/cortex_m/thumb_results.h"

enum { kIntarsiaPixels = 4, kIntarsiaHalf = 16 };

// Of pixels 0 and 2, then of 1 and 3, element by element.
#if INTARSIA_HAS_THUMB1
#define INTARSIA_PACK intarsia_pack_pushes_4
#else
#define INTARSIA_PACK intarsia_pack
#endif
INTARSIA_OUTLINE void INTARSIA_PACK(int32_t *pairs, const int8_t *const pixels[kIntarsiaPixels],
                                    int32_t count) {
#if INTARSIA_HAS_THUMB1
  register int32_t *to __asm__("r0") = pairs;
  register const int8_t *const *from __asm__("r1") = pixels;
  register int32_t left __asm__("r5") = count;
  __asm__ volatile(".syntax unified\n" INTARSIA_SAVE_R7
                   "ldmia r1, {r1, r2, r3, r4}\n"
                   "adds r1, r1, r5\n"
                   "adds r2, r2, r5\n"
                   "adds r3, r3, r5\n"
                   "adds r4, r4, r5\n"
                   "rsbs r5, r5, #0\n"
                   "1: ldrsb r6, [r1, r5]\n"
                   "ldrsb r7, [r3, r5]\n"
                   "lsls r7, r7, #16\n"
                   "adds r6, r6, r7\n"
                   "stmia r0!, {r6}\n"
                   "ldrsb r6, [r2, r5]\n"
                   "ldrsb r7, [r4, r5]\n"
                   "lsls r7, r7, #16\n"
                   "adds r6, r6, r7\n"
                   "stmia r0!, {r6}\n"
                   "adds r5, r5, #1\n"
                   "bne 1b\n" INTARSIA_RESTORE_R7
                   : "+l"(to), "+l"(from), "+l"(left)
                   :
                   : "r2", "r3", "r4", "r6", INTARSIA_CLOBBERS_R7 "cc", "memory");
#else
  const int8_t *a = pixels[0], *b = pixels[1], *c = pixels[2], *d = pixels[3];
#define INTARSIA_STEP(i)                               \
  pairs[2 * (i)] = c[i] * (1 << kIntarsiaHalf) + a[i]; \
  pairs[2 * (i) + 1] = d[i] * (1 << kIntarsiaHalf) + b[i];
  for (; count >= 4; count -= 4, pairs += 8, a += 4, b += 4, c += 4, d += 4) {
    INTARSIA_STEP(0) INTARSIA_STEP(1) INTARSIA_STEP(2) INTARSIA_STEP(3)
  }
#undef INTARSIA_STEP
  for (; count > 0; --count) {
    *pairs++ = *c++ * (1 << kIntarsiaHalf) + *a++;
    *pairs++ = *d++ * (1 << kIntarsiaHalf) + *b++;
  }
#endif
}

#if INTARSIA_HAS_THUMB1
// Pairs r0, weights r1, their end r12; products r2 and r3, four weights r4, one of them r5. The products of a block add up in
// r8 and r9, all of them in r10 and r11 (modulo 2^32), and the upper halves of blocks, rounded, in r6 and r7: shifting
// right leaves the half in the carry. What these leave of r10 and r11 is the sum of the lower halves.
#define INTARSIA_PRODUCTS(weight) \
  "ldmia r0!, {r2, r3}\n"         \
  "muls r2, " weight              \
  ", r2\n"                        \
  "muls r3, " weight ", r3\n"
#define INTARSIA_WEIGHT0 "sxtb r5, r4\n" INTARSIA_PRODUCTS_R5
#define INTARSIA_WEIGHT1 "lsls r5, r4, #16\nasrs r5, r5, #24\n" INTARSIA_PRODUCTS_R5
#define INTARSIA_WEIGHT2 "lsls r5, r4, #8\nasrs r5, r5, #24\n" INTARSIA_PRODUCTS_R5
#define INTARSIA_WEIGHT3 "asrs r4, r4, #24\n" INTARSIA_PRODUCTS("r4")
#define INTARSIA_PRODUCTS_R5 INTARSIA_PRODUCTS("r5")
#define INTARSIA_BEGIN "mov r8, r2\nmov r9, r3\n"
#define INTARSIA_GO_ON "add r8, r8, r2\nadd r9, r9, r3\n"
#define INTARSIA_END   \
  "add r2, r2, r8\n"   \
  "add r10, r10, r2\n" \
  "asrs r2, r2, #16\n" \
  "adcs r6, r6, r2\n"  \
  "add r3, r3, r9\n"   \
  "add r11, r11, r3\n" \
  "asrs r3, r3, #16\n" \
  "adcs r7, r7, r3\n"
#define INTARSIA_WORD(after0, after1, after2, after3)                                         \
  "ldmia r1!, {r4}\n" INTARSIA_WEIGHT0 after0 INTARSIA_WEIGHT1 after1 INTARSIA_WEIGHT2 after2 \
      INTARSIA_WEIGHT3 after3
// A loop takes two words, and begins with the second where their number is odd: r2 is negative.
#define INTARSIA_LOOP(start, middle, word1, word2)                                               \
  "cmp r2, #0\nbmi " middle "f\n" start ":\n" word1 middle ":\n" word2 "cmp r1, r12\nbne " start \
  "b\n"

INTARSIA_OUTLINE void intarsia_dot_of_pairs_pushes_20(const int32_t *pairs, const int8_t *weights,
                                                      int32_t count, int32_t block, int32_t *sums) {
  register const int32_t *x __asm__("r0") = pairs;
  register const int8_t *weight __asm__("r1") = weights;
  register const int8_t *end __asm__("r2") = weights + count;
  register int32_t *to __asm__("r3") = sums;
  register int32_t together __asm__("r4") = block;
  __asm__ volatile(
      ".syntax unified\n" INTARSIA_SAVE_R7
      "mov r12, r4\n" INTARSIA_SAVE_HIGH("r4", "r5", "r6", "r7")
      "mov lr, r3\n"
      "ldmia r3!, {r4, r5, r6, r7}\n"
      "lsls r3, r6, #16\n"
      "adds r3, r3, r4\n"
      "mov r10, r3\n"
      "lsls r3, r7, #16\n"
      "adds r3, r3, r5\n"
      "mov r11, r3\n"
      "mov r4, r12\n"
      "mov r12, r2\n"
      "subs r2, r2, r1\n"
      "lsls r2, r2, #29\n"
      "cmp r4, #4\n"
      "beq 4f\n"
      // By two.
      INTARSIA_LOOP("1", "2",
                    INTARSIA_WORD(INTARSIA_BEGIN, INTARSIA_END, INTARSIA_BEGIN, INTARSIA_END),
                    INTARSIA_WORD(INTARSIA_BEGIN, INTARSIA_END, INTARSIA_BEGIN, INTARSIA_END))
      "b 9f\n"
      "4:\n"
      INTARSIA_LOOP("1", "2",
                    INTARSIA_WORD(INTARSIA_BEGIN, INTARSIA_GO_ON, INTARSIA_GO_ON, INTARSIA_END),
                    INTARSIA_WORD(INTARSIA_BEGIN, INTARSIA_GO_ON, INTARSIA_GO_ON, INTARSIA_END))
      "9: lsls r2, r6, #16\n"
      "mov r4, r10\n"
      "subs r4, r4, r2\n"
      "lsls r3, r7, #16\n"
      "mov r5, r11\n"
      "subs r5, r5, r3\n"
      "mov r0, lr\n"
      "stmia r0!, {r4, r5, r6, r7}\n" INTARSIA_RESTORE_HIGH("r4", "r5", "r6", "r7")
      INTARSIA_RESTORE_R7
      : "+l"(x), "+l"(weight), "+l"(end), "+l"(to), "+l"(together)
      :
      : "r5", "r6", INTARSIA_CLOBBERS_R7 "r12", "lr", "cc", "memory");
}
#undef INTARSIA_LOOP
#undef INTARSIA_WORD
#undef INTARSIA_END
#undef INTARSIA_GO_ON
#undef INTARSIA_BEGIN
#undef INTARSIA_PRODUCTS_R5
#undef INTARSIA_WEIGHT3
#undef INTARSIA_WEIGHT2
#undef INTARSIA_WEIGHT1
#undef INTARSIA_WEIGHT0
#undef INTARSIA_PRODUCTS
#elif INTARSIA_HAS_THUMB2
// Pairs r0, weights r1, their end r2; two weights r3 and r4, their pairs r5 to r8. A block adds up in r5 and r6, all of them in
// r10 and r11, the upper halves in r12 and lr, as above. A product takes a Cortex-M3 one cycle, one with an addition two, and
// loads that follow each other one each but for the first.
#define INTARSIA_TWO(weight0, weight1, pair0, pair1, pair2, pair3) \
  "ldrsb r3, [r1, #" weight0                                       \
  "]\n"                                                            \
  "ldrsb r4, [r1, #" weight1                                       \
  "]\n"                                                            \
  "ldr r5, [r0, #" pair0                                           \
  "]\n"                                                            \
  "ldr r6, [r0, #" pair1                                           \
  "]\n"                                                            \
  "ldr r7, [r0, #" pair2                                           \
  "]\n"                                                            \
  "ldr r8, [r0, #" pair3                                           \
  "]\n"                                                            \
  "mul r5, r5, r3\n"                                               \
  "mul r6, r6, r3\n"                                               \
  "mla r5, r7, r4, r5\n"                                           \
  "mla r6, r8, r4, r6\n"
#define INTARSIA_ONE_MORE(weight, pair0, pair1) \
  "ldrsb r3, [r1, #" weight                     \
  "]\n"                                         \
  "ldr r7, [r0, #" pair0                        \
  "]\n"                                         \
  "ldr r8, [r0, #" pair1                        \
  "]\n"                                         \
  "mla r5, r7, r3, r5\n"                        \
  "mla r6, r8, r3, r6\n"
#define INTARSIA_END   \
  "add r10, r10, r5\n" \
  "asrs r5, r5, #16\n" \
  "adc r12, r12, r5\n" \
  "add r11, r11, r6\n" \
  "asrs r6, r6, #16\n" \
  "adc lr, lr, r6\n"
#define INTARSIA_NEXT "adds r0, r0, #32\nadds r1, r1, #4\n"
#define INTARSIA_BY_FOUR                      \
  INTARSIA_TWO("0", "1", "0", "4", "8", "12") \
  INTARSIA_ONE_MORE("2", "16", "20") INTARSIA_ONE_MORE("3", "24", "28") INTARSIA_END INTARSIA_NEXT
#define INTARSIA_BY_TWO                       \
  INTARSIA_TWO("0", "1", "0", "4", "8", "12") \
  INTARSIA_END INTARSIA_TWO("2", "3", "16", "20", "24", "28") INTARSIA_END INTARSIA_NEXT
// Eight weights, or first the second four of them: r3 is negative.
#define INTARSIA_LOOP(four) "cmp r3, #0\nbmi 2f\n1:\n" four "2:\n" four "cmp r1, r2\nbne 1b\n"

INTARSIA_OUTLINE void intarsia_dot_of_pairs_pushes_8(const int32_t *pairs, const int8_t *weights,
                                                     int32_t count, int32_t block, int32_t *sums) {
  register const int32_t *x __asm__("r0") = pairs;
  register const int8_t *weight __asm__("r1") = weights;
  register const int8_t *end __asm__("r2") = weights + count;
  register int32_t *to __asm__("r3") = sums;
  register int32_t together __asm__("r4") = block;
  __asm__ volatile(INTARSIA_SAVE_R7
                   "ldmia r3, {r10, r11, r12, lr}\n"
                   "push {r3}\n"
                   "add r10, r10, r12, lsl #16\n"
                   "add r11, r11, lr, lsl #16\n"
                   "subs r3, r2, r1\n"
                   "lsls r3, r3, #29\n"
                   "cmp r4, #4\n"
                   "beq 4f\n" INTARSIA_LOOP(INTARSIA_BY_TWO)
                   "b 9f\n"
                   "4:\n" INTARSIA_LOOP(INTARSIA_BY_FOUR)
                   "9: pop {r3}\n"
                   "sub r10, r10, r12, lsl #16\n"
                   "sub r11, r11, lr, lsl #16\n"
                   "stmia r3, {r10, r11, r12, lr}\n" INTARSIA_RESTORE_R7
                   : "+r"(x), "+r"(weight), "+r"(end), "+r"(to), "+r"(together)
                   :
                   : "r5", "r6", INTARSIA_CLOBBERS_R7 "r8", "r10", "r11", "r12", "lr", "cc",
                     "memory");
}
#undef INTARSIA_LOOP
#undef INTARSIA_BY_TWO
#undef INTARSIA_BY_FOUR
#undef INTARSIA_NEXT
#undef INTARSIA_END
#undef INTARSIA_ONE_MORE
#undef INTARSIA_TWO
#endif

// sums += products of `count` weights, a multiple of four, > 0, with four pixels. Blocks of `block` weights (2 or 4), counted from
// the last one, have sums of 16 bits.
INTARSIA_INLINE void intarsia_dot_of_pairs(const int32_t *pairs, const int8_t *weights,
                                           int32_t count, int32_t block,
                                           int32_t sums[kIntarsiaPixels]) {
#if INTARSIA_HAS_THUMB1
  intarsia_dot_of_pairs_pushes_20(pairs, weights, count, block, sums);
#elif INTARSIA_HAS_THUMB2
  intarsia_dot_of_pairs_pushes_8(pairs, weights, count, block, sums);
#else
  for (int32_t left = count; left > 0;) {
    int32_t both[2] = {0, 0};
    do {
      both[0] += *pairs++ * *weights;
      both[1] += *pairs++ * *weights++;
    } while (--left % block != 0);
    for (int32_t pair = 0; pair < 2; ++pair) {
      const int32_t upper = (both[pair] + (1 << (kIntarsiaHalf - 1))) >> kIntarsiaHalf;
      sums[pair] += both[pair] - upper * (1 << kIntarsiaHalf);
      sums[pair + 2] += upper;
    }
  }
#endif
}

#endif  // INTARSIA_CORTEX_M_THUMB_PAIRS_H_
