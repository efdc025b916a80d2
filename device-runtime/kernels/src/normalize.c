#include "intarsia/kernels/normalize.h"

#include "intarsia/kernels/arithmetic.h"
#include "intarsia/kernels/float_functions.h"
#include "intarsia/kernels/square_root.h"

void intarsia_l2_normalize_s8(const int8_t* input, int8_t* output, int32_t count,
                              int32_t zero_point) {
  int32_t squares = 0;
  for (int32_t i = 0; i < count; ++i) {
    const int32_t value = input[i] - zero_point;
    squares += value * value;
  }
  int32_t multiplier;
  const int32_t shift = 7 - intarsia_inverse_square_root(squares, &multiplier);
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
