// Runs of int8 as pairs of halfwords (dsp_dot.h), of one pixel or of four side by side. Included behind optimise.h.
#ifndef INTARSIA_CORTEX_M_DSP_EXPAND_H_
#define INTARSIA_CORTEX_M_DSP_EXPAND_H_

#include "intarsia/targets/cortex_m/dsp_dot.h"

// `words` words of four elements each into one of `pixels` columns that stand side by side.
INTARSIA_OUTLINE uint32_t *intarsia_expand(uint32_t *column, const int8_t *from, int32_t words,
                                           int32_t pixels) {
  for (; words > 0; --words, from += 4, column += 2 * pixels) {
    const uint32_t word = intarsia_load_word(from);
    column[0] = intarsia_even_pair(word);
    column[pixels] = intarsia_odd_pair(word);
  }
  return column;
}

// Rows of `words` words of each of four pixels, `step` bytes apart, into their columns; `pitch` bytes from a row to the next one. Both
// numbers are above zero.
INTARSIA_OUTLINE uint32_t *intarsia_expand_four(uint32_t *columns, const int8_t *from, int32_t step,
                                                int32_t words, int32_t rows, int32_t pitch) {
#if INTARSIA_HAS_DSP_WORDS
  int32_t left;
  const int32_t to_next_row = pitch - 4 * words;
  uint32_t a, b, c, d, pair;
#define INTARSIA_PAIRS(offset, rotated) \
  "sxtb16 %[pair], %[a]" rotated        \
  "\n"                                  \
  "str.w %[pair], [%[to], #" #offset    \
  "]\n"                                 \
  "sxtb16 %[pair], %[b]" rotated        \
  "\n"                                  \
  "str.w %[pair], [%[to], #" #offset    \
  " + 4]\n"                             \
  "sxtb16 %[pair], %[c]" rotated        \
  "\n"                                  \
  "str.w %[pair], [%[to], #" #offset    \
  " + 8]\n"                             \
  "sxtb16 %[pair], %[d]" rotated        \
  "\n"                                  \
  "str.w %[pair], [%[to], #" #offset " + 12]\n"
  __asm__ volatile(
      ".balign 4\n"
      "2: mov.w %[left], %[words]\n"
      "1: add.w %[pair], %[from], %[step], lsl #1\n"
      "ldr.w %[b], [%[from], %[step]]\n"
      "ldr.w %[a], [%[from]], #4\n"
      "ldr.w %[c], [%[pair]]\n"
      "ldr.w %[d], [%[pair], %[step]]\n"
      INTARSIA_PAIRS(0, "") INTARSIA_PAIRS(16, ", ror #8")
      "add.w %[to], %[to], #32\n"
      "subs.w %[left], %[left], #1\n"
      "bne.w 1b\n"
      "add.w %[from], %[from], %[to_next_row]\n"
      "subs.w %[rows], %[rows], #1\n"
      "bne.w 2b\n"
      : [to] "+r"(columns), [from] "+r"(from), [rows] "+r"(rows), [left] "=&r"(left), [a] "=&r"(a),
        [b] "=&r"(b), [c] "=&r"(c), [d] "=&r"(d), [pair] "=&r"(pair)
      : [step] "r"(step), [words] "r"(words), [to_next_row] "r"(to_next_row)
      : "cc", "memory");
#undef INTARSIA_PAIRS
  return columns;
#else
  for (; rows > 0; --rows, from += pitch, columns += 8 * words)
    for (int32_t pixel = 0; pixel < 4; ++pixel)
      (void)intarsia_expand(columns + pixel, from + pixel * step, words, 4);
  return columns;
#endif
}

#endif  // INTARSIA_CORTEX_M_DSP_EXPAND_H_
