// Two channels and four pixels at once, over all pairs of output channels: the loop of convolutions on cores with the DSP
// extension. Pixels lie in scratch as halfword pairs; how far apart the words of four pixels are differs by kernel.
//
// The loop takes every register, so all else is on the stack: by words from sp, struct four_pixels. A unit is what the
// loop is unrolled by: some words of weights, with the words of four pixels for each. The first unit begins the sums at
// the biases; the others follow in a loop that is entered where the rest of their number ends it together with the columns.
#ifndef INTARSIA_CORTEX_M_DSP_FOUR_H_
#define INTARSIA_CORTEX_M_DSP_FOUR_H_

#include "intarsia/targets/cortex_m/dsp_dot.h"

struct four_pixels {
  const uint32_t *end;  // of the pixels' words
  int32_t entry;        // where the loop is entered: units that the first pass leaves out, or all
  const uint32_t *columns;
  const struct intarsia_channel *end_of_channels;
  int8_t *output;
  int32_t out_c;
  int32_t low, high;
  const struct intarsia_channel *channels;  // the next two
};

INTARSIA_INLINE struct four_pixels intarsia_four_pixels(const struct intarsia_window *w,
                                                        const uint32_t *columns,
                                                        const uint32_t *end, int8_t *output,
                                                        const struct intarsia_channel *channels,
                                                        int32_t units, int32_t unrolled) {
  const int32_t rest = (units - 1) % unrolled;
  const int32_t entry = units == 1 ? unrolled : rest == 0 ? 0 : unrolled - rest;
  return (struct four_pixels){end,    entry,   columns, channels + w->out_c, output, w->out_c,
                              w->low, w->high, channels};
}

#if INTARSIA_HAS_DSP_LOOPS
// A word of weights and four pixels whose words are at these offsets from r1. Weights r0, sums r6-r9 of the first channel
// and r10-r12, lr of the second; changes r2-r5. Loads stand behind each other, where the second and third take one cycle;
// 17 cycles of a Cortex-M4 for 16 products. All are 32-bit instructions, so that a loop that begins with a word has no
// instruction across two.
#define INTARSIA_WORD_BEGIN(pixel1, pixel2) \
  "ldr.w r2, [r0], #4\n"                    \
  "ldr.w r4, [r1, #" #pixel1                \
  "]\n"                                     \
  "ldr.w r5, [r1, #" #pixel2                \
  "]\n"                                     \
  "sxtb16 r3, r2\n"                         \
  "sxtb16 r2, r2, ror #8\n"
#define INTARSIA_WORD(pixel1, pixel2, pixel3, pixel0) \
  INTARSIA_WORD_BEGIN(pixel1, pixel2)                 \
  "smlad r7, r4, r3, r7\n"                            \
  "smlad r11, r4, r2, r11\n"                          \
  "smlad r8, r5, r3, r8\n"                            \
  "smlad r12, r5, r2, r12\n"                          \
  "ldr.w r4, [r1, #" #pixel3                          \
  "]\n"                                               \
  "ldr.w r5, " pixel0                                 \
  "\n"                                                \
  "smlad r9, r4, r3, r9\n"                            \
  "smlad lr, r4, r2, lr\n"                            \
  "smlad r6, r5, r3, r6\n"                            \
  "smlad r10, r5, r2, r10\n"
// The first word: r6 and r10 hold the biases.
#define INTARSIA_FIRST_WORD(pixel1, pixel2, pixel3, pixel0) \
  INTARSIA_WORD_BEGIN(pixel1, pixel2)                       \
  "smlad r7, r4, r3, r6\n"                                  \
  "smlad r11, r4, r2, r10\n"                                \
  "smlad r8, r5, r3, r6\n"                                  \
  "smlad r12, r5, r2, r10\n"                                \
  "ldr.w r4, [r1, #" #pixel3                                \
  "]\n"                                                     \
  "ldr.w r5, " pixel0                                       \
  "\n"                                                      \
  "smlad r9, r4, r3, r6\n"                                  \
  "smlad lr, r4, r2, r10\n"                                 \
  "smlad r6, r5, r3, r6\n"                                  \
  "smlad r10, r5, r2, r10\n"

// Sums become results (results.h) with the multiplier in r2, the rounding in r3 and the shift in r4. SMMLAR adds the
// rounding to the product. The sign that is added is the sum's; where the product is 0 the shift drops it anyway.
#define INTARSIA_FOUR_RECTIFIED(sum) \
  "add.w " #sum ", " #sum ", " #sum  \
  "\n"                               \
  "smmlar " #sum ", " #sum           \
  ", r2, r3\n"                       \
  "asr.w " #sum ", " #sum            \
  ", r4\n"                           \
  "ssat " #sum ", #8, " #sum "\n"
#define INTARSIA_FOUR_WHOLE(sum)    \
  "add.w r5, r3, " #sum             \
  ", asr #31\n"                     \
  "add.w " #sum ", " #sum ", " #sum \
  "\n"                              \
  "smmlar " #sum ", " #sum          \
  ", r2, r5\n"                      \
  "asr.w " #sum ", " #sum           \
  ", r4\n"                          \
  "ssat " #sum ", #8, " #sum "\n"
#define INTARSIA_FOUR_CLAMP(sum) \
  "cmp.w " #sum                  \
  ", r2\n"                       \
  "it lt\n"                      \
  "movlt.w " #sum                \
  ", r2\n"                       \
  "cmp.w " #sum                  \
  ", r3\n"                       \
  "it gt\n"                      \
  "movgt.w " #sum ", r3\n"
#define INTARSIA_FOUR_UNLIMITED(a, b, c, d)
#define INTARSIA_FOUR_LIMITED(a, b, c, d)                                                      \
  "ldr.w r2, [sp, #24]\n"                                                                      \
  "ldr.w r3, [sp, #28]\n" INTARSIA_FOUR_CLAMP(a) INTARSIA_FOUR_CLAMP(b) INTARSIA_FOUR_CLAMP(c) \
      INTARSIA_FOUR_CLAMP(d)

// Of int16, in one step as mve_wide_conv.c says.
#define INTARSIA_FOUR_WIDE(sum) \
  "smmla " #sum ", " #sum       \
  ", r2, r3\n"                  \
  "asr.w " #sum ", " #sum       \
  ", r4\n"                      \
  "ssat " #sum ", #16, " #sum "\n"
// The same from 0 on.
#define INTARSIA_FOUR_WIDE_ABOVE(sum) \
  "smmla " #sum ", " #sum             \
  ", r2, r3\n"                        \
  "asr.w " #sum ", " #sum             \
  ", r4\n"                            \
  "usat " #sum ", #15, " #sum "\n"

// The whole: results are stored by `store`, and `one` and `two` of them are so many bytes; `table` are the halfword offsets of the entries, one for each unit of `loop`, labels 50 and on, and the end's.
#define INTARSIA_FOUR_PIXELS(work, weights, channels, first, loop, table, result, limit, store, \
                             one, two)                                                          \
  register const int8_t *weight __asm__("r0") = weights;                                        \
  register const struct intarsia_channel *channel __asm__("r1") = channels;                     \
  register const struct four_pixels *at __asm__("r2") = &work;                                  \
  __asm__ volatile(                                                                         \
      INTARSIA_SAVE_R7                                                                      \
      "ldm.w r2, {r3, r4, r5, r6, r7, r8, r9, r10, r11}\n"                                  \
      "push.w {r3, r4, r5, r6, r7, r8, r9, r10, r11}\n"                                     \
      "1: str.w r1, [sp, #32]\n"                                                            \
      "ldr.w r6, [r1]\n"                                                                    \
      "ldr.w r10, [r1, #16]\n"                                                              \
      "ldr.w r1, [sp, #8]\n"                                                                \
      first                                                                                 \
      "ldr.w r4, [sp, #4]\n"                                                                \
      "tbh [pc, r4, lsl #1]\n"                                                              \
      "4:\n" table                                                                          \
      ".balign 4\n"                                                                         \
      "2:\n" loop                                                                           \
      "3: ldr.w r4, [sp]\n"                                                                 \
      "cmp.w r1, r4\n"                                                                      \
      "bne.w 2b\n"                                                                          \
      "ldr.w r1, [sp, #32]\n"                                                               \
      "ldr.w r2, [r1, #4]\n"                                                                \
      "ldr.w r3, [r1, #8]\n"                                                                \
      "ldr.w r4, [r1, #12]\n"                                                               \
      result(r6) result(r7) result(r8) result(r9) limit(r6, r7, r8, r9)                     \
      "ldr.w r2, [r1, #20]\n"                                                               \
      "ldr.w r3, [r1, #24]\n"                                                               \
      "ldr.w r4, [r1, #28]\n"                                                               \
      result(r10) result(r11) result(r12) result(lr) limit(r10, r11, r12, lr)               \
      "ldr.w r2, [sp, #16]\n"                                                               \
      "ldr.w r3, [sp, #20]\n"                                                               \
      "ldr.w r4, [sp, #12]\n"                                                               \
      "add.w r1, r1, #32\n"                                                                 \
      "add.w r5, r2, r3\n"                                                                  \
      store " r6, [r2]\n"                                                                   \
      "cmp.w r1, r4\n"                                                                      \
      "add.w r4, r2, r3, lsl #1\n"                                                          \
      store " r7, [r5]\n"                                                                   \
      "add.w r3, r5, r3, lsl #1\n"                                                          \
      store " r8, [r4]\n"                                                                   \
      store " r9, [r3]\n"                                                                   \
      "bhi.w 5f\n"                                                                          \
      store " r10, [r2, #" one "]\n"                                                              \
      store " r11, [r5, #" one "]\n"                                                              \
      store " r12, [r4, #" one "]\n"                                                              \
      store " lr, [r3, #" one "]\n"                                                               \
      "add.w r2, r2, #" two "\n"                                                                  \
      "str.w r2, [sp, #16]\n"                                                               \
      "bne.w 1b\n"                                                                          \
      "5: add.w sp, sp, #36\n"                                                              \
      INTARSIA_RESTORE_R7                                                                   \
      : "+r"(weight), "+r"(channel), "+r"(at)                                               \
      :                                                                                     \
      : "r3", "r4", "r5", "r6", INTARSIA_CLOBBERS_R7 "r8", "r9", "r10", "r11", "r12", "lr", "cc", "memory")

// Four pixels whose words stand side by side. A unit is two words of weights, eight of which are in the loop.
// clang-format off
#define INTARSIA_FOUR_UNIT INTARSIA_WORD(4, 8, 12, "[r1], #16") INTARSIA_WORD(4, 8, 12, "[r1], #16")
#define INTARSIA_FOUR_FIRST_UNIT INTARSIA_FIRST_WORD(4, 8, 12, "[r1], #16") INTARSIA_WORD(4, 8, 12, "[r1], #16")
#define INTARSIA_FOUR_UNITS \
  "50:\n" INTARSIA_FOUR_UNIT "51:\n" INTARSIA_FOUR_UNIT "52:\n" INTARSIA_FOUR_UNIT "53:\n" INTARSIA_FOUR_UNIT \
  "54:\n" INTARSIA_FOUR_UNIT "55:\n" INTARSIA_FOUR_UNIT "56:\n" INTARSIA_FOUR_UNIT "57:\n" INTARSIA_FOUR_UNIT
#define INTARSIA_FOUR_ENTRIES \
  ".short (50f-4b)/2, (51f-4b)/2, (52f-4b)/2, (53f-4b)/2, (54f-4b)/2, (55f-4b)/2, (56f-4b)/2, (57f-4b)/2, (3f-4b)/2\n"
// clang-format on
#endif

#endif  // INTARSIA_CORTEX_M_DSP_FOUR_H_
