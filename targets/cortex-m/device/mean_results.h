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

// What makes a mean of a sum, in registers while results are stored.
struct intarsia_mean_numbers {
  int32_t zeros, doubled, multiplier;
  int32_t right, half,
      signs;  // of negative numbers that are shifted -1: halves are rounded away from zero
  int32_t out_zero;
};

INTARSIA_INLINE struct intarsia_mean_numbers intarsia_mean_numbers_of(
    const struct intarsia_mean *s) {
  const int32_t right = s->shift < 0 ? -s->shift : 0;
  const struct intarsia_mean_numbers numbers = {
      s->zeros,   s->shift > 0 ? s->shift + 1 : 1,   s->multiplier,
      right,      right == 0 ? 0 : 1 << (right - 1), right == 0 ? 0 : -1,
      s->out_zero};
  return numbers;
}

INTARSIA_INLINE int32_t intarsia_mean_of(struct intarsia_mean_numbers n, int32_t sum) {
  const int32_t high =
      intarsia_high_product((int32_t)((uint32_t)(sum - n.zeros) << n.doubled), n.multiplier);
  return ((high + (high >> 31 & n.signs) + n.half) >> n.right) + n.out_zero;
}

#endif  // INTARSIA_CORTEX_M_MEAN_RESULTS_H_
