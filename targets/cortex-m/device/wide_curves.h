// Sigmoid and tanh of int16 in steps of 2^-15, as intarsia/kernels/sigmoid.h has them: a point of the curve and a straight line to the
// next one. Values below zero are the others' mirror image, -1 - r for a result r before it is rounded, and a constant.
#ifndef INTARSIA_CORTEX_M_WIDE_CURVES_H_
#define INTARSIA_CORTEX_M_WIDE_CURVES_H_

#include "intarsia/kernels/sigmoid.h"
#include "intarsia/targets/cortex_m/results.h"

#if INTARSIA_HAS_MVE
#include <arm_mve.h>
#endif

struct intarsia_wide_curve {
  int32_t below;   // bits of an argument below those that choose a point
  int32_t limit;   // beyond the last point
  int32_t base;    // added to all results, with half of the last bit
  int32_t mirror;  // and to those of arguments below zero
  int32_t shift;
};

#define INTARSIA_WIDE_SIGMOID \
  { 9, 0x7fff << 10, 1 << 9, 1 << 25, 10 }
#define INTARSIA_WIDE_TANH \
  { 8, 0xffff << 8, (1 << 7) - (1 << 23), 1 << 24, 8 }

enum { INTARSIA_LAST_POINT = INTARSIA_SIGMOID_POINTS - 1 };

// Half of the last bit that an argument is shifted to the right by.
INTARSIA_INLINE int32_t intarsia_half_of(int32_t shift) {
  return shift > 0 ? (int32_t)(UINT32_C(1) << (shift - 1)) : 0;
}

// The curve at (x * multiplier + half) >> shift; points: intarsia_sigmoid_points().
INTARSIA_INLINE int32_t intarsia_on_curve(struct intarsia_wide_curve c, const uint16_t *points,
                                          int32_t x, int32_t multiplier, int32_t shift) {
  const int32_t argument = (x * multiplier + intarsia_half_of(shift)) >> shift,
                sign = argument >> 31;
  const uint32_t magnitude = (uint32_t)((argument ^ sign) - sign), at = magnitude >> c.below;
  int32_t value = c.limit;
  if (at < INTARSIA_LAST_POINT) {
    const uint32_t here = points[at], next = points[at + 1];
    value = (int32_t)((here << c.below) + (magnitude & ((1u << c.below) - 1u)) * (next - here));
  }
  return ((value ^ sign) + c.base + (sign & c.mirror)) >> c.shift;
}

#if INTARSIA_HAS_MVE
// Without a comparison: arguments are limited to the last point, which the line before it ends in, and its value to the limit. Of a
// tanh that changes nothing; values of a sigmoid between the limit and the last point's have one result on either side of zero.
INTARSIA_INLINE int32x4_t intarsia_four_on_curve(struct intarsia_wide_curve c,
                                                 const uint16_t *points, int32x4_t x,
                                                 int32_t multiplier, int32_t shift) {
  const int32x4_t argument =
      vshlq_r_s32(vaddq_n_s32(vmulq_n_s32(x, multiplier), intarsia_half_of(shift)), -shift);
  const uint32x4_t magnitude = vminq_u32(vreinterpretq_u32_s32(vabsq_s32(argument)),
                                         vdupq_n_u32((uint32_t)INTARSIA_LAST_POINT << c.below));
  const uint32x4_t at =
      vminq_u32(vshlq_r_u32(magnitude, -c.below), vdupq_n_u32(INTARSIA_LAST_POINT - 1));
  const uint32x4_t here = vldrhq_gather_shifted_offset_u32(points, at),
                   next = vldrhq_gather_shifted_offset_u32(points + 1, at);
  const uint32x4_t part = vsubq_u32(magnitude, vshlq_r_u32(at, c.below));
  const uint32x4_t line =
      vaddq_u32(vshlq_r_u32(here, c.below), vmulq_u32(part, vsubq_u32(next, here)));
  const uint32x4_t limited = vminq_u32(line, vdupq_n_u32((uint32_t)c.limit));
  const int32x4_t sign = vshrq_n_s32(argument, 31);
  const int32x4_t value = veorq_s32(vreinterpretq_s32_u32(limited), sign);
  const int32x4_t sum =
      vaddq_s32(vaddq_n_s32(value, c.base), vandq_s32(sign, vdupq_n_s32(c.mirror)));
  return vshlq_r_s32(sum, -c.shift);
}
#endif

#endif  // INTARSIA_CORTEX_M_WIDE_CURVES_H_
