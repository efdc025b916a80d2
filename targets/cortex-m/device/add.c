// Element-wise addition. An operand whose shift is 0 is rounded once less; which of them are is settled
// before the loop.
#include "intarsia/targets/cortex_m/add.h"

#include "intarsia/targets/cortex_m/optimise.h"
#include "intarsia/targets/cortex_m/results.h"

enum { kLeftShift = 20 };  // of operands before they are scaled, as TFLite has it

#if INTARSIA_HAS_MVE
#include <arm_mve.h>

INTARSIA_INLINE int32x4_t scaled(int32x4_t value, int32_t multiplier, int32_t shift, bool shifts) {
  value = vqrdmulhq_n_s32(value, multiplier);
  return shifts ? vrshlq_n_s32(vaddq_s32(value, vshrq_n_s32(value, 31)), -shift) : value;
}

INTARSIA_INLINE void add_all(const struct intarsia_add *s, const int8_t *a, const int8_t *b,
                             int8_t *output, bool a_shifts, bool b_shifts) {
  const int32x4_t low = vdupq_n_s32(s->low), high = vdupq_n_s32(s->high);
  const int32_t a_zero = -s->a_zero, b_zero = -s->b_zero, out_zero = s->out_zero;
  for (int32_t left = s->count; left > 0; left -= 4, a += 4, b += 4, output += 4) {
    const mve_pred16_t lanes = vctp32q((uint32_t)left);
    const int32x4_t x = vshlq_n_s32(vaddq_n_s32(vldrbq_z_s32(a, lanes), a_zero), kLeftShift);
    const int32x4_t y = vshlq_n_s32(vaddq_n_s32(vldrbq_z_s32(b, lanes), b_zero), kLeftShift);
    const int32x4_t sum = vaddq_s32(scaled(x, s->a_multiplier, s->a_shift, a_shifts),
                                    scaled(y, s->b_multiplier, s->b_shift, b_shifts));
    const int32x4_t result =
        vaddq_n_s32(scaled(sum, s->out_multiplier, s->out_shift, true), out_zero);
    vstrbq_p_s32(output, vminq_s32(vmaxq_s32(result, low), high), lanes);
  }
}
#else
INTARSIA_INLINE int32_t scaled(int32_t doubled, int32_t multiplier, int32_t half, int32_t shift,
                               bool shifts) {
  const int32_t value = intarsia_high_product(doubled, multiplier);
  return shifts ? (value + (value >> 31) + half) >> shift : value;
}

INTARSIA_INLINE void add_all(const struct intarsia_add *s, const int8_t *a, const int8_t *b,
                             int8_t *output, bool a_shifts, bool b_shifts) {
  const int32_t unit = 1 << (kLeftShift + 1);  // doubled for the product
  const int32_t a_start = -s->a_zero * unit, b_start = -s->b_zero * unit;
  const int32_t a_multiplier = s->a_multiplier, b_multiplier = s->b_multiplier;
  const int32_t a_shift = s->a_shift, b_shift = s->b_shift;
  const int32_t a_half = a_shifts ? 1 << (a_shift - 1) : 0,
                b_half = b_shifts ? 1 << (b_shift - 1) : 0;
  const int32_t multiplier = s->out_multiplier, shift = s->out_shift, low = s->low, high = s->high;
  const int32_t round = (1 << (shift - 1)) + s->out_zero * (1 << shift);
  for (const int8_t *end = a + s->count; a != end; ++a, ++b) {
    const int32_t sum = scaled(*a * unit + a_start, a_multiplier, a_half, a_shift, a_shifts) +
                        scaled(*b * unit + b_start, b_multiplier, b_half, b_shift, b_shifts);
    const int32_t value = intarsia_saturate_s8(scaled(sum + sum, multiplier, round, shift, true));
    *output++ = (int8_t)intarsia_clamp_i32(value, low, high);
  }
}
#endif

void intarsia_add_s8(const struct intarsia_add *add, const int8_t *a, const int8_t *b,
                     int8_t *output) {
  if (add->a_shift != 0 && add->b_shift != 0) {
    add_all(add, a, b, output, true, true);
  } else if (add->a_shift != 0) {
    add_all(add, a, b, output, true, false);
  } else if (add->b_shift != 0) {
    add_all(add, a, b, output, false, true);
  } else {
    add_all(add, a, b, output, false, false);
  }
}
