// Softmax of rows in single precision: the steps of intarsia_softmax_f32 (intarsia/kernels), with Helium four elements at a time, whose
// sum is four sums.
#include "intarsia/targets/cortex_m/pool_softmax.h"

#include <stdbool.h>

#include "intarsia/targets/cortex_m/optimise.h"

#include "intarsia/targets/cortex_m/float_exponential.h"

#if INTARSIA_FLOAT_VECTORS
INTARSIA_INLINE float larger(float a, float b) {
  return b > a ? b : a;
}

static void softmax_row(const float *input, float *output, int32_t count, float beta) {
  float32x4_t most = vdupq_n_f32(input[0]);
  for (int32_t i = 0; i < count; i += 4) {
    const mve_pred16_t some = vctp32q((uint32_t)(count - i));
    const float32x4_t values = vldrwq_z_f32(input + i, some);
    most = vpselq_f32(values, most, vcmpgtq_m_f32(values, most, some));
  }
  const float largest = larger(larger(vgetq_lane_f32(most, 0), vgetq_lane_f32(most, 1)),
                               larger(vgetq_lane_f32(most, 2), vgetq_lane_f32(most, 3)));
  float32x4_t sums = vdupq_n_f32(0.0f);
  for (int32_t i = 0; i < count; i += 4) {
    const mve_pred16_t some = vctp32q((uint32_t)(count - i));
    const float32x4_t differences = vsubq_f32(vdupq_n_f32(largest), vldrwq_z_f32(input + i, some));
    const float32x4_t values = intarsia_exponentials_below_zero(vmulq_n_f32(differences, beta));
    sums = vaddq_m_f32(sums, sums, values, some);
    vstrwq_p_f32(output + i, values, some);
  }
  const float sum = (vgetq_lane_f32(sums, 0) + vgetq_lane_f32(sums, 1)) +
                    (vgetq_lane_f32(sums, 2) + vgetq_lane_f32(sums, 3));
  const float factor = 1.0f / sum;
  for (int32_t i = 0; i < count; i += 4) {
    const mve_pred16_t some = vctp32q((uint32_t)(count - i));
    vstrwq_p_f32(output + i, vmulq_n_f32(vldrwq_z_f32(output + i, some), factor), some);
  }
}
#else
static void softmax_row(const float *input, float *output, int32_t count, float beta) {
  float largest = input[0], sum = 0.0f;
  for (int32_t i = 1; i < count; ++i)
    if (input[i] > largest) largest = input[i];
  for (int32_t i = 0; i < count; ++i) {
    const float value = intarsia_exponential_below_zero((largest - input[i]) * beta);
    output[i] = value;
    sum += value;
  }
  const float factor = 1.0f / sum;
  for (int32_t i = 0; i < count; ++i) output[i] *= factor;
}
#endif

void intarsia_softmax_rows_f32(const float *input, float *output, int32_t rows, int32_t count,
                               int32_t beta) {
  const float factor = intarsia_f32_of_bits((uint32_t)beta);
  for (; rows > 0; --rows, input += count, output += count)
    softmax_row(input, output, count, factor);
}
