// Multiplication of an integer by a real number in (0, 2^31) given as multiplier * 2^(shift - 31):
// how an accumulator becomes a quantised result. Rounds twice, exactly as TFLite's quantised
// reference arithmetic does: to 31 fractional bits (halves up), then by the right shift (halves
// away from zero).
#ifndef INTARSIA_KERNELS_REQUANTIZE_H_
#define INTARSIA_KERNELS_REQUANTIZE_H_

#include <stdint.h>

// a * b / 2^31, halves up. Not both INT32_MIN. The product of two Q0.31 numbers.
static inline int32_t intarsia_mul_q31(int32_t a, int32_t b) {
  return (int32_t)(((int64_t)a * b + (INT64_C(1) << 30)) >> 31);
}

// value / 2^shift, halves away from zero. 0 <= shift <= 31.
static inline int32_t intarsia_shift_right_round(int32_t value, int32_t shift) {
  const int32_t mask = (int32_t)((UINT32_C(1) << shift) - 1);
  const int32_t remainder = value & mask;
  const int32_t half = (mask >> 1) + (value < 0);
  return (value >> shift) + (remainder > half);
}

// value * multiplier * 2^(-31 - right_shift). 0 <= multiplier; 0 <= right_shift <= 31.
static inline int32_t intarsia_requantize_right(int32_t value, int32_t multiplier,
                                                int32_t right_shift) {
  return intarsia_shift_right_round(intarsia_mul_q31(value, multiplier), right_shift);
}

// value * multiplier * 2^(shift - 31). 0 <= multiplier; -31 <= shift <= 30; a positive shift must
// not carry value * 2^shift out of 32 bits (what is carried out is lost).
static inline int32_t intarsia_requantize(int32_t value, int32_t multiplier, int32_t shift) {
  const int32_t left = shift > 0 ? shift : 0;
  const int32_t right = shift > 0 ? 0 : -shift;
  return intarsia_requantize_right((int32_t)((uint32_t)value << left), multiplier, right);
}

// value * multiplier / 2^right_shift, halves up: of 64-bit sums, with a multiplier of 15 bits.
// |value| < 2^47; 0 <= multiplier < 2^15; 1 <= right_shift <= 62. What leaves 32 bits is lost.
static inline int32_t intarsia_requantize_wide(int64_t value, int32_t multiplier,
                                               int32_t right_shift) {
  return (int32_t)((value * multiplier + (INT64_C(1) << (right_shift - 1))) >> right_shift);
}

#endif  // INTARSIA_KERNELS_REQUANTIZE_H_
