// From sums to int8 results on cores with Helium: eight at a time, four in each of two vectors.
//
// The steps are those of results.h, but shifted to the left: h is the product with the multiplier, and s <= 22 the
// shift; then (h + round) << (24 - s), saturated, has the result in its upper byte, for saturation of 32 bits is that of
// int8 there. No instruction waits for a narrowing one, which take long, and bytes are stored from vectors of words or
// halfwords. Where the output's zero point is -128 and the range that of int8, negative h need not be rounded away from
// zero (results.h). A range narrower than int8 is rare: all results are limited to it at the end.
#ifndef INTARSIA_CORTEX_M_MVE_RESULTS_H_
#define INTARSIA_CORTEX_M_MVE_RESULTS_H_

#include "intarsia/targets/cortex_m/bytes.h"

INTARSIA_INLINE bool intarsia_mve_is_general(const struct intarsia_window *w) {
  return w->out_zero != -128 || w->low != -128 || w->high != 127;
}

// The twin of one lane; `left` is 24 less the shift.
INTARSIA_INLINE int8_t intarsia_mve_top_result(int32_t sum, int32_t multiplier, int32_t round,
                                               int32_t left, bool general) {
  int64_t value = intarsia_mul_q31(sum, multiplier);
  if (general && value < 0) --value;
  value = (value + round) * (INT64_C(1) << left);
  if (value < INT32_MIN) value = INT32_MIN;
  if (value > INT32_MAX) value = INT32_MAX;
  return (int8_t)(value >> 24);
}

// Results that are written already, into their range.
INTARSIA_INLINE void intarsia_mve_clamp(int8_t *results, int32_t count, int32_t low, int32_t high) {
#if INTARSIA_HAS_MVE
  __asm__ volatile(
      "vdup.8 q1, %[low]\n"
      "vdup.8 q2, %[high]\n"
      "dlstp.8 lr, %[count]\n"
      "1: vldrb.8 q0, [%[results]]\n"
      "vmax.s8 q0, q0, q1\n"
      "vmin.s8 q0, q0, q2\n"
      "vstrb.8 q0, [%[results]], #16\n"
      "letp lr, 1b\n"
      : [results] "+r"(results)
      : [count] "r"(count), [low] "r"(low), [high] "r"(high)
      : "q0", "q1", "q2", "lr" INTARSIA_CLOBBERS_PREDICATE, "memory");
#else
  for (; count > 0; --count, ++results) *results = (int8_t)intarsia_clamp_i32(*results, low, high);
#endif
}

#endif  // INTARSIA_CORTEX_M_MVE_RESULTS_H_
