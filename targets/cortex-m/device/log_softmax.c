// The logarithm of softmax: differences from the largest element, less the logarithm of the sum of their exponentials.
#include "intarsia/kernels/normalize.h"
#include "intarsia/targets/cortex_m/optimise.h"
#include "intarsia/targets/cortex_m/pool_softmax.h"
#include "intarsia/targets/cortex_m/results.h"

#if INTARSIA_HAS_MVE
#include <arm_mve.h>
#endif

// A difference is in Q5.26, and a result has four bits behind the point. None is above zero, so that halves away from zero are one number
// that is added. Below -16, kLeast, results are -128 whatever the sum is, and nothing leaves 32 bits.
enum { kDropped = 22, kLeast = -(1 << 30), kOutZero = 127 };

// `start`: what is added to a difference, the logarithm of the sum taken away.
INTARSIA_INLINE void log_results(const int8_t *input, int8_t *output, int32_t count,
                                 int32_t largest, int32_t start, int32_t multiplier, int32_t left,
                                 int32_t least) {
#if INTARSIA_HAS_MVE
  for (; count > 0; count -= 4, input += 4, output += 4) {
    const mve_pred16_t some = vctp32q((uint32_t)count);
    const int32x4_t steps = vsubq_n_s32(vldrbq_z_s32(input, some), largest);
    int32x4_t value = vqrdmulhq_n_s32(vshlq_r_s32(steps, left), multiplier);
    value = vaddq_n_s32(vmaxq_s32(value, vdupq_n_s32(kLeast)), start);
    value = vmaxq_s32(vshrq_n_s32(value, kDropped), vdupq_n_s32(-128));
    value = vpselq_s32(value, vdupq_n_s32(-128), vcmpgeq_n_s32(steps, least));
    vstrbq_p_s32(output, value, some);
  }
#else
  for (; count > 0; --count) {
    const int32_t steps = *input++ - largest;
    const int32_t difference = intarsia_mul_q31((int32_t)((uint32_t)steps << left), multiplier);
    const int32_t value = (intarsia_max_i32(difference, kLeast) + start) >> kDropped;
    *output++ = (int8_t)(steps < least ? -128 : intarsia_saturate_s8(value));
  }
#endif
}

void intarsia_log_softmax_table_s8(const int8_t *input, int8_t *output, const int32_t *exponentials,
                                   int32_t rows, int32_t count, int32_t multiplier, int32_t left,
                                   int32_t least) {
  for (; rows > 0; --rows, input += count, output += count) {
    const int32_t largest = intarsia_largest_of(input, count);
    const uint32_t sum = intarsia_sum_of_exponentials(input, exponentials, largest, count);
    const int32_t start = kOutZero * (1 << kDropped) + (1 << (kDropped - 1)) - 1 -
                          intarsia_log_from_one((int32_t)sum);
    log_results(input, output, count, largest, start, multiplier, left, least);
  }
}
