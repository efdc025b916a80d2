// Rows divided by the roots of the sums of their squares.
#include "intarsia/kernels/square_root.h"
#include "intarsia/targets/cortex_m/dsp_dot.h"
#include "intarsia/targets/cortex_m/dsp_pairs.h"
#include "intarsia/targets/cortex_m/optimise.h"
#include "intarsia/targets/cortex_m/pool_softmax.h"

#if INTARSIA_HAS_MVE
#include <arm_mve.h>
#endif

enum { kBits = 7 };  // behind the point of results

// Of elements less the zero point, modulo 2^32.
INTARSIA_INLINE int32_t sum_of_squares(const int8_t *input, int32_t count, int32_t zero) {
#if INTARSIA_HAS_MVE
  int32_t sum = 0;
  for (; count > 0; count -= 8, input += 8) {
    const mve_pred16_t some = vctp16q((uint32_t)count);
    const int16x8_t steps = vsubq_n_s16(vldrbq_z_s16(input, some), (int16_t)zero);
    sum = vmladavaq_p_s16(sum, steps, steps, some);
  }
  return sum;
#else
  const uint32_t zeros = ((uint32_t)zero & 0xffffu) * 0x10001u;
  uint32_t sum = 0;
  for (; count >= 4; count -= 4, input += 4) {
    const uint32_t word = intarsia_load_word(input);
    const uint32_t even = intarsia_less_zeros(intarsia_even_pair(word), zeros),
                   odd = intarsia_less_zeros(intarsia_odd_pair(word), zeros);
    sum = (uint32_t)intarsia_pair_product(even, even, (int32_t)sum);
    sum = (uint32_t)intarsia_pair_product(odd, odd, (int32_t)sum);
  }
  for (; count > 0; --count) {
    const int32_t steps = *input++ - zero;
    sum += (uint32_t)(steps * steps);
  }
  return (int32_t)sum;
#endif
}

// multiplier * 2^(left - right - 31) is the root's reciprocal times 128; one of left and right is zero.
INTARSIA_INLINE void quotients(const int8_t *input, int8_t *output, int32_t count, int32_t zero,
                               int32_t multiplier, int32_t left, int32_t right) {
  const int32_t signs = right == 0 ? 0 : -1;  // halves away from zero, where bits are dropped
#if INTARSIA_HAS_MVE
  for (; count > 0; count -= 4, input += 4, output += 4) {
    const mve_pred16_t some = vctp32q((uint32_t)count);
    const int32x4_t steps = vshlq_r_s32(vsubq_n_s32(vldrbq_z_s32(input, some), zero), left);
    int32x4_t value = vqrdmulhq_n_s32(steps, multiplier);
    value = vaddq_s32(value, vandq_s32(vshrq_n_s32(value, 31), vdupq_n_s32(signs)));
    value = vrshlq_n_s32(value, -right);
    value = vminq_s32(vmaxq_s32(value, vdupq_n_s32(-128)), vdupq_n_s32(127));
    vstrbq_p_s32(output, value, some);
  }
#else
  const int32_t half = right == 0 ? 0 : 1 << (right - 1), doubled = left + 1;
  for (; count > 0; --count) {
    const int32_t steps = (int32_t)((uint32_t)(*input++ - zero) << doubled);
    const int32_t value = intarsia_high_product(steps, multiplier);
    *output++ = (int8_t)intarsia_saturate_s8((value + (value >> 31 & signs) + half) >> right);
  }
#endif
}

void intarsia_l2_normalize_rows_s8(const int8_t *input, int8_t *output, int32_t rows, int32_t count,
                                   int32_t zero) {
  for (; rows > 0; --rows, input += count, output += count) {
    int32_t multiplier;
    const int32_t right =
        intarsia_inverse_square_root(sum_of_squares(input, count, zero), &multiplier) - kBits;
    quotients(input, output, count, zero, multiplier, right < 0 ? -right : 0,
              right < 0 ? 0 : right);
  }
}
