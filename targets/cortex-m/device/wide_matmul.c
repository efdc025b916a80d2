// Product of two int16 matrices, in sums of 64 bits. Columns of the second one that are not rows in memory are laid out, some at a time,
// and serve every row of the first. With Helium two rows meet two columns, elsewhere one row does.
#include "intarsia/targets/cortex_m/matmul.h"

#include "intarsia/targets/cortex_m/optimise.h"

#include "intarsia/targets/cortex_m/copy_rows.h"
#include "intarsia/targets/cortex_m/wide_dot.h"
#include "intarsia/targets/cortex_m/wide_results.h"

enum { kColumn = 8 };  // an even number of elements: words are aligned

#if INTARSIA_HAS_MVE
// Two rows meet pairs of columns, each of which begins `step` bytes behind the one before.
struct pairs {
  const int16_t *rows[2], *columns[2];
  int16_t *to[2];
  int32_t depth, step, count;
  int32_t multiplier, shift;
  uint32_t half[2];  // of the last bit, the lower word first
};
_Static_assert(offsetof(struct pairs, columns) == 8 && offsetof(struct pairs, to) == 16 &&
                   offsetof(struct pairs, depth) == 24 &&
                   offsetof(struct pairs, multiplier) == 36 && offsetof(struct pairs, half) == 44,
               "the assembly's numbers");

// From a sum in two registers to sixteen bits of the first. Multiplier r8, shift r10, half r11 and r12.
#define RESULT(low, high) \
  "mla " high ", " high   \
  ", r8, r12\n"           \
  "mov lr, " low          \
  "\n"                    \
  "mov " low              \
  ", r11\n"               \
  "umlal " low ", " high  \
  ", lr, r8\n"            \
  "asrl " low ", " high   \
  ", r10\n"               \
  "ssat " low ", #16, " low "\n"

// One pair of columns at least.
INTARSIA_OUTLINE void all_pairs(struct pairs *pairs) {
  register struct pairs *p __asm__("r12") = pairs;
  __asm__ volatile(
      INTARSIA_SAVE_R7
      "vmov.32 q4[0], r12\n"
      "2: ldr r0, [r12, #24]\n"
      "ldrd r8, r10, [r12]\n"
      "ldrd r11, r12, [r12, #8]\n"
      "dlstp.16 lr, r0\n"
      "movs r0, #0\n"
      "movs r1, #0\n"
      "movs r2, #0\n"
      "movs r3, #0\n"
      "movs r4, #0\n"
      "movs r5, #0\n"
      "movs r6, #0\n"
      "movs r7, #0\n"
      "1: vldrh.u16 q0, [r8], #16\n"
      "vldrh.u16 q1, [r11], #16\n"
      "vmlaldava.s16 r0, r1, q0, q1\n"
      "vldrh.u16 q2, [r12], #16\n"
      "vmlaldava.s16 r2, r3, q0, q2\n"
      "vldrh.u16 q3, [r10], #16\n"
      "vmlaldava.s16 r4, r5, q3, q1\n"
      "vmlaldava.s16 r6, r7, q3, q2\n"
      "letp lr, 1b\n"
      "vmov.32 r12, q4[0]\n"
      "ldrd r8, r10, [r12, #36]\n"
      "ldrd r11, r12, [r12, #44]\n" RESULT("r0", "r1") RESULT("r2", "r3") RESULT("r4", "r5")
          RESULT("r6", "r7")
      "vmov.32 r12, q4[0]\n"
      "ldrd r8, r10, [r12, #16]\n"
      "ldrd r1, r3, [r12, #28]\n"
      "strh.w r0, [r8]\n"
      "strh.w r2, [r8, #2]\n"
      "ldrd r0, r2, [r12, #8]\n"
      "strh.w r4, [r10]\n"
      "strh.w r6, [r10, #2]\n"
      "add.w r8, r8, #4\n"
      "add.w r10, r10, #4\n"
      "strd r8, r10, [r12, #16]\n"
      "adds r0, r0, r1\n"
      "adds r2, r2, r1\n"
      "strd r0, r2, [r12, #8]\n"
      "subs r3, r3, #1\n"
      "str.w r3, [r12, #32]\n"
      "bne.w 2b\n" INTARSIA_RESTORE_R7
      : "+r"(p)
      :
      : "r0", "r1", "r2", "r3", "r4", "r5", "r6", INTARSIA_CLOBBERS_R7 "r8", "r10", "r11", "lr",
        "q0", "q1", "q2", "q3", "q4" INTARSIA_CLOBBERS_PREDICATE, "cc", "memory");
}
#undef RESULT

// `count` results of each row, by columns that are `run` apart. Of an odd number the last row or column comes twice.
INTARSIA_OUTLINE void rows_by_columns(const struct intarsia_matmul *m, const int16_t *a,
                                      const int16_t *columns, int32_t run, int32_t count,
                                      int16_t *output) {
  const int32_t depth = m->depth;
  struct pairs p;
  p.depth = depth, p.multiplier = m->multiplier, p.shift = m->shift;
  p.half[0] = m->shift <= 32 ? UINT32_C(1) << (m->shift - 1) : 0;
  p.half[1] = m->shift > 32 ? UINT32_C(1) << (m->shift - 33) : 0;
  p.step = 4 * run;
  for (int32_t left = m->rows; left > 0; left -= 2, a += 2 * depth, output += 2 * m->columns) {
    const int32_t below = left > 1 ? 1 : 0;
    p.rows[0] = a, p.rows[1] = a + below * depth;
    p.columns[0] = columns, p.columns[1] = columns + run;
    p.to[0] = output, p.to[1] = output + below * m->columns;
    p.count = count / 2;
    if (p.count > 0) all_pairs(&p);
    if (count % 2 != 0) {
      int16_t results[2][2];
      int16_t *const to[2] = {p.to[0], p.to[1]};
      p.columns[1] = p.columns[0];
      p.to[0] = results[0], p.to[1] = results[1], p.count = 1;
      all_pairs(&p);
      *to[0] = results[0][0], *to[1] = results[1][0];
    }
  }
}
#else
struct two_sums {
  int64_t first, second;
};

INTARSIA_INLINE struct two_sums two_sums(const int16_t *row, const int16_t *first,
                                         const int16_t *second, int32_t depth) {
  int64_t a = 0, b = 0;
#if INTARSIA_HAS_DSP_WORDS
  uint32_t a_low = 0, a_high = 0, b_low = 0, b_high = 0, x, y, z;
  int32_t fours = depth >> 2;
#define INTARSIA_WORD                 \
  "ldr.w %[x], [%[row]], #4\n"        \
  "ldr.w %[y], [%[first]], #4\n"      \
  "ldr.w %[z], [%[second]], #4\n"     \
  "smlald %[al], %[ah], %[x], %[y]\n" \
  "smlald %[bl], %[bh], %[x], %[z]\n"
  __asm__ volatile(
      "cbz %[fours], 2f\n"
      ".balign 4\n"
      "1:\n" INTARSIA_WORD INTARSIA_WORD
      "subs.w %[fours], %[fours], #1\n"
      "bne.w 1b\n"
      "2: lsls %[fours], %[depth], #31\n"  // the lowest bits: carry and sign
      "bcc 3f\n" INTARSIA_WORD "3:\n"
      : [row] "+r"(row), [first] "+r"(first), [second] "+r"(second), [fours] "+l"(fours),
        [al] "+r"(a_low), [ah] "+r"(a_high), [bl] "+r"(b_low), [bh] "+r"(b_high), [x] "=&r"(x),
        [y] "=&r"(y), [z] "=&r"(z)
      : [depth] "r"(depth)
      : "cc", "memory");
#undef INTARSIA_WORD
  a = (int64_t)((uint64_t)a_high << 32 | a_low), b = (int64_t)((uint64_t)b_high << 32 | b_low);
  if ((depth & 1) != 0) a += *row * *first, b += *row * *second;
#else
  for (; depth > 0; --depth, ++row) a += *row * *first++, b += *row * *second++;
#endif
  const struct two_sums sums = {a, b};
  return sums;
}

INTARSIA_INLINE int16_t result_of(const struct intarsia_matmul *m, int64_t sum, uint64_t half) {
  const uint64_t scaled = (uint64_t)sum * (uint32_t)m->multiplier + half;
  return (int16_t)intarsia_saturate_s16(intarsia_shift_wide(scaled, m->shift));
}

// `count` results of each row, by columns that are `run` apart. Of an odd number the last column comes twice.
INTARSIA_OUTLINE void rows_by_columns(const struct intarsia_matmul *m, const int16_t *a,
                                      const int16_t *columns, int32_t run, int32_t count,
                                      int16_t *output) {
  const int32_t depth = m->depth;
  const uint64_t half = UINT64_C(1) << (m->shift - 1);
  for (int32_t row = 0; row < m->rows; ++row, a += depth, output += m->columns) {
    const int16_t *from = columns;
    for (int32_t column = 0; column < count; column += 2, from += 2 * run) {
      const int32_t beside = column + 1 < count ? 1 : 0;
      const struct two_sums sums = two_sums(a, from, from + beside * run, depth);
      output[column + beside] = result_of(m, sums.second, half);
      output[column] = result_of(m, sums.first, half);
    }
  }
}
#endif

void intarsia_matmul_s16(const struct intarsia_matmul *m, const int16_t *a, const int16_t *b,
                         int16_t *output, int16_t *scratch) {
  const int32_t depth = m->depth, columns = m->columns;
  if (m->transposed != 0) {
    rows_by_columns(m, a, b, depth, columns, output);
    return;
  }
  const int32_t run = (depth + kColumn - 1) & -kColumn;
  for (int32_t first = 0; first < columns; first += m->block) {
    const int32_t count = columns - first < m->block ? columns - first : m->block;
    intarsia_turn_s16(b + first, scratch, count, depth, columns, run);
    rows_by_columns(m, a, scratch, run, count, output + first);
  }
}
