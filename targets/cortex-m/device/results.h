// From accumulators to int8 results, in TFLite's arithmetic bit for bit.
//
// Two ways. The quick one serves channels with 1 <= shift <= 22 whose accumulators stay below 2^30,
// which the compiler proves from the weights: then the doubled accumulator times the multiplier has
// its rounded upper half in one instruction (SMMULR), and half of the last bit and the zero point
// are one addend, because the zero point is a multiple of the last bit.
#ifndef INTARSIA_CORTEX_M_RESULTS_H_
#define INTARSIA_CORTEX_M_RESULTS_H_

#include <stdbool.h>
#include <stdint.h>

#include "cortex_m/window.h"
#include "intarsia_kernels/arithmetic.h"
#include "intarsia_kernels/requantize.h"

// Assembly that fills the register file is for optimised builds; others take the portable twins.
#if defined(__ARM_FEATURE_DSP) && defined(__OPTIMIZE__)
#define INTARSIA_HAS_DSP 1
#else
#define INTARSIA_HAS_DSP 0
#endif

#define INTARSIA_INLINE static inline __attribute__((always_inline))
// Around assembly: the registers are all for it.
#define INTARSIA_OUTLINE static __attribute__((noinline))

// (a * b + 2^31) / 2^32
INTARSIA_INLINE int32_t intarsia_high_product(int32_t a, int32_t b) {
#if INTARSIA_HAS_DSP
  int32_t result;
  __asm__("smmulr %0, %1, %2" : "=r"(result) : "r"(a), "r"(b));
  return result;
#else
  return (int32_t)(((int64_t)a * b + (INT64_C(1) << 31)) >> 32);
#endif
}

INTARSIA_INLINE int32_t intarsia_saturate_s8(int32_t value) {
#if INTARSIA_HAS_DSP
  int32_t result;
  __asm__("ssat %0, #8, %1" : "=r"(result) : "r"(value));
  return result;
#else
  return intarsia_clamp_i32(value, -128, 127);
#endif
}

// Before the clamp. Halves are rounded away from zero: a negative value is one less before the half
// is added.
INTARSIA_INLINE int32_t intarsia_result_quick(int32_t sum, const struct intarsia_channel *channel) {
  const int32_t scaled = intarsia_high_product(sum + sum, channel->multiplier);
  return (scaled + (scaled >> 31) + channel->round) >> channel->shift;
}

INTARSIA_INLINE int32_t intarsia_result_any(int32_t sum, const struct intarsia_channel *channel) {
  return intarsia_requantize(sum, channel->multiplier, channel->shift) + channel->round;
}

// `quick` and `whole` (the range is that of int8) are constants, or nearly, where this is inlined.
INTARSIA_INLINE int8_t intarsia_result(int32_t sum, const struct intarsia_channel *channel, bool quick,
                                       bool whole, const struct intarsia_window *window) {
  const int32_t value = quick ? intarsia_result_quick(sum, channel) : intarsia_result_any(sum, channel);
  if (whole) return (int8_t)intarsia_saturate_s8(value);
  return (int8_t)intarsia_clamp_i32(value, window->low, window->high);
}

INTARSIA_INLINE bool intarsia_whole_range(const struct intarsia_window *window) {
  return window->low == -128 && window->high == 127;
}

#endif  // INTARSIA_CORTEX_M_RESULTS_H_
