// Product of two int16 matrices, in sums of 64 bits: some columns of the second one are laid out, filled with zeros to whole vectors,
// and serve every row of the first, two at a time.
#include "intarsia/targets/cortex_m/matmul.h"

#include "intarsia/targets/cortex_m/optimise.h"

#include "intarsia/targets/cortex_m/bytes.h"  // behind optimise.h, for its functions too
#include "intarsia/targets/cortex_m/wide_dot.h"
#include "intarsia/targets/cortex_m/wide_results.h"

#if INTARSIA_HAS_MVE
#include <arm_mve.h>
#endif

enum { kColumn = 8 };  // its elements are filled up to a multiple

// `depth` elements that are `step` apart.
INTARSIA_OUTLINE void lay_out_column(const int16_t *from, int32_t step, int32_t depth,
                                     int16_t *to) {
  const int16_t *const end = to + ((depth + kColumn - 1) & -kColumn);
  if (step == 1) {
    to = (int16_t *)(void *)intarsia_copy((int8_t *)to, (const int8_t *)from, 2 * depth);
  } else {
    for (; depth > 0; --depth, from += step) *to++ = *from;
  }
  while (to != end) *to++ = 0;
}

// The products of a row with two columns: a call, which has the registers to itself.
INTARSIA_OUTLINE void two_sums(const int16_t *row, const int16_t *first, const int16_t *second,
                               int32_t depth, int64_t sums[2]) {
  int64_t a = 0, b = 0;
#if INTARSIA_HAS_MVE
  for (; depth > 0; depth -= kColumn, row += kColumn, first += kColumn, second += kColumn) {
    const int16x8_t x = vldrhq_z_s16(row, vctp16q((uint32_t)depth));
    a = vmlaldavaq_s16(a, x, vldrhq_s16(first));
    b = vmlaldavaq_s16(b, x, vldrhq_s16(second));
  }
#elif INTARSIA_HAS_DSP_WORDS
  uint32_t a_low = 0, a_high = 0, b_low = 0, b_high = 0;
  for (; depth > 1; depth -= 2, row += 2, first += 2, second += 2) {
    const uint32_t x = intarsia_load_halves(row);
    __asm__("smlald %0, %1, %2, %3"
            : "+r"(a_low), "+r"(a_high)
            : "r"(x), "r"(intarsia_load_halves(first)));
    __asm__("smlald %0, %1, %2, %3"
            : "+r"(b_low), "+r"(b_high)
            : "r"(x), "r"(intarsia_load_halves(second)));
  }
  a = (int64_t)((uint64_t)a_high << 32 | a_low), b = (int64_t)((uint64_t)b_high << 32 | b_low);
  if (depth > 0) a += *row * *first, b += *row * *second;
#else
  for (; depth > 0; --depth, ++row) a += *row * *first++, b += *row * *second++;
#endif
  sums[0] = a, sums[1] = b;
}

// `count` results of a row, by columns that are laid out.
INTARSIA_OUTLINE void row_by_laid_out(const struct intarsia_matmul *m, const int16_t *row,
                                      const int16_t *columns, int32_t count, int16_t *to) {
  const int32_t depth = m->depth, run = (depth + kColumn - 1) & -kColumn;
  const int32_t multiplier = m->multiplier, shift = m->shift;
  const uint64_t half = UINT64_C(1) << (shift - 1);
  for (; count > 0; count -= 2, columns += 2 * run) {
    int64_t sums[2];
    two_sums(row, columns, count > 1 ? columns + run : columns, depth, sums);
    *to++ = (int16_t)intarsia_saturate_s16(
        intarsia_shift_wide((uint64_t)(sums[0] * multiplier) + half, shift));
    if (count > 1)
      *to++ = (int16_t)intarsia_saturate_s16(
          intarsia_shift_wide((uint64_t)(sums[1] * multiplier) + half, shift));
  }
}

void intarsia_matmul_s16(const struct intarsia_matmul *m, const int16_t *a, const int16_t *b,
                         int16_t *output, int16_t *scratch) {
  const int32_t depth = m->depth, run = (depth + kColumn - 1) & -kColumn, columns = m->columns;
  const int32_t column_step = m->transposed != 0 ? depth : 1,
                step = m->transposed != 0 ? 1 : columns;
  for (int32_t first = 0; first < columns; first += m->block) {
    const int32_t left = columns - first, count = left < m->block ? left : m->block;
    for (int32_t column = 0; column < count; ++column)
      lay_out_column(b + (first + column) * column_step, step, depth, scratch + column * run);
    const int16_t *row = a;
    int16_t *to = output + first;
    for (int32_t i = 0; i < m->rows; ++i, row += depth, to += columns)
      row_by_laid_out(m, row, scratch, count, to);
  }
}
