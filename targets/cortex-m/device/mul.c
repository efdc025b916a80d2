// TFLite rounds a product twice: to 31 fractional bits, halves up, and by the shift, halves away from zero.
#include "intarsia/targets/cortex_m/mul.h"

#include "intarsia/targets/cortex_m/optimise.h"
#include "intarsia/targets/cortex_m/results.h"

#if INTARSIA_HAS_MVE
#include <arm_mve.h>

// Eight elements; a product of two differences of int8 has 17 bits.
INTARSIA_INLINE int32x4_t scaled(int32x4_t product, int32_t multiplier, int32_t shift) {
  const int32x4_t value = vqrdmulhq_n_s32(product, multiplier);
  return vrshlq_n_s32(vaddq_s32(value, vshrq_n_s32(value, 31)), -shift);
}

INTARSIA_INLINE void mul_row(const struct intarsia_mul *s, const int8_t *a, const int8_t *b,
                             int8_t *output) {
  enum { kTogether = 8 };
  const int16x8_t low = vdupq_n_s16((int16_t)s->low), high = vdupq_n_s16((int16_t)s->high);
  const int16_t a_zero = (int16_t)s->a_zero, b_zero = (int16_t)s->b_zero,
                out_zero = (int16_t)s->out_zero;
  const int32_t multiplier = s->multiplier, shift = s->shift;
  for (int32_t left = s->count; left > 0;
       left -= kTogether, a += kTogether, b += kTogether, output += kTogether) {
    const mve_pred16_t lanes = vctp16q((uint32_t)left);
    const int16x8_t x = vsubq_n_s16(vldrbq_z_s16(a, lanes), a_zero),
                    y = vsubq_n_s16(vldrbq_z_s16(b, lanes), b_zero);
    const int32x4_t even = scaled(vmullbq_int_s16(x, y), multiplier, shift);
    const int32x4_t odd = scaled(vmulltq_int_s16(x, y), multiplier, shift);
    // |value| <= 255 * 255 / 2 after a shift of one at least: 16 bits hold it and the zero point.
    int16x8_t value = vmovntq_s32(vmovnbq_s32(x, even), odd);
    value = vaddq_n_s16(value, out_zero);
    vstrbq_p_s16(output, vminq_s16(vmaxq_s16(value, low), high), lanes);
  }
}
#elif defined(__ARM_ARCH) && __ARM_ARCH > 6
INTARSIA_INLINE void mul_row(const struct intarsia_mul *s, const int8_t *a, const int8_t *b,
                             int8_t *output) {
  const int32_t a_zero = 2 * s->a_zero, b_zero = s->b_zero;  // doubled for the product
  const int32_t multiplier = s->multiplier, shift = s->shift, low = s->low, high = s->high;
  const int32_t round = (1 << (shift - 1)) + s->out_zero * (1 << shift);
  for (const int8_t *end = a + s->count; a != end; ++a, ++b) {
    const int32_t value = intarsia_high_product((2 * *a - a_zero) * (*b - b_zero), multiplier);
    *output++ = (int8_t)intarsia_clamp_i32((value + (value >> 31) + round) >> shift, low, high);
  }
}
#else
// Without long products: the magnitude, of 16 bits, by the halves of the multiplier. No sum leaves 32 bits.
INTARSIA_INLINE void mul_row(const struct intarsia_mul *s, const int8_t *a, const int8_t *b,
                             int8_t *output) {
  const int32_t a_zero = s->a_zero, b_zero = s->b_zero, out_zero = s->out_zero, low = s->low,
                high = s->high;
  const uint32_t upper = (uint32_t)s->multiplier >> 16, lower = (uint32_t)s->multiplier & 0xffffu;
  // Both halves that are added, in units of 2^16, less the one that `below` is above the lower product.
  const uint32_t round = (1u << 14) + (1u << (14 + s->shift)) - 1u,
                 shift = 15u + (uint32_t)s->shift;
  for (const int8_t *end = a + s->count; a != end; ++a, ++b) {
    const int32_t product = (*a - a_zero) * (*b - b_zero), sign = product >> 31;
    const uint32_t magnitude = (uint32_t)((product ^ sign) - sign);
    const uint32_t below =
        (magnitude * lower + 0x10000u + (uint32_t)sign) >> 16;  // halves up: of negative ones, down
    const int32_t value = (int32_t)((magnitude * upper + below + round) >> shift);
    *output++ = (int8_t)intarsia_clamp_i32((value ^ sign) - sign + out_zero, low, high);
  }
}
#endif

void intarsia_mul_s8(const struct intarsia_mul *mul, const int8_t *a, const int8_t *b,
                     int8_t *output) {
  for (int32_t rows = mul->rows; rows > 0; --rows, a += mul->count, output += mul->count)
    mul_row(mul, a, b, output);
}
