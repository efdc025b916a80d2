// Sixteen elements of both operands at a time. What is left at the end is laid out in sixteen of its own: the output may be an operand.
#include "intarsia/targets/cortex_m/lanes_elements.h"

#include "intarsia/targets/cortex_m/optimise.h"

// Behind optimise.h, for its functions too.
#include "intarsia/targets/cortex_m/lanes.h"

enum {
  kPartBits = 15,
  kLeftShift = 20
};  // the latter of operands before they are scaled, as TFLite has it

// FUNCTION(numbers, a, b, output) makes sixteen results.
#define BY_SIXTEENS(FUNCTION, numbers, a, b, output, elements)            \
  do {                                                                    \
    int32_t at = 0;                                                       \
    const int32_t all = (elements);                                       \
    for (; at + kIntarsiaVector <= all; at += kIntarsiaVector)            \
      FUNCTION(numbers, (a) + at, (b) + at, (output) + at);               \
    if (at < all) {                                                       \
      const size_t left = (size_t)(all - at);                             \
      int8_t first[kIntarsiaVector] = {0}, second[kIntarsiaVector] = {0}; \
      memcpy(first, (a) + at, left);                                      \
      memcpy(second, (b) + at, left);                                     \
      FUNCTION(numbers, first, second, first);                            \
      memcpy((output) + at, first, left);                                 \
    }                                                                     \
  } while (0)

struct sum_lanes {
  const struct intarsia_lanes_sum *numbers;
  struct intarsia_sums upper_start, lower_start;
  struct intarsia_range range;
};

// What the lower parts of the factors give is rounded down to whole upper ones first, which changes nothing.
INTARSIA_INLINE void sum_sixteen(const struct sum_lanes *s, const int8_t *a, const int8_t *b,
                                 int8_t *output) {
  const struct intarsia_pairs pairs = intarsia_paired(a, b);
  const struct intarsia_sums lower =
      intarsia_added(intarsia_pair_products(pairs, s->numbers->lower_factors), s->lower_start);
  const struct intarsia_sums upper =
      intarsia_added(intarsia_pair_products(pairs, s->numbers->upper_factors), s->upper_start);
  const struct intarsia_sums sums = intarsia_added(upper, intarsia_shifted(lower, kPartBits));
  intarsia_narrowed(intarsia_shifted(sums, s->numbers->shift), s->range, output);
}

void intarsia_each_lanes_sum_s8(const struct intarsia_lanes_sum *sum, const int8_t *a,
                                const int8_t *b, int8_t *output) {
  const struct sum_lanes lanes = {sum,
                                  intarsia_each(sum->upper_start),
                                  intarsia_each(sum->lower_start),
                                  {sum->low, sum->high, false, false}};
  BY_SIXTEENS(sum_sixteen, &lanes, a, b, output, sum->count);
}

// An operand less its zero point, shifted to the left, times its multiplier, and rounded by its shift, without one not once more.
struct operand_lanes {
  struct intarsia_sums unit, start, multiplier, half;
  int32_t shift;
};

INTARSIA_INLINE struct operand_lanes operand_lanes(int32_t zero, int32_t multiplier,
                                                   int32_t shift) {
  const int32_t unit = 1 << kLeftShift;
  return (struct operand_lanes){intarsia_each(unit), intarsia_each(-zero * unit),
                                intarsia_each(multiplier),
                                intarsia_each(shift == 0 ? 0 : 1 << (shift - 1)), shift};
}

INTARSIA_INLINE struct intarsia_sums scaled(const struct operand_lanes *operand,
                                            const int8_t *bytes) {
  const struct intarsia_sums shifted =
      intarsia_added(intarsia_multiplied(intarsia_widened(bytes), operand->unit), operand->start);
  const struct intarsia_sums high = intarsia_high(shifted, operand->multiplier);
  return operand->shift == 0 ? high : intarsia_rounded(high, operand->half, operand->shift);
}

struct add_lanes {
  struct operand_lanes a, b;
  struct intarsia_sums multiplier, round;
  int32_t shift;
  struct intarsia_range range;
};

INTARSIA_INLINE void add_sixteen(const struct add_lanes *s, const int8_t *a, const int8_t *b,
                                 int8_t *output) {
  const struct intarsia_sums sums = intarsia_added(scaled(&s->a, a), scaled(&s->b, b));
  intarsia_narrowed(intarsia_rounded(intarsia_high(sums, s->multiplier), s->round, s->shift),
                    s->range, output);
}

void intarsia_each_lanes_add_s8(const struct intarsia_add *add, const int8_t *a, const int8_t *b,
                                int8_t *output) {
  const int32_t shift = add->out_shift;
  const struct add_lanes lanes = {operand_lanes(add->a_zero, add->a_multiplier, add->a_shift),
                                  operand_lanes(add->b_zero, add->b_multiplier, add->b_shift),
                                  intarsia_each(add->out_multiplier),
                                  intarsia_each((1 << (shift - 1)) + add->out_zero * (1 << shift)),
                                  shift,
                                  {add->low, add->high, false, false}};
  BY_SIXTEENS(add_sixteen, &lanes, a, b, output, add->count);
}

struct mul_lanes {
  struct intarsia_sums a_start, b_start, multiplier, round;
  int32_t shift;
  struct intarsia_range range;
};

INTARSIA_INLINE void mul_sixteen(const struct mul_lanes *s, const int8_t *a, const int8_t *b,
                                 int8_t *output) {
  const struct intarsia_sums products =
      intarsia_multiplied(intarsia_added(intarsia_widened(a), s->a_start),
                          intarsia_added(intarsia_widened(b), s->b_start));
  intarsia_narrowed(intarsia_rounded(intarsia_high(products, s->multiplier), s->round, s->shift),
                    s->range, output);
}

void intarsia_each_lanes_product_s8(const struct intarsia_mul *mul, const int8_t *a,
                                    const int8_t *b, int8_t *output) {
  const int32_t shift = mul->shift;
  const struct mul_lanes lanes = {intarsia_each(-mul->a_zero),
                                  intarsia_each(-mul->b_zero),
                                  intarsia_each(mul->multiplier),
                                  intarsia_each((1 << (shift - 1)) + mul->out_zero * (1 << shift)),
                                  shift,
                                  {mul->low, mul->high, false, false}};
  for (int32_t row = 0; row < mul->rows; ++row, a += mul->count, output += mul->count)
    BY_SIXTEENS(mul_sixteen, &lanes, a, b, output, mul->count);
}
#undef BY_SIXTEENS
