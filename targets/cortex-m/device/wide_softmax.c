// Softmax of int16 rows, as intarsia/kernels/softmax.h has it: exponentials are straight lines between points of a table, and kept in
// the output until their sum is known. With Helium eight elements at a time.
#include "intarsia/kernels/softmax.h"

#include "intarsia/targets/cortex_m/pool_softmax.h"

#include "intarsia/targets/cortex_m/optimise.h"
#include "intarsia/targets/cortex_m/results.h"

#if INTARSIA_HAS_MVE
#include <arm_mve.h>
#endif

enum {
  kLineBits = 7,
  kPastZero = INTARSIA_SOFTMAX_POINTS - 1
};  // of an argument, between two points

// What an element's argument is made of: ((element * unit + offset) * multiplier + round) >> right, from -2^16 to -1, -1 of the largest.
struct wide_argument {
  int32_t unit, offset, multiplier, round, right;
};

// Differences from the largest are never above zero, so that halves away from zero are one number, which takes the 1 off as well.
INTARSIA_INLINE struct wide_argument argument_of(int32_t largest, int32_t multiplier, int32_t left,
                                                 int32_t right) {
  const int32_t half = right > 0 ? (int32_t)(UINT32_C(1) << (right - 1)) : 0;
#if INTARSIA_HAS_MVE
  const int32_t unit = 1 << left;
#else
  const int32_t unit = 2 << left;
#endif
  const struct wide_argument made = {unit, -largest * unit, multiplier, -half - 1, right};
  return made;
}

#if INTARSIA_HAS_MVE
INTARSIA_INLINE int32_t largest_of_row(const int16_t *input, int32_t count) {
  int16_t largest = INT16_MIN;
  for (; count > 0; count -= 8, input += 8) {
    const mve_pred16_t some = vctp16q((uint32_t)count);
    largest = vmaxvq_p_s16(largest, vldrhq_z_s16(input, some), some);
  }
  return largest;
}

INTARSIA_INLINE int32x4_t four_exponentials(const struct wide_argument *a, const int16_t *past,
                                            int32x4_t element) {
  const int32x4_t difference = vaddq_n_s32(vmulq_n_s32(element, a->unit), a->offset);
  const int32x4_t high = vaddq_n_s32(vqrdmulhq_n_s32(difference, a->multiplier), a->round);
  const int32x4_t at = vmaxq_s32(vshlq_r_s32(high, -a->right), vdupq_n_s32(-65536));
  const uint32x4_t point = vreinterpretq_u32_s32(vshrq_n_s32(at, kLineBits));
  const int32x4_t here = vldrhq_gather_shifted_offset_s32(past, point),
                  next = vldrhq_gather_shifted_offset_s32(past + 1, point);
  const int32x4_t line =
      vmulq_s32(vsubq_s32(next, here), vandq_s32(at, vdupq_n_s32((1 << kLineBits) - 1)));
  return vaddq_s32(here, vrshrq_n_s32(line, kLineBits));
}

// Lanes beyond the row are no larger than the largest element, so that they look up points of the table.
INTARSIA_INLINE uint32_t exponentials_of_row(const struct wide_argument *a, const int16_t *input,
                                             int16_t *output, int32_t largest, int32_t count) {
  const int16_t *const past = intarsia_softmax_exponentials() + kPastZero;
  uint32_t sum = 0;
  for (; count > 0; count -= 8, input += 8, output += 8) {
    const mve_pred16_t some = vctp16q((uint32_t)count);
    const int16x8_t elements = vminq_s16(vldrhq_z_s16(input, some), vdupq_n_s16((int16_t)largest));
    const int32x4_t even = four_exponentials(a, past, vmovlbq_s16(elements)),
                    odd = four_exponentials(a, past, vmovltq_s16(elements));
    const int16x8_t values = vmovntq_s32(vreinterpretq_s16_s32(even), odd);
    sum = vaddvaq_p_u16(sum, vreinterpretq_u16_s16(values), some);
    vstrhq_p_s16(output, values, some);
  }
  return sum;
}

INTARSIA_INLINE void scale_row(int16_t *output, int32_t count, int32_t factor, int32_t right) {
  const int16x8_t factors = vdupq_n_s16((int16_t)factor);
  for (; count > 0; count -= 8, output += 8) {
    const mve_pred16_t some = vctp16q((uint32_t)count);
    const int16x8_t values = vldrhq_z_s16(output, some);
    const int32x4_t even = vrshlq_n_s32(vmullbq_int_s16(values, factors), -right),
                    odd = vrshlq_n_s32(vmulltq_int_s16(values, factors), -right);
    vstrhq_p_s16(output, vqmovntq_s32(vqmovnbq_s32(values, even), odd), some);
  }
}
#else
INTARSIA_INLINE int32_t largest_of_row(const int16_t *input, int32_t count) {
  int32_t largest = input[0];
  for (int32_t i = 1; i < count; ++i)
    if (input[i] > largest) largest = input[i];
  return largest;
}

INTARSIA_INLINE int32_t at_least_first_point(int32_t at) {
#if INTARSIA_HAS_DSP
  __asm__("ssat %0, #17, %0" : "+r"(at));
  return at;
#else
  return at < -65536 ? -65536 : at;
#endif
}

INTARSIA_INLINE uint32_t exponentials_of_row(const struct wide_argument *a, const int16_t *input,
                                             int16_t *output, int32_t largest, int32_t count) {
  const int16_t *past = intarsia_softmax_exponentials() + kPastZero;
  __asm__("" : "+r"(past));  // or the table's length is added for each element
  const struct wide_argument made = *a;
  uint32_t sum = 0;
  for (; count > 0; --count) {
    const int32_t high = intarsia_high_product(*input++ * made.unit + made.offset, made.multiplier);
    const int32_t at = at_least_first_point((high + made.round) >> made.right);
    const int16_t *const point = past + (at >> kLineBits);
    const int32_t here = point[0], rise = point[1] - here;
    const int32_t part = at & ((1 << kLineBits) - 1);
    const int32_t value = here + ((rise * part + (1 << (kLineBits - 1))) >> kLineBits);
    *output++ = (int16_t)value;
    sum += (uint32_t)value;
  }
  (void)largest;
  return sum;
}

INTARSIA_INLINE void scale_row(int16_t *output, int32_t count, int32_t factor, int32_t right) {
  const int32_t half = (int32_t)(UINT32_C(1) << (right - 1));
  for (; count > 0; --count, ++output) {
    *output = (int16_t)intarsia_saturate_s16((*output * factor + half) >> right);
  }
}
#endif

void intarsia_softmax_rows_s16(const int16_t *input, int16_t *output, int32_t rows, int32_t count,
                               int32_t multiplier, int32_t left, int32_t right) {
  const int16_t *const reciprocals = intarsia_softmax_reciprocals();
  for (; rows > 0; --rows, input += count, output += count) {
    const int32_t largest = largest_of_row(input, count);
    const struct wide_argument argument = argument_of(largest, multiplier, left, right);
    const uint32_t sum = exponentials_of_row(&argument, input, output, largest, count);
    // Of the sum's bits behind the first one sixteen choose a line and a place on it.
    const int32_t zeros = intarsia_leading_zeros(sum);
    const uint32_t rest = (sum << zeros) & INT32_MAX;
    uint32_t at = (rest + 0x4000u) >> 15;
    if (at > UINT16_MAX) at = UINT16_MAX;
    const int16_t *const point = reciprocals + (at >> kLineBits);
    const int32_t part = (int32_t)(at & ((1u << kLineBits) - 1u));
    const int32_t factor =
        point[0] + (((point[1] - point[0]) * part + (1 << (kLineBits - 1))) >> kLineBits);
    scale_row(output, count, factor, 31 - zeros);
  }
}
