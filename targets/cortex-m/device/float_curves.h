// Functions of one element in single precision.
#ifndef INTARSIA_CORTEX_M_FLOAT_CURVES_H_
#define INTARSIA_CORTEX_M_FLOAT_CURVES_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// As intarsia_exp_f32, intarsia_logistic_f32 and intarsia_tanh_f32 (intarsia/kernels) of `count` elements; with Helium numbers too small to
// be normal count as zero. The output may be the input.
void intarsia_each_exp_f32(const float *input, float *output, int32_t count);
void intarsia_each_logistic_f32(const float *input, float *output, int32_t count);
// x * min(max(x + 3, 0), 6) / 6.
void intarsia_each_hard_swish_f32(const float *input, float *output, int32_t count);
void intarsia_each_tanh_f32(const float *input, float *output, int32_t count);
// x, and below zero its exponential less 1.
void intarsia_each_elu_f32(const float *input, float *output, int32_t count);
// As intarsia_gelu_tanh_f32 and, with Helium alone, intarsia_gelu_f32.
void intarsia_each_gelu_tanh_f32(const float *input, float *output, int32_t count);
void intarsia_each_gelu_f32(const float *input, float *output, int32_t count);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_CORTEX_M_FLOAT_CURVES_H_
