// From sums to int8 results on cores with Helium: eight at a time, four in each of q0 and q1.
//
// Three ways, constants wherever kernels are inlined. TFLite rounds halves of negative results away from
// zero, VRSHL rounds all halves up, so that a negative value is made one less before. Where the output's
// zero point is -128 and the range that of int8, negative results are -128 whichever way they are rounded.
#ifndef INTARSIA_CORTEX_M_MVE_RESULTS_H_
#define INTARSIA_CORTEX_M_MVE_RESULTS_H_

#include "cortex_m/results.h"

enum intarsia_mve_way {
  INTARSIA_MVE_RECTIFIED,  // zero point -128, range -128 .. 127
  INTARSIA_MVE_WHOLE,      // range -128 .. 127
  INTARSIA_MVE_LIMITED,    // any zero point and range
};

// Fragments of assembly. Fixing needs q3; limiting q4 and q5, and r11 the address of the kernel's limits.
#define INTARSIA_MVE_FIX     \
  "vshr.s32 q3, q0, #31\n"   \
  "vadd.i32 q0, q0, q3\n"    \
  "vshr.s32 q3, q1, #31\n"   \
  "vadd.i32 q1, q1, q3\n"
// To 16 bits, q0 at the bottom and q1 at the top; the zero point (q6); to 8 bits.
#define INTARSIA_MVE_NARROW   \
  "vqmovnb.s32 q0, q0\n"      \
  "vqmovnt.s32 q0, q1\n"      \
  "vqadd.s16 q0, q0, q6\n"    \
  "vqmovnb.s16 q0, q0\n"
#define INTARSIA_MVE_LIMIT(low, high) \
  "vldrb.8 q4, [r11, #" low "]\n"     \
  "vldrb.8 q5, [r11, #" high "]\n"    \
  "vmax.s8 q0, q0, q4\n"              \
  "vmin.s8 q0, q0, q5\n"

// The twin of one lane. shift <= -1: to the right.
INTARSIA_INLINE int8_t intarsia_mve_result(int32_t sum, int32_t multiplier, int32_t shift, int32_t zero,
                                           int32_t low, int32_t high, enum intarsia_mve_way way) {
  int32_t value = intarsia_mul_q31(sum, multiplier);
  if (way != INTARSIA_MVE_RECTIFIED) value += value >> 31;
  value = (int32_t)((value + (INT64_C(1) << (-shift - 1))) >> -shift) + zero;
  if (way != INTARSIA_MVE_LIMITED) return (int8_t)intarsia_clamp_i32(value, -128, 127);
  return (int8_t)intarsia_clamp_i32(value, low, high);
}

#endif  // INTARSIA_CORTEX_M_MVE_RESULTS_H_
