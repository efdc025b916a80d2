// Small scalar arithmetic that generated code calls. C11, no library, no side effects; every
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

#endif  // INTARSIA_KERNELS_ARITHMETIC_H_
