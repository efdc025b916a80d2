// Product of two int8 matrices on cores with Helium (matmul.c): each row is a fully connected layer of its own, whose weights
// are columns that are laid out once. What the zero point of the second matrix adds to a row's sums becomes part of the
// biases, which are written anew for every row.
#include "intarsia/targets/cortex_m/matmul.h"
#include "intarsia/targets/cortex_m/mve_conv.h"

#include "intarsia/targets/cortex_m/optimise.h"

#include "intarsia/targets/cortex_m/results.h"

#if INTARSIA_HAS_MVE
#include <arm_mve.h>
#endif

enum { kVector = 16, kOctet = 8, kTable = 4 * kOctet };  // words of the table for eight columns

// `depth` elements that are `step` apart, sixteen of them before those of seven other columns. Returns their sum.
INTARSIA_OUTLINE int32_t lay_out(const int8_t *from, int32_t step, int32_t depth, int8_t *to) {
  int32_t sum = 0;
#if INTARSIA_HAS_MVE
  if (step == 1) {
    for (int32_t left = depth; left > 0; left -= kVector, from += kVector, to += kOctet * kVector) {
      const int8x16_t some = vldrbq_z_s8(from, vctp8q((uint32_t)left));
      sum = vaddvaq_s8(sum, some);
      vstrbq_s8(to, some);
    }
    return sum;
  }
  const uint16x8_t places = vmulq_n_u16(vidupq_n_u16(0, 1), (uint16_t)step);
  for (int32_t left = depth; left > 0; left -= kVector, to += kOctet * kVector)
    for (int32_t half = 0; half < kVector; half += 8, from += 8 * step) {
      const int32_t some_left = left > half ? left - half : 0;
      const int16x8_t some = vldrbq_gather_offset_z_s16(from, places, vctp16q((uint32_t)some_left));
      sum = vaddvaq_s16(sum, some);
      vstrbq_s16(to + half, some);
    }
#else
  for (int32_t i = 0; i < (depth + kVector - 1) / kVector * kVector; ++i) {
    const int8_t value = i < depth ? from[i * step] : 0;
    to[i / kVector * kOctet * kVector + i % kVector] = value;
    sum += value;
  }
#endif
  return sum;
}

INTARSIA_OUTLINE int32_t sum_of(const int8_t *from, int32_t count) {
  int32_t sum = 0;
#if INTARSIA_HAS_MVE
  for (; count > 0; count -= kVector, from += kVector)
    sum = vaddvaq_s8(sum, vldrbq_z_s8(from, vctp8q((uint32_t)count)));
#else
  for (; count > 0; --count) sum += *from++;
#endif
  return sum;
}

// Biases of all octets of the table.
INTARSIA_OUTLINE void set_biases(int32_t *table, const int32_t *starts, int32_t below,
                                 int32_t octets) {
  for (; octets > 0; --octets, table += kTable, starts += kOctet) {
#if INTARSIA_HAS_MVE
    vstrwq_s32(table, vaddq_n_s32(vldrwq_s32(starts), below));
    vstrwq_s32(table + 4, vaddq_n_s32(vldrwq_s32(starts + 4), below));
#else
    for (int32_t i = 0; i < kOctet; ++i) table[i] = starts[i] + below;
#endif
  }
}

#if INTARSIA_HAS_MVE
// One row: the columns serve it alone, and stay where they are. What is taken off the row's elements is its zero point; `below` is what
// the other one takes off every sum.
static void store_row_results(const struct intarsia_matmul *m, int8_t *to, int32x4_t sums,
                              mve_pred16_t some) {
  const int32x4_t scaled = vqrdmulhq_n_s32(sums, m->multiplier);
  const int32x4_t rounded = vaddq_n_s32(vaddq_s32(scaled, vshrq_n_s32(scaled, 31)), m->round);
  const int32x4_t value = vshlq_r_s32(rounded, -m->shift);
  vstrbq_p_s32(to, vminq_s32(vmaxq_s32(value, vdupq_n_s32(-128)), vdupq_n_s32(127)), some);
}

static void row_by_columns(const struct intarsia_matmul *m, const int8_t *a, const int8_t *b,
                           int8_t *output, int32_t below) {
  const int32_t columns = m->columns;
  for (int32_t c = 0; c < columns; c += 8) {
    const int32_t left = columns - c;
    const mve_pred16_t some = vctp32q((uint32_t)left),
                       more = vctp32q((uint32_t)(left > 4 ? left - 4 : 0));
    int32x4_t first = vdupq_n_s32(below), second = first;
    const int8_t *from = b + c;
    for (int32_t k = 0; k < m->depth; ++k, from += columns) {
      const int32_t value = a[k] - m->a_zero;
      first = vmlaq_n_s32(first, vldrbq_z_s32(from, some), value);
      second = vmlaq_n_s32(second, vldrbq_z_s32(from + 4, more), value);
    }
    store_row_results(m, output + c, first, some);
    if (left > 4) store_row_results(m, output + c + 4, second, more);
  }
}

// Of columns that lie together: products of bytes, and what the row's zero point takes off.
static void row_by_turned_columns(const struct intarsia_matmul *m, const int8_t *a, const int8_t *b,
                                  int8_t *output, int32_t below) {
  const int32_t depth = m->depth;
  for (int32_t c = 0; c < m->columns; c += 4) {
    const int32_t left = m->columns - c, columns = left < 4 ? left : 4;
    int32_t sums[4] = {0};
    for (int32_t i = 0; i < columns; ++i, b += depth) {
      int32_t products = below, sum = 0;
      for (int32_t k = 0; k < depth; k += kVector) {
        const mve_pred16_t some = vctp8q((uint32_t)(depth - k));
        const int8x16_t column = vldrbq_z_s8(b + k, some);
        products = vmladavaq_s8(products, column, vldrbq_z_s8(a + k, some));
        sum = vaddvaq_s8(sum, column);
      }
      sums[i] = products - m->a_zero * sum;
    }
    store_row_results(m, output + c, vldrwq_s32(sums), vctp32q((uint32_t)columns));
  }
}

static void one_row(const struct intarsia_matmul *m, const int8_t *a, const int8_t *b,
                    int8_t *output) {
  const int32_t below =
      m->b_zero == 0 ? 0 : m->b_zero * (m->depth * m->a_zero - sum_of(a, m->depth));
  if (m->transposed != 0)
    row_by_turned_columns(m, a, b, output, below);
  else
    row_by_columns(m, a, b, output, below);
}
#endif

void intarsia_mve_matmul_s8(const struct intarsia_matmul *m, const int8_t *a, const int8_t *b,
                            int8_t *output, int8_t *scratch) {
#if INTARSIA_HAS_MVE
  if (m->rows == 1) {
    one_row(m, a, b, output);
    return;
  }
#endif
  const int32_t depth = m->depth, run = (depth + kVector - 1) / kVector * kVector,
                columns = m->columns;
  const int32_t column_step = m->transposed != 0 ? depth : 1,
                step = m->transposed != 0 ? 1 : columns;
  int8_t *const copy = scratch + m->block * run;
  int32_t *const table = (int32_t *)(void *)(copy + run), *const starts =
                                                              table + m->block / kOctet * kTable;
  for (int32_t i = 0; i < m->block / kOctet * kTable; ++i) {
    const int32_t kind = i % kTable / kOctet;
    table[i] = kind == 1 ? m->multiplier : kind == 2 ? m->round : 24 - m->shift;
  }
  // Fields of int16: the compiler has seen to it that they fit.
  struct intarsia_window w = {.batches = 1,
                              .in_h = 1,
                              .in_w = 1,
                              .in_c = (int16_t)depth,
                              .out_h = 1,
                              .out_w = 1,
                              .kernel_h = 1,
                              .kernel_w = 1,
                              .stride_h = 1,
                              .stride_w = 1,
                              .dilation_h = 1,
                              .out_zero = (int16_t)m->out_zero,
                              .low = -128,
                              .high = 127,
                              .dilation_w = 1};
  for (int32_t first = 0; first < columns; first += m->block) {
    const int32_t left = columns - first, count = left < m->block ? left : m->block;
    const int32_t octets = (count + kOctet - 1) / kOctet;
    w.out_c = (int16_t)count;
    for (int32_t column = 0; column < count; ++column) {
      int8_t *to = scratch + column / kOctet * kOctet * run + column % kOctet * kVector;
      starts[column] = m->a_zero * (depth * m->b_zero -
                                    lay_out(b + (first + column) * column_step, step, depth, to));
    }
    const int8_t *row = a;
    int8_t *to = output + first;
    for (int32_t i = 0; i < m->rows; ++i, row += depth, to += columns) {
      if (m->b_zero != 0 || i == 0)
        set_biases(table, starts, m->b_zero != 0 ? -m->b_zero * sum_of(row, depth) : 0, octets);
      intarsia_mve_dense_s8(&w, row, to, copy, scratch, table);
    }
  }
}
