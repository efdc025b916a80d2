// From accumulators to int8 results, in TFLite's arithmetic bit for bit.
//
// Two ways. The quick one serves channels with 1 <= shift <= 22 whose accumulators stay below 2^30,
// which the compiler proves from the weights (compiler/channels.cpp): then the doubled accumulator times the
// multiplier has its rounded upper half in one instruction (SMMULR), and half of the last bit and the zero point
// are one addend, because the zero point is a multiple of the last bit.
//
// That it is TFLite's result. Let a be the accumulator, m the multiplier, 0 <= m < 2^31, s the shift, z the zero point.
// TFLite computes h = SRDHM(a, m) and r = RoundingDivideByPOT(h, s), and clamps r + z.
//
// 1. The sum. The compiler bounds |start| + sum |weight| * 128, with start = bias - input zero * sum of weights, by
//    2^30. Every partial sum, in whatever order, is no larger in magnitude than that bound, since inputs are no
//    larger than 128; so no addition overflows, and 2 * a fits 32 bits.
// 2. SMMULR. SRDHM(a, m) saturates for a = m = -2^31 only, which m >= 0 excludes. Otherwise it is
//    (a * m + n) / 2^31 truncated to zero, with the nudge n = 2^30 for a * m >= 0 and 1 - 2^30 for a * m < 0. For p = a * m
//    >= 0 that is floor((p + 2^30) / 2^31). For p < 0 it is -floor((-p + 2^30 - 1) / 2^31) = ceil((p - 2^30 + 1) / 2^31)
//    = floor((p + 2^30) / 2^31), as ceil((q + 1) / d) = floor((q + d) / d) for whole q and d > 0, here
//    q = p - 2^30, d = 2^31. So h = floor((a * m + 2^30) / 2^31) for every sign, and, both doubled,
//    h = floor((2a * m + 2^31) / 2^32), which SMMULR(2a, m) is. |h| <= |a| < 2^30, for m < 2^31.
// 3. The shift. RoundingDivideByPOT(h, s) is h >> s, and one more if h's lower s bits exceed 2^(s-1) - 1, for h < 0
//    2^(s-1): to the nearest, halves away from zero. With s >= 1: for h >= 0 that is (h + 2^(s-1)) >> s. For h < 0 the
//    lower bits have to be 2^(s-1) + 1 at least, and (h - 1 + 2^(s-1)) >> s carries for exactly those. h >> 31 is 0 or
//    -1, so that r = (h + (h >> 31) + 2^(s-1)) >> s.
// 4. The zero point. z * 2^s is a multiple of 2^s, so r + z = (h + (h >> 31) + 2^(s-1) + z * 2^s) >> s, where
//    round = 2^(s-1) + z * 2^s. With s <= 22 and -128 <= z <= 127, |round| <= 2^21 + 2^29, and
//    |h| + 1 + |round| <= 2^30 + 2^29 + 2^21 < 2^31: nothing overflows. Then SSAT to 8 bits is the clamp to int8.
// 5. RECTIFIED leaves out h >> 31, for z = -128 and the range of int8. It makes a difference for h < 0 only; there
//    (h + 2^(s-1)) >> s <= 0, so that with z the value is -128 at most, which saturates to -128; and so does the
//    exact r + z <= -128.
#ifndef INTARSIA_CORTEX_M_RESULTS_H_
#define INTARSIA_CORTEX_M_RESULTS_H_

#include <stdbool.h>
#include <stdint.h>

#include "intarsia/kernels/arithmetic.h"
#include "intarsia/targets/cortex_m/assembly.h"
#include "intarsia/targets/cortex_m/window.h"

#define INTARSIA_INLINE static inline __attribute__((always_inline))
// Around assembly: the registers are all for it.
#define INTARSIA_OUTLINE static __attribute__((noinline))

// Of a value above zero.
INTARSIA_INLINE int32_t intarsia_leading_zeros(uint32_t value) {
#ifdef __ARM_FEATURE_CLZ
  return __builtin_clz(value);
#else
  int32_t zeros = 0;
  for (; value < UINT32_C(0x80000000); value <<= 1) ++zeros;
  return zeros;
#endif
}

// (a * b + 2^31) / 2^32; b >= 0.
INTARSIA_INLINE int32_t intarsia_high_product(int32_t a, int32_t b) {
#if INTARSIA_HAS_DSP
  int32_t result;
  __asm__("smmulr %0, %1, %2" : "=r"(result) : "r"(a), "r"(b));
  return result;
#elif (defined(__ARM_ARCH) && __ARM_ARCH > 6) || defined(__riscv)
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
#if INTARSIA_HAS_ASM && __ARM_ARCH_ISA_THUMB == 2
  int32_t result;
  __asm__("ssat %0, #8, %1" : "=r"(result) : "r"(value));
  return result;
#else
  return intarsia_clamp_i32(value, -128, 127);
#endif
}

INTARSIA_INLINE int32_t intarsia_saturate_s16(int32_t value) {
#if INTARSIA_HAS_ASM && __ARM_ARCH_ISA_THUMB == 2
  int32_t result;
  __asm__("ssat %0, #16, %1" : "=r"(result) : "r"(value));
  return result;
#else
  return intarsia_clamp_i32(value, -32768, 32767);
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
