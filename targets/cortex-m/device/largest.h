// The largest elements of windows (pool_softmax.h), for elements of one type: INTARSIA_ELEMENT, and what instructions on them are called.
//
// A row of outputs is made in two steps. First the largest of the rows that its windows see, element by element of the image's
// row, whatever channels there are; then, of that line, the largest of the columns. Both are the same work: `taps` runs of memory, `step` elements apart.
#ifndef INTARSIA_CORTEX_M_LARGEST_H_
#define INTARSIA_CORTEX_M_LARGEST_H_

#include "intarsia/targets/cortex_m/pool_elements.h"

// to[i] of `count` elements is the largest of from[i] and `taps` - 1 more, `apart` elements from each other; and so on for each of `runs`,
// which begin `step` apart and whose results lie behind each other.
struct lines {
  INTARSIA_ELEMENT *to;
  const INTARSIA_ELEMENT *from;
  int32_t apart, taps, count, runs, step;
};

#if INTARSIA_HAS_MVE
enum { kMostByPasses = 5, kFewChannels = 16, kFewest = 1 };

// to[i] = the largest of a[i], b[i] and, of more taps, of c[i] and d[i]; `to` may be `a`.
INTARSIA_INLINE void pass(INTARSIA_ELEMENT *to, const INTARSIA_ELEMENT *a,
                          const INTARSIA_ELEMENT *b, const INTARSIA_ELEMENT *c,
                          const INTARSIA_ELEMENT *d, int32_t count, int32_t taps) {
#define INTARSIA_PASS(others)                                                          \
  __asm__ volatile("dlstp." INTARSIA_WIDTH                                             \
                   " lr, %[count]\n"                                                   \
                   "1: " INTARSIA_LOAD " q0, [%[a]], #16\n" INTARSIA_LOAD              \
                   " q1, [%[b]], #16\n" others INTARSIA_STORE                          \
                   " q0, [%[to]], #16\n"                                               \
                   "letp lr, 1b\n"                                                     \
                   : [to] "+r"(to), [a] "+r"(a), [b] "+r"(b), [c] "+r"(c), [d] "+r"(d) \
                   : [count] "r"(count)                                                \
                   : "q0", "q1", "q2", "lr" INTARSIA_CLOBBERS_PREDICATE, "memory")
#define INTARSIA_LARGER(with) "vmax.s" INTARSIA_WIDTH " q0, q0, " with "\n"
  if (taps == 2)
    INTARSIA_PASS(INTARSIA_LARGER("q1"));
  else if (taps == 3)
    INTARSIA_PASS(INTARSIA_LOAD " q2, [%[c]], #16\n" INTARSIA_LARGER("q1") INTARSIA_LARGER("q2"));
  else
    INTARSIA_PASS(INTARSIA_LOAD " q2, [%[c]], #16\n" INTARSIA_LARGER("q1") INTARSIA_LOAD
                  " q1, [%[d]], #16\n" INTARSIA_LARGER("q2") INTARSIA_LARGER("q1"));
#undef INTARSIA_LARGER
#undef INTARSIA_PASS
}

// A vector at a time, of all taps, by twos.
INTARSIA_OUTLINE void largest_of_many(INTARSIA_ELEMENT *to, const INTARSIA_ELEMENT *from,
                                      int32_t apart, int32_t taps, int32_t count) {
  const int32_t bytes = apart * INTARSIA_SIZE, pairs = taps / 2, first = (taps & 1) * bytes;
  const INTARSIA_ELEMENT *tap, *other;
  __asm__ volatile("2: vctp." INTARSIA_WIDTH
                   " %[count]\n"
                   "add %[tap], %[from], %[first]\n"
                   "dls lr, %[pairs]\n"
                   "add %[other], %[tap], %[bytes]\n"
                   "vpst\n" INTARSIA_LOAD_THEN
                   " q0, [%[from]], #16\n"
                   "1: vpst\n" INTARSIA_LOAD_THEN
                   " q1, [%[tap]]\n"
                   "add %[tap], %[tap], %[bytes], lsl #1\n"
                   "vpst\n" INTARSIA_LOAD_THEN
                   " q2, [%[other]]\n"
                   "vmax.s" INTARSIA_WIDTH
                   " q0, q0, q1\n"
                   "add %[other], %[other], %[bytes], lsl #1\n"
                   "vmax.s" INTARSIA_WIDTH
                   " q0, q0, q2\n"
                   "le lr, 1b\n"
                   "vpst\n" INTARSIA_STORE_THEN
                   " q0, [%[to]], #16\n"
                   "subs %[count], %[count], %[lanes]\n"
                   "bgt 2b\n"
                   : [to] "+r"(to), [from] "+r"(from), [count] "+r"(count), [tap] "=&r"(tap),
                     [other] "=&r"(other)
                   : [bytes] "r"(bytes), [pairs] "r"(pairs), [first] "r"(first),
                     [lanes] "i"(16 / (int)sizeof(INTARSIA_ELEMENT))
                   : "q0", "q1", "q2", "lr" INTARSIA_CLOBBERS_PREDICATE, "cc", "memory");
}

#else
enum {
  kMostByPasses = 3,
  kFewChannels = 4 / (int)sizeof(INTARSIA_ELEMENT),
  kFewest = kFewChannels
};

INTARSIA_INLINE INTARSIA_ELEMENT larger_element(INTARSIA_ELEMENT a, INTARSIA_ELEMENT b) {
  return a > b ? a : b;
}

#if INTARSIA_HAS_DSP_WORDS
// Words, one at least: a cycle of a Cortex-M4 more where a jump goes to an instruction across two words.
INTARSIA_INLINE void pass_words(INTARSIA_ELEMENT *to, const INTARSIA_ELEMENT *a,
                                const INTARSIA_ELEMENT *b, const INTARSIA_ELEMENT *c,
                                const INTARSIA_ELEMENT *d, int32_t words, int32_t taps) {
  uint32_t most, other, third, fourth, difference;
#define INTARSIA_WORDS(loads, others)                                                           \
  __asm__ volatile(                                                                             \
      ".balign 4\n"                                                                             \
      "1: ldr.w %[most], [%[a]], #4\n"                                                          \
      "ldr.w %[other], [%[b]], #4\n" loads INTARSIA_SUBTRACT                                    \
      " %[difference], %[other], %[most]\n"                                                     \
      "sel %[most], %[other], %[most]\n" others                                                 \
      "str.w %[most], [%[to]], #4\n"                                                            \
      "subs.w %[words], %[words], #1\n"                                                         \
      "bne.w 1b\n"                                                                              \
      : [to] "+r"(to), [a] "+r"(a), [b] "+r"(b), [c] "+r"(c), [d] "+r"(d), [words] "+r"(words), \
        [most] "=&r"(most), [other] "=&r"(other), [third] "=&r"(third), [fourth] "=&r"(fourth), \
        [difference] "=&r"(difference)                                                          \
      :                                                                                         \
      : "cc", "memory")
#define INTARSIA_THIRD                  \
  INTARSIA_SUBTRACT                     \
  " %[difference], %[third], %[most]\n" \
  "sel %[most], %[third], %[most]\n"
  if (taps == 2)
    INTARSIA_WORDS("", "");
  else if (taps == 3)
    INTARSIA_WORDS("ldr.w %[third], [%[c]], #4\n", INTARSIA_THIRD);
  else
    INTARSIA_WORDS("ldr.w %[third], [%[c]], #4\nldr.w %[fourth], [%[d]], #4\n",
                   INTARSIA_THIRD INTARSIA_SUBTRACT
                   " %[difference], %[fourth], %[most]\nsel %[most], %[fourth], %[most]\n");
#undef INTARSIA_WORDS
#undef INTARSIA_THIRD
}
#endif

// to[i] = the largest of a[i], b[i] and, of more taps, of c[i] and d[i]; of a word's elements at least.
INTARSIA_INLINE void pass(INTARSIA_ELEMENT *to, const INTARSIA_ELEMENT *a,
                          const INTARSIA_ELEMENT *b, const INTARSIA_ELEMENT *c,
                          const INTARSIA_ELEMENT *d, int32_t count, int32_t taps) {
#if INTARSIA_HAS_DSP_WORDS
  const int32_t rest = count & (kTogether - 1);
  if (rest != 0) {
    pass_words(to, a, b, c, d, 1, taps);
    to += rest, a += rest, b += rest, c += rest, d += rest;
  }
  pass_words(to, a, b, c, d, count / kTogether, taps);
#else
  for (int32_t i = 0; i < count; ++i) {
    INTARSIA_ELEMENT most = larger_element(a[i], b[i]);
    if (taps > 2) most = larger_element(most, c[i]);
    to[i] = taps > 3 ? larger_element(most, d[i]) : most;
  }
#endif
}

// Of two taps and more, by twos, and any number of elements.
INTARSIA_OUTLINE void largest_of_many(INTARSIA_ELEMENT *to, const INTARSIA_ELEMENT *from,
                                      int32_t apart, int32_t taps, int32_t count) {
  int32_t i = 0;
#if INTARSIA_HAS_DSP_WORDS
  const int32_t bytes = apart * INTARSIA_SIZE;
  int32_t next = (count - 1) % kTogether + 1;
  for (; i + kTogether <= count; i = next, next += kTogether) {
    const INTARSIA_ELEMENT *tap = from + i;
    uint32_t most = word_at(tap), a, b, difference;
    if ((taps & 1) != 0) tap += apart;
    int32_t left = taps / 2;  // one at least
    __asm__ volatile(
        ".balign 4\n"
        "1: ldr.w %[a], [%[tap]]\n"
        "ldr.w %[b], [%[tap], %[bytes]]\n"
        "add.w %[tap], %[tap], %[bytes], lsl #1\n" INTARSIA_SUBTRACT
        " %[difference], %[a], %[most]\n"
        "sel %[most], %[a], %[most]\n" INTARSIA_SUBTRACT
        " %[difference], %[b], %[most]\n"
        "sel %[most], %[b], %[most]\n"
        "subs.w %[left], %[left], #1\n"
        "bne.w 1b\n"
        : [tap] "+r"(tap), [most] "+r"(most), [left] "+r"(left), [a] "=&r"(a), [b] "=&r"(b),
          [difference] "=&r"(difference)
        : [bytes] "r"(bytes)
        : "cc", "memory");
    memcpy(to + i, &most, sizeof most);
  }
#endif
  for (; i < count; ++i) {
    INTARSIA_ELEMENT most = from[i];
    for (int32_t tap = 1; tap < taps; ++tap) most = larger_element(most, from[i + tap * apart]);
    to[i] = most;
  }
}
#endif

// Of two, three or four taps, of which the third and fourth lie `others` behind the first two, where that is not the next one.
INTARSIA_INLINE void by_pass(const struct lines *l, int32_t others, int32_t taps) {
  INTARSIA_ELEMENT *to = l->to;
  const INTARSIA_ELEMENT *from = l->from;
  const int32_t apart = l->apart, count = l->count, step = l->step;
  for (int32_t runs = l->runs; runs > 0; --runs, to += count, from += step)
    pass(to, from, from + apart, from + others, from + others + apart, count, taps);
}
INTARSIA_OUTLINE void largest_of_two(const struct lines *l) {
  by_pass(l, 0, 2);
}
INTARSIA_OUTLINE void largest_of_three(const struct lines *l) {
  by_pass(l, 2 * l->apart, 3);
}
INTARSIA_OUTLINE void largest_of_square(const struct lines *l, int32_t pitch) {
  by_pass(l, pitch, 4);
}

// Of results and one or two taps more.
INTARSIA_OUTLINE void largest_with_others(const struct lines *l) {
  INTARSIA_ELEMENT *to = l->to;
  const INTARSIA_ELEMENT *from = l->from + 3 * l->apart;
  const int32_t last = l->taps == 5 ? l->apart : 0, count = l->count;
  for (int32_t runs = l->runs; runs > 0; --runs, to += count, from += l->step)
    pass(to, to, from, from + last, from, count, 3);
}

INTARSIA_INLINE INTARSIA_ELEMENT *copied(INTARSIA_ELEMENT *to, const INTARSIA_ELEMENT *from,
                                         int32_t count) {
  (void)intarsia_copy((int8_t *)to, (const int8_t *)from, count * INTARSIA_SIZE);
  return to + count;
}

// `to` lies elsewhere than `from`.
INTARSIA_OUTLINE void largest(const struct lines *l) {
  const bool by_passes = l->count >= kFewest && l->taps <= kMostByPasses;
  if (by_passes && l->taps == 2) {
    largest_of_two(l);
  } else if (by_passes && l->taps == 3) {
    largest_of_three(l);
  } else if (by_passes && l->taps > 3) {
    largest_of_three(l);
    largest_with_others(l);
  } else {
    INTARSIA_ELEMENT *to = l->to;
    const INTARSIA_ELEMENT *from = l->from;
    for (int32_t runs = l->runs; runs > 0; --runs, to += l->count, from += l->step) {
      if (l->taps == 1)
        (void)copied(to, from, l->count);
      else
        largest_of_many(to, from, l->apart, l->taps, l->count);
    }
  }
}

// The wanted ones of a line of few channels, `step` apart.
INTARSIA_OUTLINE void pick(INTARSIA_ELEMENT *to, const INTARSIA_ELEMENT *from, int32_t channels,
                           int32_t step, int32_t pixels) {
  for (; pixels > 0; --pixels, from += step)
    for (int32_t c = 0; c < channels; ++c) *to++ = from[c];
}

// `pixels` outputs of a line that begins with the first one's window. Of few channels all columns are taken together, and those that are
// wanted are picked from `all`.
INTARSIA_INLINE void along_columns(const struct intarsia_window *w, const INTARSIA_ELEMENT *line,
                                   INTARSIA_ELEMENT *output, int32_t pixels,
                                   INTARSIA_ELEMENT *all) {
  const int32_t channels = w->in_c, step = w->stride_w * channels;
  const bool together = w->stride_w == 1, few = !together && channels < kFewChannels;
  struct lines l = {output, line, channels, w->kernel_w, channels, pixels, step};
  if (together) l.count = pixels * channels, l.runs = 1;
  if (few) l.to = all, l.count = (pixels - 1) * step + channels, l.runs = 1;
  largest(&l);
  if (few) pick(output, all, channels, step, pixels);
}

// Outputs of one image in columns from `first` on.
INTARSIA_INLINE void pool_strip(const struct intarsia_window *w, const INTARSIA_ELEMENT *input,
                                INTARSIA_ELEMENT *output, INTARSIA_ELEMENT *scratch,
                                int32_t first) {
  const int32_t channels = w->in_c, pitch = w->in_w * channels;
  const int32_t pixels = intarsia_min_i32(w->strip_w, w->out_w - first);
  const int32_t columns = (pixels - 1) * w->stride_w + w->kernel_w;
  const int32_t x = first * w->stride_w - w->pad_left, left = x < 0 ? -x : 0;
  const int32_t seen = intarsia_min_i32(columns, w->in_w - x) - left;
  const bool padded = seen < columns, whole = seen == w->in_w && pixels == 1;
  const bool by_rows = w->kernel_w == 1 && w->stride_w == 1 && !padded;
  const bool square = w->kernel_w == 2 && !padded && w->stride_w > 1 && channels >= kFewChannels;
  for (int32_t i = 0; padded && !whole && i < columns * channels; ++i) scratch[i] = INTARSIA_LEAST;
  output += first * channels;
  for (int32_t oy = 0; oy < w->out_h; ++oy, output += w->out_w * channels) {
    const int32_t y = oy * w->stride_h - w->pad_top, top = y < 0 ? 0 : y;
    const int32_t rows = intarsia_min_i32(y + w->kernel_h, w->in_h) - top;
    const INTARSIA_ELEMENT *line = input + top * pitch + (x + left) * channels;
    if (whole) {  // rows behind each other
      const struct lines l = {output, line, channels, rows * seen, channels, 1, 0};
      largest(&l);
    } else if (square && rows == 2) {
      const struct lines l = {output, line, channels, 2, channels, pixels, w->stride_w * channels};
      largest_of_square(&l, pitch);
    } else if (by_rows) {
      const struct lines l = {output, line, pitch, rows, pixels * channels, 1, 0};
      largest(&l);
    } else {
      if (padded || rows > 1) {
        const struct lines l = {scratch + left * channels, line, pitch, rows,
                                seen * channels,           1,    0};
        largest(&l);
        line = scratch;
      }
      along_columns(w, line, output, pixels, scratch + columns * channels);
    }
    if (w->low != INTARSIA_LEAST || w->high != INTARSIA_MOST)
      limit_elements(output, pixels * channels, w->low, w->high);
  }
}

INTARSIA_INLINE void largest_of_windows(const struct intarsia_window *w,
                                        const INTARSIA_ELEMENT *input, INTARSIA_ELEMENT *output,
                                        INTARSIA_ELEMENT *scratch) {
  for (int32_t n = 0; n < w->batches; ++n) {
    for (int32_t first = 0; first < w->out_w; first += w->strip_w)
      pool_strip(w, input, output, scratch, first);
    input += w->in_h * w->in_w * w->in_c;
    output += w->out_h * w->out_w * w->in_c;
  }
}

#endif  // INTARSIA_CORTEX_M_LARGEST_H_
