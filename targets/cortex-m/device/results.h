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

#if defined(__ARM_FEATURE_MVE) && defined(__OPTIMIZE__)
#define INTARSIA_HAS_MVE 1
#else
#define INTARSIA_HAS_MVE 0
#endif

// Armv6-M, and Armv7-M without the extensions above.
#if defined(__ARM_ARCH_6M__) && defined(__OPTIMIZE__)
#define INTARSIA_HAS_THUMB1 1
#else
#define INTARSIA_HAS_THUMB1 0
#endif
#if defined(__ARM_ARCH_7M__) && defined(__OPTIMIZE__)
#define INTARSIA_HAS_THUMB2 1
#else
#define INTARSIA_HAS_THUMB2 0
#endif

#define INTARSIA_INLINE static inline __attribute__((always_inline))
// Around assembly: the registers are all for it.
#define INTARSIA_OUTLINE static __attribute__((noinline))

// (a * b + 2^31) / 2^32; b >= 0.
INTARSIA_INLINE int32_t intarsia_high_product(int32_t a, int32_t b) {
#if INTARSIA_HAS_DSP
  int32_t result;
  __asm__("smmulr %0, %1, %2" : "=r"(result) : "r"(a), "r"(b));
  return result;
#elif defined(__ARM_ARCH) && __ARM_ARCH > 6
  return (int32_t)(((int64_t)a * b + (INT64_C(1) << 31)) >> 32);
#else
  // Where a 64-bit product is a call: by halves. Neither sum of partial products leaves 32 bits.
  const uint32_t a_low = (uint32_t)a & 0xffffu, b_low = (uint32_t)b & 0xffffu;
  const int32_t a_high = a >> 16, b_high = b >> 16;
  const int32_t middle = a_high * (int32_t)b_low + (int32_t)(a_low * b_low >> 16);
  const uint32_t other = a_low * (uint32_t)b_high + 0x8000u + ((uint32_t)middle & 0xffffu);
  return a_high * b_high + (middle >> 16) + (int32_t)(other >> 16);
#endif
}

INTARSIA_INLINE int32_t intarsia_saturate_s8(int32_t value) {
#if INTARSIA_HAS_DSP || INTARSIA_HAS_THUMB2
  int32_t result;
  __asm__("ssat %0, #8, %1" : "=r"(result) : "r"(value));
  return result;
#else
  return intarsia_clamp_i32(value, -128, 127);
#endif
}

// The ways from sums to results, a constant wherever kernels are inlined.
enum intarsia_way {
  INTARSIA_WHOLE,  // quick; the range is that of int8
  INTARSIA_RECTIFIED,  // that, and the zero point is the lowest: how halves below it are rounded does not matter
  INTARSIA_LIMITED,  // quick; window->low .. window->high
  INTARSIA_ANY,      // every multiplier and sum; window->low .. window->high
};

// Halves are rounded away from zero: a negative value is one less before the half is added.
INTARSIA_INLINE int8_t intarsia_result(int32_t sum, const struct intarsia_channel *channel,
                                       int32_t low, int32_t high, enum intarsia_way way) {
  if (way == INTARSIA_ANY) {
    const int32_t scaled = intarsia_requantize(sum, channel->multiplier, channel->shift);
    return (int8_t)intarsia_clamp_i32(scaled + channel->round, low, high);
  }
  const int32_t scaled = intarsia_high_product(sum + sum, channel->multiplier);
  const int32_t sign = way == INTARSIA_RECTIFIED ? 0 : scaled >> 31;
  const int32_t value = (scaled + sign + channel->round) >> channel->shift;
  if (way == INTARSIA_WHOLE || way == INTARSIA_RECTIFIED)
    return (int8_t)intarsia_saturate_s8(value);
  return (int8_t)intarsia_clamp_i32(value, low, high);
}

#endif  // INTARSIA_CORTEX_M_RESULTS_H_
