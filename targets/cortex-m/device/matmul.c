// Some columns of the second matrix are laid out, two or four side by side, and serve every row of the first: with SMLAD
// two rows are multiplied with two columns at once, elsewhere one row with four. The bytes are multiplied as they are.
// With zero points p and q,
//   sum (a - p)(b - q) = sum ab - q sum a - p sum b + depth p q,
// where the last two are known for a column, and sum a for a row.
#include "intarsia/targets/cortex_m/matmul.h"

#include "intarsia/targets/cortex_m/optimise.h"

#include "intarsia/targets/cortex_m/bytes.h"  // behind optimise.h, for its functions too
#include "intarsia/targets/cortex_m/dsp_dot.h"
#include "intarsia/targets/cortex_m/thumb_dot.h"

// Elements of a column that lie together, before as many of its neighbours: what the core multiplies at once. Without SIMD
// it is the whole column. Bytes that an element takes: with SMLAD
// they are pairs of halfwords, elements 0 and 2 of four, then 1 and 3, each beside those of the other column.
#if INTARSIA_HAS_DSP_WORDS
enum { kTogether = 4, kColumns = 2, kBytes = 2 };
#else
enum { kTogether = 0, kColumns = 4, kBytes = 1 };
#endif

INTARSIA_INLINE int32_t filled(int32_t depth) {
  const int32_t unit = kTogether == 4 ? 8 : 4;
  return (depth + unit - 1) / unit * unit;
}

// `depth` elements that are `step` apart, each `together` of them before those of other columns. Returns their sum.
#if INTARSIA_HAS_DSP_WORDS
INTARSIA_OUTLINE int32_t lay_out(const int8_t *from, int32_t step, int32_t depth, int8_t *to) {
  uint32_t *pairs = (uint32_t *)(void *)to;
  int32_t sum = 0;
  for (int32_t left = filled(depth); left > 0; left -= 4, depth -= 4, pairs += 2 * kColumns) {
    uint32_t even, odd;
    if (depth >= 4 && step == 1) {
      const uint32_t word = intarsia_load_word(from);
      even = intarsia_even_pair(word), odd = intarsia_odd_pair(word);
      from += 4;
    } else {
      int32_t element[4] = {0, 0, 0, 0};
      for (int32_t i = 0; i < 4 && i < depth; ++i, from += step) element[i] = *from;
      even = ((uint32_t)element[2] << 16) | ((uint32_t)element[0] & 0xffffu);
      odd = ((uint32_t)element[3] << 16) | ((uint32_t)element[1] & 0xffffu);
    }
    pairs[0] = even, pairs[kColumns] = odd;
    sum = intarsia_pair_product(odd, 0x10001u, intarsia_pair_product(even, 0x10001u, sum));
  }
  return sum;
}
#else
INTARSIA_OUTLINE int32_t lay_out(const int8_t *from, int32_t step, int32_t depth, int8_t *to) {
  int32_t sum = 0;
  for (int32_t i = 0; i < depth; ++i, from += step) sum += to[i] = *from;
  for (int32_t i = depth; i < filled(depth); ++i) to[i] = 0;
  return sum;
}
#endif

INTARSIA_OUTLINE int32_t sum_of(const int8_t *from, int32_t count) {
  int32_t sum = 0;
#if INTARSIA_HAS_DSP_WORDS
  for (; count >= 4; count -= 4, from += 4) {
    const uint32_t word = intarsia_load_word(from);
    sum = intarsia_pair_product(intarsia_even_pair(word), 0x10001u, sum);
    sum = intarsia_pair_product(intarsia_odd_pair(word), 0x10001u, sum);
  }
#endif
  for (; count > 0; --count) sum += *from++;
  return sum;
}

// `count` results of each of some rows.
enum { kRows = kTogether == 4 ? 2 : 1 };
struct rows {
  const int8_t *from[kRows];
  int32_t below[kRows];  // what they add to every sum
  int8_t *to[kRows];
};

#if INTARSIA_HAS_DSP_WORDS
INTARSIA_OUTLINE void by_columns(const struct intarsia_matmul *m, const struct rows *rows,
                                 int32_t run, const int8_t *columns, const int32_t *starts,
                                 int32_t count) {
  const struct intarsia_channel channel = {0, m->multiplier, m->round, m->shift};
  const uint32_t *pairs = (const uint32_t *)(const void *)columns;
  int8_t *first = rows->to[0], *second = rows->to[1];
  for (; count > 0; count -= kColumns, starts += kColumns) {
    int32_t sum00 = starts[0] + rows->below[0], sum01 = starts[1] + rows->below[0];
    int32_t sum10 = starts[0] + rows->below[1], sum11 = starts[1] + rows->below[1];
    const int8_t *x = rows->from[0], *y = rows->from[1];
    const int8_t *const end = x + run;
#if INTARSIA_HAS_DSP_LOOPS
    uint32_t a, b, p, q, pair;
    // Forty cycles for 32 products.
#define INTARSIA_FOUR                         \
  "ldr.w %[a], [%[x]], #4\n"                  \
  "ldr.w %[b], [%[y]], #4\n"                  \
  "ldr.w %[p], [%[pairs]], #4\n"              \
  "ldr.w %[q], [%[pairs]], #4\n"              \
  "sxtb16 %[pair], %[a]\n"                    \
  "smlad %[sum00], %[pair], %[p], %[sum00]\n" \
  "smlad %[sum01], %[pair], %[q], %[sum01]\n" \
  "sxtb16 %[pair], %[b]\n"                    \
  "smlad %[sum10], %[pair], %[p], %[sum10]\n" \
  "smlad %[sum11], %[pair], %[q], %[sum11]\n" \
  "ldr.w %[p], [%[pairs]], #4\n"              \
  "ldr.w %[q], [%[pairs]], #4\n"              \
  "sxtb16 %[a], %[a], ror #8\n"               \
  "sxtb16 %[b], %[b], ror #8\n"               \
  "smlad %[sum00], %[a], %[p], %[sum00]\n"    \
  "smlad %[sum01], %[a], %[q], %[sum01]\n"    \
  "smlad %[sum10], %[b], %[p], %[sum10]\n"    \
  "smlad %[sum11], %[b], %[q], %[sum11]\n"
    __asm__ volatile(
        ".balign 4\n"
        "1:\n" INTARSIA_FOUR INTARSIA_FOUR
        "cmp %[x], %[end]\n"
        "bne.w 1b\n"
        : [sum00] "+r"(sum00), [sum01] "+r"(sum01), [sum10] "+r"(sum10), [sum11] "+r"(sum11),
          [x] "+r"(x), [y] "+r"(y), [pairs] "+r"(pairs), [a] "=&r"(a), [b] "=&r"(b), [p] "=&r"(p),
          [q] "=&r"(q), [pair] "=&r"(pair)
        : [end] "r"(end)
        : "cc", "memory");
#undef INTARSIA_FOUR
#else
    for (; x != end; x += 4, y += 4, pairs += 4) {
      const uint32_t a = intarsia_load_word(x), b = intarsia_load_word(y);
      const uint32_t a0 = intarsia_even_pair(a), a1 = intarsia_odd_pair(a);
      const uint32_t b0 = intarsia_even_pair(b), b1 = intarsia_odd_pair(b);
      sum00 = intarsia_pair_product(a1, pairs[2], intarsia_pair_product(a0, pairs[0], sum00));
      sum01 = intarsia_pair_product(a1, pairs[3], intarsia_pair_product(a0, pairs[1], sum01));
      sum10 = intarsia_pair_product(b1, pairs[2], intarsia_pair_product(b0, pairs[0], sum10));
      sum11 = intarsia_pair_product(b1, pairs[3], intarsia_pair_product(b0, pairs[1], sum11));
    }
#endif
    // The second row's first: it may be the first row once more.
    *second++ = intarsia_result(sum10, &channel, -128, 127, INTARSIA_WHOLE);
    *first++ = intarsia_result(sum00, &channel, -128, 127, INTARSIA_WHOLE);
    if (count == 1) return;
    *second++ = intarsia_result(sum11, &channel, -128, 127, INTARSIA_WHOLE);
    *first++ = intarsia_result(sum01, &channel, -128, 127, INTARSIA_WHOLE);
  }
}
#else
INTARSIA_OUTLINE void by_columns(const struct intarsia_matmul *m, const struct rows *rows,
                                 int32_t run, const int8_t *columns, const int32_t *starts,
                                 int32_t count) {
  const struct intarsia_channel channel = {0, m->multiplier, m->round, m->shift};
  int8_t *output = rows->to[0];
  for (; count > 0; count -= kColumns, columns += kColumns * run, starts += kColumns) {
    int32_t sums[kColumns];
    for (int32_t i = 0; i < kColumns; ++i) sums[i] = starts[i] + rows->below[0];
    INTARSIA_DOT_4X1(rows->from[0], columns, run, run, sums);
    const int32_t some = count < kColumns ? count : kColumns;
    for (int32_t i = 0; i < some; ++i)
      *output++ = intarsia_result(sums[i], &channel, -128, 127, INTARSIA_WHOLE);
  }
}
#endif

#if INTARSIA_HAS_DSP_WORDS
// One row: the columns serve it alone, and stay where they are. Its elements, without its zero point, become halfwords, of which
// SMLAD takes two: neighbours; where columns lie together, those of even and odd places of four.
INTARSIA_OUTLINE int32_t widen_row(const struct intarsia_matmul *m, const int8_t *a, int16_t *to) {
  int32_t sum = 0;
  for (int32_t k = 0; k < filled(m->depth); ++k) {
    const int32_t value = k < m->depth ? a[k] - m->a_zero : 0;
    const int32_t at = m->transposed == 0 ? k : (k & ~3) | (k & 1) << 1 | (k >> 1 & 1);
    to[at] = (int16_t)value;
    sum += value;
  }
  return sum;
}

INTARSIA_INLINE uint32_t lower_halves(uint32_t a, uint32_t b) {
  uint32_t both;
  __asm__("pkhbt %0, %1, %2, lsl #16" : "=r"(both) : "r"(a), "r"(b));
  return both;
}
INTARSIA_INLINE uint32_t upper_halves(uint32_t a, uint32_t b) {
  uint32_t both;
  __asm__("pkhtb %0, %1, %2, asr #16" : "=r"(both) : "r"(b), "r"(a));
  return both;
}

INTARSIA_OUTLINE void row_by_columns(const struct intarsia_matmul *m, const uint32_t *row,
                                     const int8_t *b, int8_t *output, int32_t below) {
  const struct intarsia_channel channel = {0, m->multiplier, m->round, m->shift};
  const int32_t columns = m->columns;
  for (int32_t c = 0; c < columns; c += 4) {
    // The last four overlap the ones before; of fewer each is read by itself.
    const int32_t at = c + 4 <= columns || columns < 4 ? c : columns - 4;
    int32_t sums[4] = {below, below, below, below};
    if (columns < 4) {
      const int16_t *element = (const int16_t *)(const void *)row;
      for (int32_t i = 0; i < columns; ++i)
        for (int32_t k = 0; k < m->depth; ++k) sums[i] += element[k] * b[k * columns + i];
    } else {
      const int8_t *from = b + at;
      int32_t sum0 = below, sum1 = below, sum2 = below, sum3 = below;
      const uint32_t *pair = row;
      for (int32_t k = m->depth; k > 0; k -= 2, from += 2 * columns) {
        const uint32_t x = intarsia_load_word(from),
                       y = intarsia_load_word(k > 1 ? from + columns : from);
        const uint32_t x0 = intarsia_even_pair(x), x1 = intarsia_odd_pair(x);
        const uint32_t y0 = intarsia_even_pair(y), y1 = intarsia_odd_pair(y), values = *pair++;
        sum0 = intarsia_pair_product(lower_halves(x0, y0), values, sum0);
        sum1 = intarsia_pair_product(lower_halves(x1, y1), values, sum1);
        sum2 = intarsia_pair_product(upper_halves(x0, y0), values, sum2);
        sum3 = intarsia_pair_product(upper_halves(x1, y1), values, sum3);
      }
      sums[0] = sum0, sums[1] = sum1, sums[2] = sum2, sums[3] = sum3;
    }
    for (int32_t i = 0; i < 4 && at + i < columns; ++i)
      output[at + i] = intarsia_result(sums[i], &channel, -128, 127, INTARSIA_WHOLE);
  }
}

INTARSIA_OUTLINE void row_by_turned_columns(const struct intarsia_matmul *m, const uint32_t *row,
                                            const int8_t *b, int8_t *output, int32_t below) {
  const struct intarsia_channel channel = {0, m->multiplier, m->round, m->shift};
  const int32_t depth = m->depth;
  for (int32_t c = 0; c < m->columns; ++c) {
    int32_t sum = below, k = depth;
    const uint32_t *pair = row;
    for (; k >= 4; k -= 4, b += 4, pair += 2) {
      const uint32_t x = intarsia_load_word(b);
      sum = intarsia_pair_product(intarsia_even_pair(x), pair[0], sum);
      sum = intarsia_pair_product(intarsia_odd_pair(x), pair[1], sum);
    }
    const int16_t *element = (const int16_t *)(const void *)pair;
    for (int32_t i = 0; i < k; ++i) sum += *b++ * element[(i & 1) << 1 | i >> 1];
    *output++ = intarsia_result(sum, &channel, -128, 127, INTARSIA_WHOLE);
  }
}

static void one_row(const struct intarsia_matmul *m, const int8_t *a, const int8_t *b,
                    int8_t *output, int8_t *scratch) {
  const int32_t below = -m->b_zero * widen_row(m, a, (int16_t *)(void *)scratch);
  const uint32_t *const row = (const uint32_t *)(const void *)scratch;
  if (m->transposed != 0)
    row_by_turned_columns(m, row, b, output, below);
  else
    row_by_columns(m, row, b, output, below);
}
#endif

void intarsia_matmul_s8(const struct intarsia_matmul *m, const int8_t *a, const int8_t *b,
                        int8_t *output, int8_t *scratch) {
#if INTARSIA_HAS_DSP_WORDS
  if (m->rows == 1) {
    one_row(m, a, b, output, scratch);
    return;
  }
#endif
  const int32_t depth = m->depth, run = filled(depth), columns = m->columns;
  const int32_t column_step = m->transposed != 0 ? depth : 1,
                step = m->transposed != 0 ? 1 : columns;
  int8_t *const copies = scratch + m->block * run * kBytes;
  int32_t *const starts = (int32_t *)(void *)(copies + kRows * run);
  const int32_t apart = kTogether == 0 ? run : kTogether;  // bytes to the next column's
  intarsia_fill(copies, 0, kRows * run);                   // what lies behind a row that is copied
  for (int32_t first = 0; first < columns; first += m->block) {
    const int32_t left = columns - first, count = left < m->block ? left : m->block;
    // The last ones may be fewer than are multiplied at once; then one goes several times.
    for (int32_t column = 0; column < count || column % kColumns != 0; ++column) {
      const int32_t at = first + (column < count ? column : count - 1);
      int8_t *to =
          scratch + column / kColumns * kColumns * run * kBytes + column % kColumns * apart;
      starts[column] =
          m->a_zero * (depth * m->b_zero - lay_out(b + at * column_step, step, depth, to));
    }
    for (int32_t i = 0; i < m->rows; i += kRows) {
      struct rows rows;
      for (int32_t k = 0; k < kRows; ++k) {
        const int32_t row = i + k < m->rows ? i + k : i;
        rows.from[k] = a + row * depth;
        rows.below[k] = m->b_zero != 0 ? -m->b_zero * sum_of(rows.from[k], depth) : 0;
        rows.to[k] = output + row * columns + first;
        if (run != depth) {
          intarsia_copy(copies + k * run, rows.from[k], depth);
          rows.from[k] = copies + k * run;
        }
      }
      by_columns(m, &rows, run, scratch, starts, count);
    }
  }
}
