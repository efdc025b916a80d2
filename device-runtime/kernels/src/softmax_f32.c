#include "intarsia/kernels/arithmetic.h"
#include "intarsia/kernels/softmax.h"

void intarsia_softmax_f32(const float* input, float* output, int32_t count, float beta) {
  float largest = input[0];
  for (int32_t i = 1; i < count; ++i) {
    if (input[i] > largest) largest = input[i];
  }
  float sum = 0.0f;
  for (int32_t i = 0; i < count; ++i) {
    output[i] = intarsia_exp_f32((input[i] - largest) * beta);
    sum += output[i];
  }
  for (int32_t i = 0; i < count; ++i) output[i] /= sum;
}
