// From sums to int8 results on cores with Helium: eight at a time, four in each of two vectors.
//
// Convolutions take the steps of results.h, but shift to the left: with the sum h times the multiplier, and s <= 22 the
// shift, the result and what is below its last bit are (h + round) << (24 - s), saturated, whose upper byte is the
// result: saturation of the 32 bits is that of int8. A range narrower than int8 is rare; all results are limited to it
// at the end. The others:
//
// Two ways. TFLite rounds halves of negative results away from zero, VRSHL rounds all halves up, so that in
// general a negative value is made one less before. Where the output's zero point is -128 and the range
// that of int8, negative results are -128 whichever way they are rounded, and saturation is all it takes.
#ifndef INTARSIA_CORTEX_M_MVE_RESULTS_H_
#define INTARSIA_CORTEX_M_MVE_RESULTS_H_

#include "intarsia/targets/cortex_m/bytes.h"

INTARSIA_INLINE bool intarsia_mve_is_general(const struct intarsia_window *w) {
  return w->out_zero != -128 || w->low != -128 || w->high != 127;
}

// The range as vectors of 16.
INTARSIA_INLINE void intarsia_mve_limits(const struct intarsia_window *w, int8_t *low,
                                         int8_t *high) {
  intarsia_fill(low, w->low, 16);
  intarsia_fill(high, w->high, 16);
}

// Fragments of assembly: `a` and `b` are the vectors of products with the multipliers, the result is `a`.
#define INTARSIA_MVE_FIX(a, b, free) \
  "vshr.s32 " free ", " a            \
  ", #31\n"                          \
  "vadd.i32 " a ", " a ", " free     \
  "\n"                               \
  "vshr.s32 " free ", " b            \
  ", #31\n"                          \
  "vadd.i32 " b ", " b ", " free "\n"
// To 16 bits, `a` at the bottom and `b` at the top; the zero point; to 8 bits.
#define INTARSIA_MVE_NARROW(a, b, zero) \
  "vqmovnb.s32 " a ", " a               \
  "\n"                                  \
  "vqmovnt.s32 " a ", " b               \
  "\n"                                  \
  "vqadd.s16 " a ", " a ", " zero       \
  "\n"                                  \
  "vqmovnb.s16 " a ", " a "\n"
#define INTARSIA_MVE_LIMIT(a, free, low, high) \
  "vldrb.8 " free ", [r11, #" low              \
  "]\n"                                        \
  "vmax.s8 " a ", " a ", " free                \
  "\n"                                         \
  "vldrb.8 " free ", [r11, #" high             \
  "]\n"                                        \
  "vmin.s8 " a ", " a ", " free "\n"

// The twin of one lane. shift <= -1: to the right.
INTARSIA_INLINE int8_t intarsia_mve_result(int32_t sum, int32_t multiplier, int32_t shift,
                                           int32_t zero, bool general, int32_t low, int32_t high) {
  int32_t value = intarsia_mul_q31(sum, multiplier);
  if (general) value += value >> 31;
  value = (int32_t)((value + (INT64_C(1) << (-shift - 1))) >> -shift) + zero;
  if (!general) return (int8_t)intarsia_clamp_i32(value, -128, 127);
  return (int8_t)intarsia_clamp_i32(value, low, high);
}

// The twin of one lane that is shifted to the left by 24 less the shift.
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
INTARSIA_INLINE void intarsia_mve_clamp(int8_t *results, int32_t count, int32_t low,
                                        int32_t high) {
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
  for (; count > 0; --count, ++results)
    *results = (int8_t)intarsia_clamp_i32(*results, low, high);
#endif
}

#endif  // INTARSIA_CORTEX_M_MVE_RESULTS_H_
