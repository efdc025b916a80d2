// Squares of the differences of two tensors, in TFLite's arithmetic: both operands shifted to the left and brought to twice the
// larger scale, subtracted, and the square scaled. With Helium four elements at a time.
#include "intarsia/targets/cortex_m/add.h"

#include "intarsia/targets/cortex_m/optimise.h"

#include "intarsia/targets/cortex_m/results.h"

#if INTARSIA_HAS_MVE
#include <arm_mve.h>
#endif

enum { kNarrowShift = 7 };  // of int8; int16 is not shifted

#if INTARSIA_HAS_MVE
// What the loops have in registers. Of the operand with the larger scale half a step is one of the unit: `half`.
struct mve_squares {
  bool swapped;
  int32_t half_start;         // less its zero point times the unit
  int32_t start;              // the same of the other one
  int32_t multiplier, shift;  // of that; the shift to the left
  int32_t
      signs;  // what of a sign counts: halves are rounded away from zero where anything is shifted
};
INTARSIA_INLINE struct mve_squares mve_squares_of(const struct intarsia_add *s, int32_t left) {
  const bool swapped = s->a_multiplier != 1 << 30 || s->a_shift != 0;
  const int32_t half_zero = swapped ? s->b_zero : s->a_zero, zero = swapped ? s->a_zero : s->b_zero;
  const int32_t shift = swapped ? s->a_shift : s->b_shift;
  const struct mve_squares made = {swapped,
                                   -half_zero * (1 << left) / 2,
                                   -zero * (1 << left),
                                   swapped ? s->a_multiplier : s->b_multiplier,
                                   -shift,
                                   shift == 0 ? 0 : -1};
  return made;
}

INTARSIA_INLINE int32x4_t mve_square(const struct intarsia_add *s, const struct mve_squares *m,
                                     int32x4_t half, int32x4_t shifted) {
  const int32x4_t sign = vandq_s32(vshrq_n_s32(shifted, 31), vdupq_n_s32(m->signs));
  const int32x4_t other = vrshlq_n_s32(vqrdmlahq_n_s32(sign, shifted, m->multiplier), m->shift);
  const int32x4_t difference = vsubq_s32(other, half);
  const int32x4_t scaled = vqrdmulhq_n_s32(vmulq_s32(difference, difference), s->out_multiplier);
  // Not below the zero point.
  return vminq_s32(vaddq_n_s32(vrshlq_n_s32(scaled, -s->out_shift), s->out_zero),
                   vdupq_n_s32(s->high));
}
#else
// `doubled` times the multiplier, rounded twice as TFLite does.
INTARSIA_INLINE int32_t difference_operand(int32_t doubled, int32_t multiplier, int32_t shift) {
  const int32_t value = intarsia_high_product(doubled, multiplier);
  return shift == 0 ? value : (value + (value >> 31) + (1 << (shift - 1))) >> shift;
}

INTARSIA_INLINE int32_t one_squared_difference(const struct intarsia_add *s, int32_t a, int32_t b,
                                               int32_t left) {
  const int32_t difference =
      difference_operand((a - s->a_zero) * (2 << left), s->a_multiplier, s->a_shift) -
      difference_operand((b - s->b_zero) * (2 << left), s->b_multiplier, s->b_shift);
  return intarsia_clamp_i32(
      intarsia_requantize_right(difference * difference, s->out_multiplier, s->out_shift) +
          s->out_zero,
      s->low, s->high);
}

// Of int16, where the operand of the larger scale is halved: it is `half`. As of int8 the difference's sign does not matter.
INTARSIA_INLINE void squares_by_halves(const struct intarsia_add *s, const int16_t *half,
                                       const int16_t *other, int32_t multiplier, int32_t shift,
                                       int16_t *output) {
  const int32_t out_multiplier = s->out_multiplier, out_shift = s->out_shift;
  const int32_t out_half = out_shift == 0 ? 0 : 1 << (out_shift - 1);
  const int32_t rounding = shift == 0 ? 0 : 1 << (shift - 1);
  for (const int16_t *end = half + s->count; half != end;) {
    int32_t value = intarsia_high_product(*other++ * 2, multiplier);
    if (shift != 0) value = (value + (value >> 31) + rounding) >> shift;
    const int32_t difference = value - ((*half++ + 1) >> 1);
    const int32_t scaled = intarsia_mul_q31(difference * difference, out_multiplier);
    *output++ = (int16_t)intarsia_saturate_s16((scaled + out_half) >> out_shift);
  }
}

// False where no operand is halved, or results have limits of their own.
INTARSIA_OUTLINE bool squares_of_halves(const struct intarsia_add *s, const int16_t *a,
                                        const int16_t *b, int16_t *output) {
  const bool swapped = s->a_multiplier != 1 << 30 || s->a_shift != 0;
  const int32_t half_multiplier = swapped ? s->b_multiplier : s->a_multiplier,
                half_shift = swapped ? s->b_shift : s->a_shift;
  const int32_t multiplier = swapped ? s->a_multiplier : s->b_multiplier,
                shift = swapped ? s->a_shift : s->b_shift;
  if (half_multiplier != 1 << 30 || half_shift != 0 || s->out_zero != 0 || s->low != INT16_MIN ||
      s->high != INT16_MAX || s->out_shift > 22)
    return false;
  const int16_t *half = swapped ? b : a, *other = swapped ? a : b;
  if (shift == 0)
    squares_by_halves(s, half, other, multiplier, 0, output);
  else
    squares_by_halves(s, half, other, multiplier, shift, output);
  return true;
}

#if INTARSIA_HAS_DSP_LOOPS
// Of int8, where the operand of the larger scale is halved, which is exact, and sums of zero points and roundings fit words: the sign of
// a difference does not matter, and its square is not rounded as a negative number is. False where not.
INTARSIA_OUTLINE bool squares_of_bytes(const struct intarsia_add *s, const int8_t *a,
                                       const int8_t *b, int8_t *output) {
  enum { kHalf = 6, kMostShift = 16, kMostOutShift = 22 };
  const bool swapped = s->a_multiplier != 1 << 30 || s->a_shift != 0;
  const int32_t half_multiplier = swapped ? s->b_multiplier : s->a_multiplier,
                half_shift = swapped ? s->b_shift : s->a_shift;
  const int32_t multiplier = swapped ? s->a_multiplier : s->b_multiplier,
                shift = swapped ? s->a_shift : s->b_shift;
  const int32_t half_zero = swapped ? s->b_zero : s->a_zero, zero = swapped ? s->a_zero : s->b_zero;
  if (half_multiplier != 1 << 30 || half_shift != 0 || shift > kMostShift ||
      s->out_shift > kMostOutShift || s->count <= 0)
    return false;
  // Where the other one is halved as well it is nearly doubled first, and shifted by one.
  const int32_t right = shift == 0 ? 1 : shift;
  const int32_t out_half = s->out_shift == 0 ? 0 : 1 << (s->out_shift - 1);
  const int32_t numbers[7] = {zero,
                              shift == 0 ? INT32_MAX : multiplier,
                              (1 << (right - 1)) + half_zero * (1 << (kHalf + right)),
                              right,
                              s->out_multiplier,
                              out_half + s->out_zero * (1 << s->out_shift),
                              s->out_shift};
  register const int8_t *first __asm__("r0") = swapped ? b : a;
  register const int8_t *second __asm__("r1") = swapped ? a : b;
  register int8_t *result __asm__("r2") = output;
  register const int32_t *number __asm__("r3") = numbers;
  register const int8_t *end __asm__("r4") = first + s->count;
  __asm__ volatile(
      "ldm.w r3, {r5, r6, r8, r9, r10, r11, r12}\n"
      ".balign 4\n"
      "1: ldrsb lr, [r1], #1\n"
      "sub.w lr, lr, r5\n"
      "lsl.w lr, lr, #8\n"
      "add.w r3, r8, lr, asr #31\n"
      "smmlar lr, lr, r6, r3\n"
      "ldrsb r3, [r0], #1\n"
      "asr.w lr, lr, r9\n"
      "sub.w lr, lr, r3, lsl #6\n"
      "mul lr, lr, lr\n"
      "add.w lr, lr, lr\n"
      "smmlar lr, lr, r10, r11\n"
      "cmp.w r0, r4\n"
      "asr.w lr, lr, r12\n"
      "ssat lr, #8, lr\n"
      "strb lr, [r2], #1\n"
      "bne.w 1b\n"
      : "+r"(first), "+r"(second), "+r"(result), "+r"(number)
      : "r"(end)
      : "r5", "r6", "r8", "r9", "r10", "r11", "r12", "lr", "cc", "memory");
  return true;
}
#endif
#endif

void intarsia_each_squared_difference_s8(const struct intarsia_add *add, const int8_t *a,
                                         const int8_t *b, int8_t *output) {
  const struct intarsia_add s = *add;
#if INTARSIA_HAS_MVE
  const struct mve_squares m = mve_squares_of(&s, kNarrowShift);
  const int8_t *half = m.swapped ? b : a, *other = m.swapped ? a : b;
  const int32x4_t half_unit = vdupq_n_s32(1 << (kNarrowShift - 1)),
                  unit = vdupq_n_s32(1 << kNarrowShift);
  for (int32_t left = s.count; left > 0; left -= 4, half += 4, other += 4, output += 4) {
    const mve_pred16_t some = vctp32q((uint32_t)left);
    vstrbq_p_s32(output,
                 mve_square(&s, &m, vmlasq_n_s32(vldrbq_z_s32(half, some), half_unit, m.half_start),
                            vmlasq_n_s32(vldrbq_z_s32(other, some), unit, m.start)),
                 some);
  }
#else
#if INTARSIA_HAS_DSP_LOOPS
  if (squares_of_bytes(add, a, b, output)) return;
#endif
  for (const int8_t *end = a + s.count; a != end;)
    *output++ = (int8_t)one_squared_difference(&s, *a++, *b++, kNarrowShift);
#endif
}

void intarsia_each_squared_difference_s16(const struct intarsia_add *add, const int16_t *a,
                                          const int16_t *b, int16_t *output) {
  const struct intarsia_add s = *add;
#if INTARSIA_HAS_MVE
  const struct mve_squares m = mve_squares_of(&s, 0);
  const int16_t *half = m.swapped ? b : a, *other = m.swapped ? a : b;
  for (int32_t left = s.count; left > 0; left -= 4, half += 4, other += 4, output += 4) {
    const mve_pred16_t some = vctp32q((uint32_t)left);
    vstrhq_p_s32(
        output,
        mve_square(&s, &m, vrshrq_n_s32(vldrhq_z_s32(half, some), 1), vldrhq_z_s32(other, some)),
        some);
  }
#else
  if (squares_of_halves(add, a, b, output)) return;
  for (const int16_t *end = a + s.count; a != end;)
    *output++ = (int16_t)one_squared_difference(&s, *a++, *b++, 0);
#endif
}
