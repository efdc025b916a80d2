// From sums of products to int16 results, in TFLite's arithmetic bit for bit.
#ifndef INTARSIA_CORTEX_M_WIDE_RESULTS_H_
#define INTARSIA_CORTEX_M_WIDE_RESULTS_H_

#include "intarsia/targets/cortex_m/results.h"
#include "intarsia/targets/cortex_m/wide.h"

// The lower word of a signed product shifted to the right, 1..62, without shifts of 64 bits, which take half a
// dozen instructions each.
INTARSIA_INLINE int32_t intarsia_shift_wide(uint64_t product, int32_t shift) {
  const uint32_t low = (uint32_t)product;
  const int32_t high = (int32_t)(uint32_t)(product >> 32);
  if (shift >= 32) return high >> (shift - 32);
  return (int32_t)(low >> shift | (uint32_t)high << (32 - shift));
}

// intarsia_requantize_wide.
INTARSIA_INLINE int32_t intarsia_scaled_wide(int64_t value, int32_t multiplier, int32_t shift) {
  if (shift > 32) return intarsia_requantize_wide(value, multiplier, shift);
  return intarsia_shift_wide((uint64_t)(value * multiplier) + (UINT32_C(1) << (shift - 1)), shift);
}

// What results need of the operator, in registers: stores of int16 could change struct intarsia_wide.
struct intarsia_wide_range {
  int32_t low, high, modular;
};
INTARSIA_INLINE struct intarsia_wide_range intarsia_wide_range(const struct intarsia_wide *wide) {
  const struct intarsia_wide_range range = {wide->low, wide->high, wide->modular};
  return range;
}

INTARSIA_INLINE int16_t intarsia_wide_result(int64_t products,
                                             const struct intarsia_wide_channel *channel,
                                             struct intarsia_wide_range range) {
  const uint64_t start =
      (uint64_t)(uint32_t)channel->start_high << 32 | (uint32_t)channel->start_low;
  const int32_t scaled =
      range.modular != 0
          ? intarsia_requantize((int32_t)(uint32_t)((uint64_t)products + start),
                                channel->multiplier, channel->shift)
          : intarsia_shift_wide((uint64_t)(products * channel->multiplier) + start, channel->shift);
  return (int16_t)intarsia_clamp_i32(scaled, range.low, range.high);
}

// The same for products of 32 bits, a channel that is not modular, and a shift of at most 31.
INTARSIA_INLINE int16_t intarsia_short_result(int32_t products,
                                              const struct intarsia_wide_channel *channel,
                                              int32_t least, int32_t most) {
  uint32_t low = (uint32_t)channel->start_low;
  int32_t high = channel->start_high;
#if INTARSIA_HAS_DSP
  __asm__("smlal %0, %1, %2, %3" : "+r"(low), "+r"(high) : "r"(products), "r"(channel->multiplier));
#else
  const uint64_t start = (uint64_t)(uint32_t)high << 32 | low;
  const uint64_t product = (uint64_t)((int64_t)products * channel->multiplier) + start;
  low = (uint32_t)product, high = (int32_t)(uint32_t)(product >> 32);
#endif
  const int32_t scaled = (int32_t)(low >> channel->shift | (uint32_t)high << (32 - channel->shift));
  return (int16_t)intarsia_clamp_i32(scaled, least, most);
}

#endif  // INTARSIA_CORTEX_M_WIDE_RESULTS_H_
