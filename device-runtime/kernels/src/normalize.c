#include "intarsia/kernels/normalize.h"

#include "intarsia/kernels/arithmetic.h"
#include "intarsia/kernels/float_functions.h"

static int32_t shift_left_saturate(int32_t value, int bits) {
  const int64_t wide = (int64_t)value * ((int64_t)1 << bits);
  if (wide > INT32_MAX) return INT32_MAX;
  if (wide < INT32_MIN) return INT32_MIN;
  return (int32_t)wide;
}

// 1 / sqrt(x) as *multiplier * 2^(-31 - right shift), by Newton's iteration in Q3.28; 0 counts as 1.
static int32_t inverse_square_root(int32_t x, int32_t* multiplier) {
  if (x <= 1) {
    *multiplier = INT32_MAX;
    return 0;
  }
  int32_t right_shift = 11;
  for (; x >= (1 << 29); x /= 4) ++right_shift;
  for (; x < (1 << 27); x *= 4) --right_shift;
  const int32_t half = intarsia_shift_right_round(x >> 1, 1);
  const int32_t half_three = (1 << 28) + (1 << 27);
  int32_t y = 1 << 28;
  for (int step = 0; step < 5; ++step) {
    const int32_t y3 = shift_left_saturate(intarsia_mul_q31(intarsia_mul_q31(y, y), y), 6);
    y = shift_left_saturate(intarsia_mul_q31(half_three, y) - intarsia_mul_q31(half, y3), 3);
  }
  y = intarsia_mul_q31(y, 1518500250); /* sqrt(2) / 2 */
  if (right_shift < 0) {
    y = (int32_t)((uint32_t)y << -right_shift);
    right_shift = 0;
  }
  *multiplier = y;
  return right_shift;
}

void intarsia_l2_normalize_s8(const int8_t* input, int8_t* output, int32_t count,
                              int32_t zero_point) {
  int32_t squares = 0;
  for (int32_t i = 0; i < count; ++i) {
    const int32_t value = input[i] - zero_point;
    squares += value * value;
  }
  int32_t multiplier;
  const int32_t shift = 7 - inverse_square_root(squares, &multiplier);
  for (int32_t i = 0; i < count; ++i) {
    int32_t value = intarsia_requantize(input[i] - zero_point, multiplier, shift);
    if (value > 127) value = 127;
    if (value < -128) value = -128;
    output[i] = (int8_t)value;
  }
}

void intarsia_l2_normalize_f32(const float* input, float* output, int32_t count) {
  float squares = 0.0f;
  for (int32_t i = 0; i < count; ++i) squares += input[i] * input[i];
  float norm = intarsia_sqrt_f32(squares);
  if (norm < 1e-6f) norm = 1e-6f;
  for (int32_t i = 0; i < count; ++i) output[i] = input[i] / norm;
}

void intarsia_log_softmax_f32(const float* input, float* output, int32_t count) {
  float largest = input[0];
  for (int32_t i = 1; i < count; ++i) {
    if (input[i] > largest) largest = input[i];
  }
  float sum = 0.0f;
  for (int32_t i = 0; i < count; ++i) sum += intarsia_exp_f32(input[i] - largest);
  const float log_sum = intarsia_log_f32(sum);
  for (int32_t i = 0; i < count; ++i) output[i] = input[i] - largest - log_sum;
}
