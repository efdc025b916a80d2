// Some columns of the second matrix are laid out, four side by side, and serve every row of the first: each row is a dot
// product with four columns at once. The bytes are multiplied as they are. With zero points p and q,
//   sum (a - p)(b - q) = sum ab - q sum a - p sum b + depth p q,
// where the last two are known for a column, and sum a for a row.
#include "intarsia/targets/cortex_m/matmul.h"

#include "intarsia/targets/cortex_m/optimise.h"

#include "intarsia/targets/cortex_m/bytes.h"  // behind optimise.h, for its functions too
#include "intarsia/targets/cortex_m/dsp_dot.h"
#include "intarsia/targets/cortex_m/thumb_dot.h"

enum { kColumns = 4 };

// Elements of a column that lie together, before as many of the next three columns: what the core multiplies at once.
// Without SIMD it is the whole column.
#if INTARSIA_HAS_MVE
#include <arm_mve.h>
enum { kTogether = 16 };
#elif INTARSIA_HAS_DSP_WORDS
enum { kTogether = 4 };
#else
enum { kTogether = 0 };
#endif

INTARSIA_INLINE int32_t filled(int32_t depth) {
  const int32_t unit = kTogether == 16 ? 16 : 4;
  return (depth + unit - 1) / unit * unit;
}

// `depth` elements that are `step` apart, each `together` of them before those of other columns. Returns their sum.
#if INTARSIA_HAS_MVE
INTARSIA_OUTLINE int32_t lay_out(const int8_t *from, int32_t step, int32_t depth, int8_t *to) {
  int32_t sum = 0;
  if (step == 1) {
    for (int32_t left = depth; left > 0; left -= 16, from += 16, to += 4 * 16) {
      const int8x16_t some = vldrbq_z_s8(from, vctp8q((uint32_t)left));
      sum = vaddvaq_s8(sum, some);
      vstrbq_s8(to, some);
    }
    return sum;
  }
  const uint16x8_t places = vmulq_n_u16(vidupq_n_u16(0, 1), (uint16_t)step);
  for (int32_t left = depth; left > 0; left -= 16, to += 4 * 16) {
    for (int32_t half = 0; half < 16; half += 8, from += 8 * step) {
      const int16x8_t some = vldrbq_gather_offset_z_s16(
          from, places, left > half ? vctp16q((uint32_t)(left - half)) : 0);
      sum = vaddvaq_s16(sum, some);
      vstrbq_s16(to + half, some);
    }
  }
  return sum;
}
#else
INTARSIA_OUTLINE int32_t lay_out(const int8_t *from, int32_t step, int32_t depth, int8_t *to) {
  const int32_t together = kTogether == 0 ? filled(depth) : 4;
  int32_t sum = 0;
  for (int32_t left = filled(depth); left > 0; left -= together, to += kColumns * together)
    for (int32_t i = 0; i<together; ++i, --depth, from += depth> 0 ? step : 0) {
      const int8_t value = depth > 0 ? *from : 0;
      to[i] = value;
      sum += value;
    }
  return sum;
}
#endif

INTARSIA_OUTLINE int32_t sum_of(const int8_t *from, int32_t count) {
  int32_t sum = 0;
#if INTARSIA_HAS_MVE
  for (; count > 0; count -= 16, from += 16)
    sum = vaddvaq_p_s8(sum, vldrbq_z_s8(from, vctp8q((uint32_t)count)), vctp8q((uint32_t)count));
#else
#if INTARSIA_HAS_DSP_WORDS
  for (; count >= 4; count -= 4, from += 4) {
    const uint32_t word = intarsia_load_word(from);
    sum = intarsia_pair_product(intarsia_even_pair(word), 0x10001u, sum);
    sum = intarsia_pair_product(intarsia_odd_pair(word), 0x10001u, sum);
  }
#endif
  for (; count > 0; --count) sum += *from++;
#endif
  return sum;
}

#if INTARSIA_HAS_MVE
INTARSIA_OUTLINE void row_by_columns(const struct intarsia_matmul *m, const int8_t *row,
                                     int32_t run, const int8_t *columns, const int32_t *starts,
                                     int32_t below, int32_t count, int8_t *output) {
  const int32_t multiplier = m->multiplier, shift = -m->shift, zero = m->out_zero;
  const int32x4_t low = vdupq_n_s32(-128), high = vdupq_n_s32(127);
  for (int32_t left = count; left > 0; left -= kColumns, starts += kColumns, output += kColumns) {
    int32_t sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
    const int8_t *from = row;
    for (int32_t steps = run / 16; steps > 0; --steps, from += 16, columns += 4 * 16) {
      const int8x16_t x = vldrbq_s8(from);
      sum0 = vmladavaq_s8(sum0, x, vldrbq_s8(columns));
      sum1 = vmladavaq_s8(sum1, x, vldrbq_s8(columns + 16));
      sum2 = vmladavaq_s8(sum2, x, vldrbq_s8(columns + 32));
      sum3 = vmladavaq_s8(sum3, x, vldrbq_s8(columns + 48));
    }
    int32x4_t sums = vdupq_n_s32(sum0);
    sums = vsetq_lane_s32(sum1, sums, 1);
    sums = vsetq_lane_s32(sum2, sums, 2);
    sums = vsetq_lane_s32(sum3, sums, 3);
    sums = vaddq_n_s32(vaddq_s32(sums, vldrwq_s32(starts)), below);
    sums = vqrdmulhq_n_s32(sums, multiplier);
    sums = vrshlq_n_s32(vaddq_s32(sums, vshrq_n_s32(sums, 31)), shift);
    sums = vminq_s32(vmaxq_s32(vaddq_n_s32(sums, zero), low), high);
    vstrbq_p_s32(output, sums, vctp32q((uint32_t)left));
  }
}
#else
#if INTARSIA_HAS_DSP_WORDS
INTARSIA_INLINE void dot(const int8_t *row, const int8_t *columns, int32_t run, int32_t sums[4]) {
  int32_t sum0 = sums[0], sum1 = sums[1], sum2 = sums[2], sum3 = sums[3];
  const uint32_t *from = (const uint32_t *)(const void *)columns;
  for (const int8_t *end = row + run; row != end; row += 4, from += 4) {
    const uint32_t x = intarsia_load_word(row), first = from[0], second = from[1], third = from[2],
                   fourth = from[3];
    const uint32_t even = intarsia_even_pair(x), odd = intarsia_odd_pair(x);
    sum0 = intarsia_pair_product(even, intarsia_even_pair(first), sum0);
    sum1 = intarsia_pair_product(even, intarsia_even_pair(second), sum1);
    sum2 = intarsia_pair_product(even, intarsia_even_pair(third), sum2);
    sum3 = intarsia_pair_product(even, intarsia_even_pair(fourth), sum3);
    sum0 = intarsia_pair_product(odd, intarsia_odd_pair(first), sum0);
    sum1 = intarsia_pair_product(odd, intarsia_odd_pair(second), sum1);
    sum2 = intarsia_pair_product(odd, intarsia_odd_pair(third), sum2);
    sum3 = intarsia_pair_product(odd, intarsia_odd_pair(fourth), sum3);
  }
  sums[0] = sum0, sums[1] = sum1, sums[2] = sum2, sums[3] = sum3;
}
#else
#define dot(row, columns, run, sums) INTARSIA_DOT_4X1(row, columns, run, run, sums)
#endif

INTARSIA_OUTLINE void row_by_columns(const struct intarsia_matmul *m, const int8_t *row,
                                     int32_t run, const int8_t *columns, const int32_t *starts,
                                     int32_t below, int32_t count, int8_t *output) {
  const struct intarsia_channel channel = {0, m->multiplier, m->round, m->shift};
  for (; count > 0; count -= kColumns, columns += kColumns * run, starts += kColumns) {
    int32_t sums[kColumns];
    for (int32_t i = 0; i < kColumns; ++i) sums[i] = starts[i] + below;
    dot(row, columns, run, sums);
    const int32_t some = count < kColumns ? count : kColumns;
    for (int32_t i = 0; i < some; ++i)
      *output++ = intarsia_result(sums[i], &channel, -128, 127, INTARSIA_WHOLE);
  }
}
#endif

void intarsia_matmul_s8(const struct intarsia_matmul *m, const int8_t *a, const int8_t *b,
                        int8_t *output, int8_t *scratch) {
  const int32_t depth = m->depth, run = filled(depth), columns = m->columns;
  const int32_t column_step = m->transposed != 0 ? depth : 1,
                step = m->transposed != 0 ? 1 : columns;
  int8_t *const laid_out = scratch, *const copy = scratch + m->block * run;
  int32_t *const starts = (int32_t *)(void *)(copy + run);
  const int32_t together = kTogether == 0 ? run : kTogether;
  intarsia_fill(copy, 0, run);  // what lies behind a row that is copied
  for (int32_t first = 0; first < columns; first += m->block) {
    const int32_t left = columns - first, count = left < m->block ? left : m->block;
    // The last four may be fewer, and one of them goes several times.
    for (int32_t column = 0; column < count || column % kColumns != 0; ++column) {
      const int32_t at = first + (column < count ? column : count - 1);
      int8_t *to = laid_out + column / kColumns * kColumns * run + column % kColumns * together;
      starts[column] =
          m->a_zero * (depth * m->b_zero - lay_out(b + at * column_step, step, depth, to));
    }
    const int8_t *row = a;
    for (int32_t i = 0; i < m->rows; ++i, row += depth) {
      const int8_t *from = row;
      if (run != depth) {
        intarsia_copy(copy, row, depth);
        from = copy;
      }
      const int32_t below = m->b_zero != 0 ? -m->b_zero * sum_of(row, depth) : 0;
      row_by_columns(m, from, run, laid_out, starts, below, count, output + i * columns + first);
    }
  }
}
