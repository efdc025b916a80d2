// Four channels and two pixels at once, over all blocks of output channels: the loop of convolutions whose weights
// share halfwords (dsp_dot.h) on cores with the DSP extension. Four pixels lie in scratch as halfword pairs, side by side.
//
// The loop takes every register, so all else is on the stack: by words from sp, struct by_four. A unit is a group of
// four elements: two words of each pixel. The first unit begins the sums at the biases of A and C; the others follow in a
// loop that is entered where the rest of their number ends it together with the columns.
#ifndef INTARSIA_CORTEX_M_DSP_BY_FOUR_H_
#define INTARSIA_CORTEX_M_DSP_BY_FOUR_H_

#include "intarsia/targets/cortex_m/dsp_dot.h"

struct by_four {
  const uint32_t *end;  // of the first two pixels' words
  int32_t entry;        // where the loop is entered: units that the first pass leaves out, or all
  const uint32_t *columns;
  const struct intarsia_channel *end_of_channels;
  int8_t *output;
  int32_t out_c;
  int32_t low, high;                        // in both halfwords
  const struct intarsia_channel *channels;  // of the next block
  const struct intarsia_channel *all_channels;
  const int8_t *weights;
  int32_t to_next_outputs;  // from the end of two pixels' results
  int32_t pairs_of_pixels;
};

// Units in the loop. A jump back takes next to nothing where it is beside other instructions.
#if INTARSIA_TWO_AT_A_TIME
enum { kByFourUnits = 4 };
#else
enum { kByFourUnits = 8 };
#endif

// Of `blocks` blocks of channels.
INTARSIA_INLINE struct by_four intarsia_by_four(const struct intarsia_window *w,
                                                const uint32_t *columns, int8_t *output,
                                                const int8_t *weights,
                                                const struct intarsia_channel *channels,
                                                int32_t groups, int32_t blocks) {
  const int32_t rest = (groups - 1) % kByFourUnits;
  const int32_t entry = groups == 1 ? kByFourUnits : rest == 0 ? 0 : kByFourUnits - rest;
  return (struct by_four){columns + 8 * groups,
                          entry,
                          columns,
                          channels + 4 * blocks,
                          output,
                          w->out_c,
                          (int32_t)(((uint32_t)w->low & 0xffffu) * 0x10001u),
                          (int32_t)(((uint32_t)w->high & 0xffffu) * 0x10001u),
                          channels,
                          channels,
                          weights,
                          2 * (w->out_c - 2 * blocks),
                          2};
}

#if INTARSIA_HAS_DSP_LOOPS
// Weights from r0, pixels from r1. Sums of A to D: r6-r9 of the first pixel, r10-r12 and lr of the second; r2-r5 are changed.
// Of B and D they are those of the halfwords, 256 * B + A. All are 32-bit instructions, so that a loop that begins with a word has
// no instruction across two.
//
// One instruction at a time, or nearly (M4, M33): loads stand behind each other, where all but the first take one cycle; 15 cycles
// of a Cortex-M4 for 16 products. Two at a time (M7): each product has a load or an extension beside it, 17 cycles for 32.
#define INTARSIA_PRODUCT(sum, pixel, weight, before) \
  "smlad " #sum ", " #pixel ", " #weight ", " #before "\n"
#if INTARSIA_TWO_AT_A_TIME
#define INTARSIA_BY_FOUR_UNIT_OF(a0, b0, c0, d0, a1, b1, c1, d1) \
  "ldr.w r2, [r0]\n"                                                                \
  "ldr.w r4, [r1]\n"                                                                \
  INTARSIA_PRODUCT(r7, r4, r2, b0) "ldr.w r5, [r1, #4]\n"                           \
  INTARSIA_PRODUCT(r11, r5, r2, b1) "ldr.w r3, [r0, #4]\n"                          \
  "sxtb16 r2, r2\n" INTARSIA_PRODUCT(r9, r4, r3, d0)                                \
  INTARSIA_PRODUCT(lr, r5, r3, d1)                                                  \
  "sxtb16 r3, r3\n" INTARSIA_PRODUCT(r10, r5, r2, a1)                               \
  INTARSIA_PRODUCT(r6, r4, r2, a0) "ldr.w r2, [r0, #8]\n"                           \
  INTARSIA_PRODUCT(r12, r5, r3, c1) "ldr.w r5, [r1, #20]\n"                         \
  INTARSIA_PRODUCT(r8, r4, r3, c0) "ldr.w r4, [r1, #16]\n"                          \
  INTARSIA_PRODUCT(r11, r5, r2, r11) "ldr.w r3, [r0, #12]\n"                        \
  INTARSIA_PRODUCT(r7, r4, r2, r7) "add.w r0, r0, #16\n"                            \
  "sxtb16 r2, r2\n" INTARSIA_PRODUCT(r9, r4, r3, r9)                                \
  INTARSIA_PRODUCT(lr, r5, r3, lr) "add.w r1, r1, #32\n"                            \
  "sxtb16 r3, r3\n" INTARSIA_PRODUCT(r6, r4, r2, r6)                                \
  INTARSIA_PRODUCT(r10, r5, r2, r10)                                                \
  INTARSIA_PRODUCT(r8, r4, r3, r8)                                                  \
  INTARSIA_PRODUCT(r12, r5, r3, r12)
#else
#define INTARSIA_BY_FOUR_WORD(a0, b0, c0, d0, a1, b1, c1, d1) \
  "ldr.w r3, [r0, #4]\n"                                                            \
  "ldr.w r2, [r0], #8\n"                                                            \
  "ldr.w r5, [r1, #4]\n"                                                            \
  "ldr.w r4, [r1], #16\n"                                                           \
  INTARSIA_PRODUCT(r11, r5, r2, b1) INTARSIA_PRODUCT(lr, r5, r3, d1)                \
  INTARSIA_PRODUCT(r7, r4, r2, b0) INTARSIA_PRODUCT(r9, r4, r3, d0)                 \
  "sxtb16 r2, r2\n"                                                                 \
  "sxtb16 r3, r3\n"                                                                 \
  INTARSIA_PRODUCT(r10, r5, r2, a1) INTARSIA_PRODUCT(r12, r5, r3, c1)               \
  INTARSIA_PRODUCT(r6, r4, r2, a0) INTARSIA_PRODUCT(r8, r4, r3, c0)
#define INTARSIA_BY_FOUR_UNIT_OF(a0, b0, c0, d0, a1, b1, c1, d1) \
  INTARSIA_BY_FOUR_WORD(a0, b0, c0, d0, a1, b1, c1, d1)          \
  INTARSIA_BY_FOUR_WORD(r6, r7, r8, r9, r10, r11, r12, lr)
#endif
#define INTARSIA_BY_FOUR_UNIT INTARSIA_BY_FOUR_UNIT_OF(r6, r7, r8, r9, r10, r11, r12, lr)
// The first: r6 and r8 hold the biases of A and C.
#define INTARSIA_BY_FOUR_FIRST INTARSIA_BY_FOUR_UNIT_OF(r6, r6, r8, r8, r6, r6, r8, r8)

// Sums of two pixels become results (results.h) with the multiplier in r2, the rounding in r3 and the shift in r4; r5 is
// changed. SMMLAR adds the rounding to the product. The sign that is added is the sum's; where the product is 0 the shift drops
// it anyway.
#define INTARSIA_BY_FOUR_DOUBLE(x, y) \
  "add.w " #x ", " #x ", " #x         \
  "\n"                                \
  "add.w " #y ", " #y ", " #y "\n"
#define INTARSIA_BY_FOUR_SHIFT(x, y) \
  "asr.w " #x ", " #x                \
  ", r4\n"                           \
  "asr.w " #y ", " #y                \
  ", r4\n"                           \
  "ssat " #x ", #8, " #x             \
  "\n"                               \
  "ssat " #y ", #8, " #y "\n"
#define INTARSIA_BY_FOUR_RECTIFIED(x, y) \
  "smmlar " #x ", " #x                   \
  ", r2, r3\n"                           \
  "smmlar " #y ", " #y ", r2, r3\n" INTARSIA_BY_FOUR_SHIFT(x, y)
#define INTARSIA_BY_FOUR_WHOLE(x, y) \
  "add.w r5, r3, " #x                \
  ", asr #31\n"                      \
  "smmlar " #x ", " #x               \
  ", r2, r5\n"                       \
  "add.w r5, r3, " #y                \
  ", asr #31\n"                      \
  "smmlar " #y ", " #y ", r2, r5\n" INTARSIA_BY_FOUR_SHIFT(x, y)
// Of A and C. Of B and D: 256 times the sums, whose biases in r5 are doubled.
#define INTARSIA_BY_FOUR_EVEN(x, y, result) INTARSIA_BY_FOUR_DOUBLE(x, y) result(x, y)
#define INTARSIA_BY_FOUR_ODD(x, y, result) \
  "add.w " #x ", r5, " #x                  \
  ", asr #7\n"                             \
  "add.w " #y ", r5, " #y ", asr #7\n" result(x, y)
#define INTARSIA_BY_FOUR_UNLIMITED
// Both pixels in one word, with the limits in r2 and r3.
#define INTARSIA_BY_FOUR_CLAMP(x, y) \
  "pkhbt " #x ", " #x ", " #y        \
  ", lsl #16\n"                      \
  "ssub16 r5, " #x                   \
  ", r2\n"                           \
  "sel " #x ", " #x                  \
  ", r2\n"                           \
  "ssub16 r5, r3, " #x               \
  "\n"                               \
  "sel " #x ", " #x                  \
  ", r3\n"                           \
  "asr.w " #y ", " #x ", #16\n"
#define INTARSIA_BY_FOUR_LIMITED                                                          \
  "ldr.w r2, [sp, #24]\n"                                                                 \
  "ldr.w r3, [sp, #28]\n" INTARSIA_BY_FOUR_CLAMP(r6, r10) INTARSIA_BY_FOUR_CLAMP(r7, r11) \
      INTARSIA_BY_FOUR_CLAMP(r8, r12) INTARSIA_BY_FOUR_CLAMP(r9, lr)

// clang-format off
#define INTARSIA_BY_FOUR_HALF \
  "50:\n" INTARSIA_BY_FOUR_UNIT "51:\n" INTARSIA_BY_FOUR_UNIT "52:\n" INTARSIA_BY_FOUR_UNIT \
  "53:\n" INTARSIA_BY_FOUR_UNIT
#if INTARSIA_TWO_AT_A_TIME
#define INTARSIA_BY_FOUR_UNITS INTARSIA_BY_FOUR_HALF
#define INTARSIA_BY_FOUR_ENTRIES ".short (50f-4b)/2, (51f-4b)/2, (52f-4b)/2, (53f-4b)/2, (3f-4b)/2\n"
#else
#define INTARSIA_BY_FOUR_UNITS \
  INTARSIA_BY_FOUR_HALF "54:\n" INTARSIA_BY_FOUR_UNIT "55:\n" INTARSIA_BY_FOUR_UNIT \
  "56:\n" INTARSIA_BY_FOUR_UNIT "57:\n" INTARSIA_BY_FOUR_UNIT
#define INTARSIA_BY_FOUR_ENTRIES \
  ".short (50f-4b)/2, (51f-4b)/2, (52f-4b)/2, (53f-4b)/2, (54f-4b)/2, (55f-4b)/2, (56f-4b)/2, (57f-4b)/2, (3f-4b)/2\n"
#endif

// `work` points to it.
#define INTARSIA_BY_FOUR(work, result, limit) \
  register const struct by_four *at __asm__("r2") = (work); \
  __asm__ volatile( \
      INTARSIA_SAVE_R7 \
      "add.w r2, r2, #36\n" \
      "ldm.w r2, {r3, r4, r5, r6}\n" \
      "mov.w r1, r3\n" \
      "mov.w r0, r4\n" \
      "push.w {r3, r4, r5, r6}\n" \
      "ldmdb.w r2, {r3, r4, r5, r6, r7, r8, r9, r10, r11}\n" \
      "push.w {r3, r4, r5, r6, r7, r8, r9, r10, r11}\n" \
      "1: str.w r1, [sp, #32]\n" \
      "ldr.w r6, [r1]\n" \
      "ldr.w r8, [r1, #32]\n" \
      "ldr.w r1, [sp, #8]\n" \
      INTARSIA_BY_FOUR_FIRST \
      "ldr.w r4, [sp, #4]\n" \
      "tbh [pc, r4, lsl #1]\n" \
      "4:\n" INTARSIA_BY_FOUR_ENTRIES \
      ".balign 4\n" \
      "2:\n" INTARSIA_BY_FOUR_UNITS \
      "3: ldr.w r4, [sp]\n" \
      "cmp.w r1, r4\n" \
      "bne.w 2b\n" \
      "ldr.w r1, [sp, #32]\n" \
      "sub.w r7, r7, r6\n" \
      "sub.w r11, r11, r10\n" \
      "ldr.w r2, [r1, #4]\n" \
      "ldr.w r3, [r1, #8]\n" \
      "ldr.w r4, [r1, #12]\n" \
      INTARSIA_BY_FOUR_EVEN(r6, r10, result) \
      "ldr.w r5, [r1, #16]\n" \
      "ldr.w r2, [r1, #20]\n" \
      "ldr.w r3, [r1, #24]\n" \
      "ldr.w r4, [r1, #28]\n" \
      "sub.w r9, r9, r8\n" \
      "sub.w lr, lr, r12\n" \
      INTARSIA_BY_FOUR_ODD(r7, r11, result) \
      "ldr.w r2, [r1, #36]\n" \
      "ldr.w r3, [r1, #40]\n" \
      "ldr.w r4, [r1, #44]\n" \
      INTARSIA_BY_FOUR_EVEN(r8, r12, result) \
      "ldr.w r5, [r1, #48]\n" \
      "ldr.w r2, [r1, #52]\n" \
      "ldr.w r3, [r1, #56]\n" \
      "ldr.w r4, [r1, #60]\n" \
      INTARSIA_BY_FOUR_ODD(r9, lr, result) limit \
      "ldr.w r2, [sp, #16]\n" \
      "ldr.w r3, [sp, #20]\n" \
      "ldr.w r4, [sp, #12]\n" \
      "add.w r1, r1, #64\n" \
      "add.w r5, r2, r3\n" \
      "strb r6, [r2], #4\n" \
      "strb.w r10, [r5]\n" \
      "strb r7, [r2, #-3]\n" \
      "strb.w r11, [r5, #1]\n" \
      "strb r8, [r2, #-2]\n" \
      "strb.w r12, [r5, #2]\n" \
      "strb r9, [r2, #-1]\n" \
      "strb.w lr, [r5, #3]\n" \
      "cmp.w r1, r4\n" \
      "str.w r2, [sp, #16]\n" \
      "bne.w 1b\n" \
      "ldr.w r4, [sp, #48]\n" \
      "ldr.w r1, [sp, #36]\n" \
      "ldr.w r0, [sp, #40]\n" \
      "ldr.w r3, [sp, #44]\n" \
      "ldr.w r5, [sp, #8]\n" \
      "ldr.w r6, [sp]\n" \
      "subs.w r4, r4, #1\n" \
      "add.w r2, r2, r3\n" \
      "add.w r5, r5, #8\n" \
      "add.w r6, r6, #8\n" \
      "str.w r4, [sp, #48]\n" \
      "str.w r2, [sp, #16]\n" \
      "str.w r5, [sp, #8]\n" \
      "str.w r6, [sp]\n" \
      "bne.w 1b\n" \
      "add.w sp, sp, #52\n" \
      INTARSIA_RESTORE_R7 \
      : "+r"(at) \
      : \
      : "r0", "r1", "r3", "r4", "r5", "r6", INTARSIA_CLOBBERS_R7 "r8", "r9", "r10", "r11", "r12", "lr", "cc", "memory")
// clang-format on
#endif

#endif  // INTARSIA_CORTEX_M_DSP_BY_FOUR_H_
