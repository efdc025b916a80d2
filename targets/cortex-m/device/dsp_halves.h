// Depthwise convolution of int16: rows as pairs of halfwords (dsp_merge.h), and results of sums of 32 bits.
#ifndef INTARSIA_CORTEX_M_DSP_HALVES_H_
#define INTARSIA_CORTEX_M_DSP_HALVES_H_

#include "intarsia/targets/cortex_m/dsp_merge.h"

// Four channels of int16 of two rows, column by column.
INTARSIA_INLINE void intarsia_merge_halves(uint32_t *to, const int8_t *upper, int32_t upper_step,
                                           const int8_t *lower, int32_t lower_step,
                                           int32_t columns) {
  for (; columns > 0; --columns, to += kMergedLanes, upper += upper_step, lower += lower_step)
    for (int32_t pair = 0; pair < kMergedLanes; pair += 2)
      intarsia_pair_halves(intarsia_load_word(upper + 2 * pair),
                           intarsia_load_word(lower + 2 * pair), &to[pair], &to[pair + 1]);
}

// Of int16, with any limits.
INTARSIA_INLINE int32_t intarsia_half_result(int32_t sum, const struct intarsia_channel *channel,
                                             int32_t low, int32_t high) {
  const int32_t scaled = (int32_t)(((int64_t)sum * channel->multiplier) >> 32);
  return intarsia_clamp_i32((scaled + channel->round) >> channel->shift, low, high);
}

#endif  // INTARSIA_CORTEX_M_DSP_HALVES_H_
