// Small scalar arithmetic that generated code and kernels call. C11, no library, no side effects; every
// function is defined for all arguments its comment allows.
#ifndef INTARSIA_KERNELS_ARITHMETIC_H_
#define INTARSIA_KERNELS_ARITHMETIC_H_

#include <stdint.h>

static inline int32_t intarsia_min_i32(int32_t a, int32_t b) {
  return a < b ? a : b;
}
static inline int32_t intarsia_max_i32(int32_t a, int32_t b) {
  return a > b ? a : b;
}
static inline uint32_t intarsia_min_u32(uint32_t a, uint32_t b) {
  return a < b ? a : b;
}
static inline uint32_t intarsia_max_u32(uint32_t a, uint32_t b) {
  return a > b ? a : b;
}
static inline int64_t intarsia_min_i64(int64_t a, int64_t b) {
  return a < b ? a : b;
}
static inline int64_t intarsia_max_i64(int64_t a, int64_t b) {
  return a > b ? a : b;
}
// When an argument is not a number, or the two are equal, the second.
static inline float intarsia_min_f32(float a, float b) {
  return a < b ? a : b;
}
static inline float intarsia_max_f32(float a, float b) {
  return a > b ? a : b;
}

// value limited to [low, high]; low <= high.
static inline int32_t intarsia_clamp_i32(int32_t value, int32_t low, int32_t high) {
  return intarsia_max_i32(intarsia_min_i32(value, high), low);
}

// sum / count to the nearest integer, halves away from zero: the rounding of TFLite's integer
// average pooling. 1 <= count; |sum| + count / 2 < 2^31.
static inline int32_t intarsia_divide_round_i32(int32_t sum, int32_t count) {
  const int32_t half = count / 2;
  return (sum > 0 ? sum + half : sum - half) / count;
}

// The square, modulo 2^32.
static inline int32_t intarsia_square_i32(int32_t a) {
  return (int32_t)((uint32_t)a * (uint32_t)a);
}

// The sum, modulo 2^32.
static inline int32_t intarsia_add_wrapping_i32(int32_t a, int32_t b) {
  return (int32_t)((uint32_t)a + (uint32_t)b);
}

static inline float intarsia_divide_f32(float a, float b) {
  return a / b;
}

// Multiplication of an integer by a real number in (0, 2^31) given as multiplier * 2^(shift - 31):
// how an accumulator becomes a quantised result. Rounds twice, exactly as TFLite's quantised
// reference arithmetic does: to 31 fractional bits (halves up), then by the right shift (halves
// away from zero).

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

// Elementary functions in fixed point, as TFLite's quantised kernels compute them. Qm.n is a signed
// 32-bit number with m integer and n fractional bits, m + n = 31; Q0.31 stands 2^31 - 1 for one.

#ifdef __cplusplus
extern "C" {
#endif

// exp(x) in Q0.31 of x in Q5.26, -32 < x <= 0.
int32_t intarsia_exp_q5(int32_t x);

// 1 / (1 + x) in Q0.31 of x in Q0.31, 0 <= x < 1.
int32_t intarsia_reciprocal_of_one_plus_q31(int32_t x);

// exp(x) in single precision, relative error below 2e-7; 0 below -87, the largest float above 88.72283.
float intarsia_exp_f32(float x);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_KERNELS_ARITHMETIC_H_
