// From sums to means: what is left of a sum times the multiplier, to the right, and the zero point; with Helium four at a time.
#ifndef INTARSIA_CORTEX_M_MEAN_RESULTS_H_
#define INTARSIA_CORTEX_M_MEAN_RESULTS_H_

#include "intarsia/targets/cortex_m/mean.h"
#include "intarsia/targets/cortex_m/results.h"

#if INTARSIA_HAS_MVE
#include <arm_mve.h>

// `sums` less `zeros`. One is taken off negative values before they are shifted: halves are rounded away from zero.
INTARSIA_INLINE int32x4_t intarsia_mve_means(const struct intarsia_mean *s, int32x4_t sums) {
  if (s->shift >= 0)
    return vaddq_n_s32(vqrdmulhq_n_s32(vshlq_r_s32(sums, s->shift), s->multiplier), s->out_zero);
  const int32x4_t high = vqrdmulhq_n_s32(sums, s->multiplier);
  const int32x4_t result = vrshlq_n_s32(vaddq_s32(high, vshrq_n_s32(high, 31)), s->shift);
  return vaddq_n_s32(result, s->out_zero);
}
#endif

INTARSIA_INLINE int32_t intarsia_mean_of(const struct intarsia_mean *s, int32_t sum) {
  const int32_t left = s->shift > 0 ? s->shift : 0;
  const int32_t high = intarsia_high_product((sum - s->zeros) * (2 << left), s->multiplier);
  if (s->shift >= 0) return high + s->out_zero;
  return ((high + (high >> 31) + (1 << (-s->shift - 1))) >> -s->shift) + s->out_zero;
}

#endif  // INTARSIA_CORTEX_M_MEAN_RESULTS_H_
