// Average over windows of an int8 image. As maxima (largest.h) a row of outputs is made in two steps: the sums of the rows that its
// windows see, as halfwords, element by element of the image's row, whatever channels there are; then those of that line's columns, which
// are divided by the number of elements. Sixteen bits hold the sums of 255 elements.
#include "intarsia/targets/cortex_m/pool_s8.h"

// The quotient of a sum by the number of taps, rounded to the nearest, halves away from zero.
#if INTARSIA_HAS_MVE
// A magnitude of 15 bits and `half` more, times `factor`, shifted to the right, is the quotient: exact. By one: (n + 1) * 65535 >> 16.
struct quotient {
  int32_t taps;
  int32_t half, factor, shift;  // to the left, behind the upper half of the product
};

static void prepare_quotient(struct quotient *q, int32_t taps) {
  if (q->taps == taps) return;
  int32_t bits = 0;
  while (1 << bits < taps) ++bits;
  q->taps = taps;
  q->half = taps == 1 ? 1 : taps / 2;
  q->shift = taps == 1 ? 0 : 1 - bits;
  q->factor = taps == 1 ? 65535 : ((1 << (15 + bits)) + taps - 1) / taps;
}
#else
// floor((sum + more) / taps), where `more` is half of the taps, and of negative sums one less if they are even. With y = sum + more,
// |y| < 2^15, factor = 2^30 / taps + e, |e| <= 1/2, and start = floor(factor / 2^17), floor(factor * y / 2^16) + start is
// 2^14 (y + 1/2) / taps with an error between -2.3 and 0.3. y + 1/2 is half a step from any multiple of taps, which is 2^13 / taps > 32 here,
// so that 14 bits less are floor(y / taps).
struct quotient {
  int32_t taps;
  int32_t factor, start;
  uint32_t more, more_of_negative;  // in both halfwords
};

static void prepare_quotient(struct quotient *q, int32_t taps) {
  if (q->taps == taps) return;
  q->taps = taps;
  q->factor = ((1 << 30) + taps / 2) / taps;
  q->start = q->factor >> 17;
  q->more = (uint32_t)(taps / 2) * 0x10001u;
  q->more_of_negative = (uint32_t)((taps - 1) / 2) * 0x10001u;
}
#endif

#if INTARSIA_HAS_MVE
enum { kFewChannels = 8 };

// to[i] = the sum of a[i], b[i] and, of more taps, c[i], d[i].
INTARSIA_INLINE void sums_of(int16_t *to, const int8_t *a, const int8_t *b, const int8_t *c,
                             const int8_t *d, int32_t count, int32_t taps) {
#define INTARSIA_SUMS(others)                                             \
  __asm__ volatile(                                                       \
      "dlstp.16 lr, %[count]\n"                                           \
      "1: vldrb.s16 q0, [%[a]], #8\n" others                              \
      "vstrh.16 q0, [%[to]], #16\n"                                       \
      "letp lr, 1b\n"                                                     \
      : [to] "+r"(to), [a] "+l"(a), [b] "+l"(b), [c] "+l"(c), [d] "+l"(d) \
      : [count] "r"(count)                                                \
      : "q0", "q1", "q2", "lr" INTARSIA_CLOBBERS_PREDICATE, "memory")
#define INTARSIA_SECOND "vldrb.s16 q1, [%[b]], #8\n"
#define INTARSIA_THIRD "vldrb.s16 q2, [%[c]], #8\nvadd.i16 q0, q0, q1\n"
  if (taps == 2)
    INTARSIA_SUMS(INTARSIA_SECOND "vadd.i16 q0, q0, q1\n");
  else if (taps == 3)
    INTARSIA_SUMS(INTARSIA_SECOND INTARSIA_THIRD "vadd.i16 q0, q0, q2\n");
  else
    INTARSIA_SUMS(INTARSIA_SECOND INTARSIA_THIRD
                  "vldrb.s16 q1, [%[d]], #8\nvadd.i16 q0, q0, q2\nvadd.i16 q0, q0, q1\n");
#undef INTARSIA_SUMS
#undef INTARSIA_SECOND
#undef INTARSIA_THIRD
}

INTARSIA_OUTLINE void sums_of_many(int16_t *to, const int8_t *from, int32_t apart, int32_t taps,
                                   int32_t count) {
  const int8_t *tap;
  __asm__ volatile(
      "2: vctp.16 %[count]\n"
      "mov %[tap], %[from]\n"
      "dls lr, %[taps]\n"
      "vmov.i16 q0, #0\n"
      "1: vpst\n"
      "vldrbt.s16 q1, [%[tap]]\n"
      "add %[tap], %[tap], %[apart]\n"
      "vadd.i16 q0, q0, q1\n"
      "le lr, 1b\n"
      "add %[from], %[from], #8\n"
      "vpst\n"
      "vstrht.16 q0, [%[to]], #16\n"
      "subs %[count], %[count], #8\n"
      "bgt 2b\n"
      : [to] "+r"(to), [from] "+r"(from), [count] "+r"(count), [tap] "=&l"(tap)
      : [apart] "r"(apart), [taps] "r"(taps)
      : "q0", "q1", "lr" INTARSIA_CLOBBERS_PREDICATE, "cc", "memory");
}

INTARSIA_OUTLINE void averages_of(int8_t *to, const int16_t *from, int32_t apart, int32_t taps,
                                  int32_t count, const struct quotient *q) {
  const int16_t *tap;
  __asm__ volatile(
      "vdup.16 q2, %[half]\n"
      "vdup.16 q3, %[factor]\n"
      "vdup.16 q4, %[shift]\n"
      "2: vctp.16 %[count]\n"
      "mov %[tap], %[from]\n"
      "dls lr, %[taps]\n"
      "vmov.i16 q0, #0\n"
      "1: vpst\n"
      "vldrht.16 q1, [%[tap]]\n"
      "add %[tap], %[tap], %[apart]\n"
      "vadd.i16 q0, q0, q1\n"
      "le lr, 1b\n"
      "add %[from], %[from], #16\n"
      "vabs.s16 q1, q0\n"
      "vadd.i16 q1, q1, q2\n"
      "vmulh.u16 q1, q1, q3\n"
      "vshl.u16 q1, q1, q4\n"
      "vpt.s16 lt, q0, zr\n"
      "vnegt.s16 q1, q1\n"
      "vctp.16 %[count]\n"
      "vpst\n"
      "vstrbt.16 q1, [%[to]], #8\n"
      "subs %[count], %[count], #8\n"
      "bgt 2b\n"
      : [to] "+l"(to), [from] "+r"(from), [count] "+r"(count), [tap] "=&r"(tap)
      : [apart] "r"(2 * apart), [taps] "r"(taps), [half] "r"(q->half), [factor] "r"(q->factor),
        [shift] "r"(q->shift)
      : "q0", "q1", "q2", "q3", "q4", "lr" INTARSIA_CLOBBERS_PREDICATE, "cc", "memory");
}

#else
enum { kFewChannels = 4 };

// Two sums of bytes 0 and 2, and of 1 and 3, of words.
#define INTARSIA_ADD(word)            \
  "sxtab16 %[even], %[even], %[" word \
  "]\n"                               \
  "sxtab16 %[odd], %[odd], %[" word "], ror #8\n"
// As they lie.
#define INTARSIA_IN_ORDER                     \
  "pkhbt %[word], %[even], %[odd], lsl #16\n" \
  "pkhtb %[odd], %[odd], %[even], asr #16\n"

#if INTARSIA_HAS_DSP_WORDS
// Words, one at least.
INTARSIA_INLINE void sums_of_words(int16_t *to, const int8_t *a, const int8_t *b, const int8_t *c,
                                   const int8_t *d, int32_t words, int32_t taps) {
  uint32_t word, second, third, even, odd;
#define INTARSIA_SUMS(third_load, others)                                                       \
  __asm__ volatile(                                                                             \
      ".balign 4\n"                                                                             \
      "1: ldr.w %[word], [%[a]], #4\n"                                                          \
      "ldr.w %[second], [%[b]], #4\n" third_load                                                \
      "sxtb16 %[even], %[word]\n"                                                               \
      "sxtb16 %[odd], %[word], ror #8\n" INTARSIA_ADD("second") others INTARSIA_IN_ORDER        \
      "str.w %[odd], [%[to], #4]\n"                                                             \
      "str.w %[word], [%[to]], #8\n"                                                            \
      "subs.w %[words], %[words], #1\n"                                                         \
      "bne.w 1b\n"                                                                              \
      : [to] "+r"(to), [a] "+r"(a), [b] "+r"(b), [c] "+r"(c), [d] "+r"(d), [words] "+r"(words), \
        [word] "=&r"(word), [second] "=&r"(second), [third] "=&r"(third), [even] "=&r"(even),   \
        [odd] "=&r"(odd)                                                                        \
      :                                                                                         \
      : "memory", "cc")
#define INTARSIA_THIRD_LOAD "ldr.w %[third], [%[c]], #4\n"
  if (taps == 2)
    INTARSIA_SUMS("", "");
  else if (taps == 3)
    INTARSIA_SUMS(INTARSIA_THIRD_LOAD, INTARSIA_ADD("third"));
  else
    INTARSIA_SUMS(INTARSIA_THIRD_LOAD,
                  "ldr.w %[word], [%[d]], #4\n" INTARSIA_ADD("third") INTARSIA_ADD("word"));
#undef INTARSIA_SUMS
#undef INTARSIA_THIRD_LOAD
}
#endif

// to[i] = the sum of a[i], b[i] and, of more taps, c[i], d[i]; of four elements at least.
INTARSIA_INLINE void sums_of(int16_t *to, const int8_t *a, const int8_t *b, const int8_t *c,
                             const int8_t *d, int32_t count, int32_t taps) {
#if INTARSIA_HAS_DSP_WORDS
  const int32_t rest = count & (kTogether - 1);
  if (rest != 0) {
    sums_of_words(to, a, b, c, d, 1, taps);
    to += rest, a += rest, b += rest, c += rest, d += rest;
  }
  sums_of_words(to, a, b, c, d, count / kTogether, taps);
#else
  for (int32_t i = 0; i < count; ++i)
    to[i] = (int16_t)(a[i] + b[i] + (taps > 2 ? c[i] : 0) + (taps > 3 ? d[i] : 0));
#endif
}

// Of any number of taps, by twos, and of elements.
INTARSIA_OUTLINE void sums_of_many(int16_t *to, const int8_t *from, int32_t apart, int32_t taps,
                                   int32_t count) {
  int32_t i = 0;
#if INTARSIA_HAS_DSP_WORDS
  int32_t next = (count - 1) % kTogether + 1;
  for (; i + kTogether <= count; i = next, next += kTogether) {
    const int8_t *tap = from + i;
    uint32_t even = 0, odd = 0, word = word_at(tap), second;
    int32_t left = taps / 2;
    __asm__ volatile(
        "tst %[taps], #1\n"
        "beq 2f\n" INTARSIA_ADD("word")
        "add %[tap], %[tap], %[apart]\n"
        "2: cbz %[left], 3f\n"
        ".balign 4\n"
        "1: ldr.w %[word], [%[tap]]\n"
        "ldr.w %[second], [%[tap], %[apart]]\n"
        "add.w %[tap], %[tap], %[apart], lsl #1\n" INTARSIA_ADD("word") INTARSIA_ADD("second")
        "subs.w %[left], %[left], #1\n"
        "bne.w 1b\n"
        "3:\n" INTARSIA_IN_ORDER
        : [tap] "+r"(tap), [even] "+r"(even), [odd] "+r"(odd), [word] "+r"(word),
          [left] "+l"(left), [second] "=&r"(second)
        : [apart] "r"(apart), [taps] "r"(taps)
        : "cc", "memory");
    memcpy(to + i, &word, sizeof word);
    memcpy(to + i + 2, &odd, sizeof odd);
  }
#endif
  for (; i < count; ++i) {
    int32_t sum = 0;
    for (int32_t tap = 0; tap < taps; ++tap) sum += from[i + tap * apart];
    to[i] = (int16_t)sum;
  }
}
#undef INTARSIA_ADD
#undef INTARSIA_IN_ORDER

#if INTARSIA_HAS_DSP_WORDS
// Pairs of one, two or three taps; one pair at least.
INTARSIA_INLINE void averages_of_pairs(int8_t *to, const int16_t *a, const int16_t *b,
                                       const int16_t *c, int32_t pairs, int32_t taps,
                                       const struct quotient *q) {
  uint32_t sums, second, third;
#define INTARSIA_AVERAGES(others)                                                  \
  __asm__ volatile(                                                                \
      ".balign 4\n"                                                                \
      "1: ldr.w %[sums], [%[a]], #4\n" others                                      \
      "ssub16 %[second], %[sums], %[zero]\n"                                       \
      "sel %[second], %[more], %[negative]\n"                                      \
      "sadd16 %[sums], %[sums], %[second]\n"                                       \
      "smlawb %[second], %[factor], %[sums], %[start]\n"                           \
      "smlawt %[sums], %[factor], %[sums], %[start]\n"                             \
      "asr.w %[second], %[second], #14\n"                                          \
      "asr.w %[sums], %[sums], #14\n"                                              \
      "strb.w %[second], [%[to]]\n"                                                \
      "strb.w %[sums], [%[to], #1]\n"                                              \
      "add.w %[to], %[to], #2\n"                                                   \
      "subs.w %[pairs], %[pairs], #1\n"                                            \
      "bne.w 1b\n"                                                                 \
      : [to] "+r"(to), [a] "+r"(a), [b] "+r"(b), [c] "+r"(c), [pairs] "+r"(pairs), \
        [sums] "=&r"(sums), [second] "=&r"(second), [third] "=&r"(third)           \
      : [zero] "r"(0), [more] "r"(q->more), [negative] "r"(q->more_of_negative),   \
        [factor] "r"(q->factor), [start] "r"(q->start)                             \
      : "cc", "memory")
#define INTARSIA_SECOND "ldr.w %[second], [%[b]], #4\n"
#define INTARSIA_BOTH "sadd16 %[sums], %[sums], %[second]\n"
  if (taps == 1)
    INTARSIA_AVERAGES("");
  else if (taps == 2)
    INTARSIA_AVERAGES(INTARSIA_SECOND INTARSIA_BOTH);
  else
    INTARSIA_AVERAGES(INTARSIA_SECOND "ldr.w %[third], [%[c]], #4\n" INTARSIA_BOTH
                                      "sadd16 %[sums], %[sums], %[third]\n");
#undef INTARSIA_AVERAGES
#undef INTARSIA_SECOND
#undef INTARSIA_BOTH
}

// The sums of a pair of any number of taps.
INTARSIA_INLINE uint32_t pair_of_sums(const int16_t *tap, int32_t apart, int32_t taps) {
  uint32_t sums = word_at(tap);
  for (int32_t left = taps - 1; left > 0; --left) {
    tap += apart;
    const uint32_t pair = word_at(tap);
    __asm__("sadd16 %0, %0, %1" : "+r"(sums) : "r"(pair) : "cc");
  }
  return sums;
}
#endif

INTARSIA_INLINE int8_t quotient_of(const struct quotient *q, int32_t sum) {
  const int32_t y = sum + (int32_t)((sum < 0 ? q->more_of_negative : q->more) & 0xffffu);
  return (int8_t)(((int32_t)(((int64_t)q->factor * y) >> 16) + q->start) >> 14);
}

// to[i] = the average of from[i], from[i + apart], ..., of as many as there are taps.
INTARSIA_OUTLINE void averages_of(int8_t *to, const int16_t *from, int32_t apart, int32_t taps,
                                  int32_t count, const struct quotient *q) {
  int32_t i = 0;
#if INTARSIA_HAS_DSP_WORDS
  const int32_t pairs = count / 2;
  if (pairs > 0 && taps <= 3) {
    const int16_t *second = from + apart, *third = second + apart;
    if (taps == 1)
      averages_of_pairs(to, from, from, from, pairs, 1, q);
    else if (taps == 2)
      averages_of_pairs(to, from, second, from, pairs, 2, q);
    else
      averages_of_pairs(to, from, second, third, pairs, 3, q);
    i = 2 * pairs;
  }
  for (; i + 2 <= count; i += 2) {
    const uint32_t sums = pair_of_sums(from + i, apart, taps);
    to[i] = quotient_of(q, (int16_t)sums);
    to[i + 1] = quotient_of(q, (int32_t)sums >> 16);
  }
#endif
  for (; i < count; ++i) {
    int32_t sum = from[i];
    for (int32_t tap = 1; tap < taps; ++tap) sum += from[i + tap * apart];
    to[i] = quotient_of(q, sum);
  }
}
#endif

// to[i] = the sum of from[i], from[i + apart], ..., of as many as there are taps.
INTARSIA_OUTLINE void line_of_sums(int16_t *to, const int8_t *from, int32_t apart, int32_t taps,
                                   int32_t count) {
  if (taps == 2 && count >= kFewChannels)
    sums_of(to, from, from + apart, from, from, count, 2);
  else if (taps == 3 && count >= kFewChannels)
    sums_of(to, from, from + apart, from + 2 * apart, from, count, 3);
  else
    sums_of_many(to, from, apart, taps, count);
}

// Of two by two elements, `pixels` of them, which begin `step` apart.
INTARSIA_OUTLINE void line_of_squares(int16_t *to, const int8_t *from, int32_t channels,
                                      int32_t pitch, int32_t pixels, int32_t step) {
  for (; pixels > 0; --pixels, to += channels, from += step)
    sums_of(to, from, from + channels, from + pitch, from + pitch + channels, channels, 4);
}

// Outputs of one image in columns from `first` on.
struct strip {
  const struct intarsia_window *w;
  int16_t *line;
  struct quotient q;
  int32_t first, pixels;
};

INTARSIA_INLINE int32_t columns_inside(const struct intarsia_window *w, int32_t ox) {
  const int32_t x = ox * w->stride_w - w->pad_left, left = x < 0 ? 0 : x;
  return intarsia_min_i32(x + w->kernel_w, w->in_w) - left;
}

// Outputs of a row whose windows see `rows` rows, from their sums. Those beside each other that see as many columns are divided alike.
INTARSIA_INLINE void along_columns(struct strip *s, int8_t *output, int32_t rows, bool padded) {
  const struct intarsia_window *w = s->w;
  const int32_t channels = w->in_c, step = w->stride_w * channels;
  const int16_t *line = s->line;
  for (int32_t done = 0; done < s->pixels;) {
    const int32_t columns = columns_inside(w, s->first + done);
    int32_t alike = padded ? 1 : s->pixels;
    while (done + alike < s->pixels && columns_inside(w, s->first + done + alike) == columns)
      ++alike;
    done += alike;
    prepare_quotient(&s->q, rows * columns);
    if (w->stride_w == 1) {
      averages_of(output, line, channels, w->kernel_w, alike * channels, &s->q);
      output += alike * channels, line += alike * channels;
      continue;
    }
    for (; alike > 0; --alike, output += channels, line += step)
      averages_of(output, line, channels, w->kernel_w, channels, &s->q);
  }
}

INTARSIA_INLINE void average_strip(struct strip *s, const int8_t *input, int8_t *output) {
  const struct intarsia_window *w = s->w;
  const int32_t channels = w->in_c, pitch = w->in_w * channels, pixels = s->pixels;
  const int32_t columns = (pixels - 1) * w->stride_w + w->kernel_w;
  const int32_t x = s->first * w->stride_w - w->pad_left, left = x < 0 ? -x : 0;
  const int32_t seen = intarsia_min_i32(columns, w->in_w - x) - left;
  const bool padded = seen < columns, whole = seen == w->in_w && pixels == 1;
  const bool square = w->kernel_w == 2 && !padded && w->stride_w > 1 && channels >= kFewChannels;
  for (int32_t i = 0; padded && !whole && i < columns * channels; ++i) s->line[i] = 0;
  output += s->first * channels;
  for (int32_t oy = 0; oy < w->out_h; ++oy, output += w->out_w * channels) {
    const int32_t y = oy * w->stride_h - w->pad_top, top = y < 0 ? 0 : y;
    const int32_t rows = intarsia_min_i32(y + w->kernel_h, w->in_h) - top;
    const int8_t *from = input + top * pitch + (x + left) * channels;
    if (whole) {  // rows behind each other
      line_of_sums(s->line, from, channels, rows * seen, channels);
      prepare_quotient(&s->q, rows * seen);
      averages_of(output, s->line, 0, 1, channels, &s->q);
    } else if (square && rows == 2) {
      line_of_squares(s->line, from, channels, pitch, pixels, w->stride_w * channels);
      prepare_quotient(&s->q, 4);
      averages_of(output, s->line, 0, 1, pixels * channels, &s->q);
    } else {
      line_of_sums(s->line + left * channels, from, pitch, rows, seen * channels);
      along_columns(s, output, rows, padded);
    }
    if (w->low != -128 || w->high != 127)
      limit_elements(output, pixels * channels, w->low, w->high);
  }
}

void intarsia_rows_average_pool_s8(const struct intarsia_window *w, const int8_t *input,
                                   int8_t *output, int8_t *scratch) {
  struct strip s = {w, (int16_t *)(void *)scratch, {0}, 0, 0};
  for (int32_t n = 0; n < w->batches; ++n) {
    for (s.first = 0; s.first < w->out_w; s.first += w->strip_w) {
      s.pixels = intarsia_min_i32(w->strip_w, w->out_w - s.first);
      average_strip(&s, input, output);
    }
    input += w->in_h * w->in_w * w->in_c;
    output += w->out_h * w->out_w * w->in_c;
  }
}
