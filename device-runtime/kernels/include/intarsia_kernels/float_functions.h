// Elementary functions in single precision, without a maths library. Relative errors are below 1e-6
// unless stated; results at infinities and not-a-number follow the functions' limits.
#ifndef INTARSIA_KERNELS_FLOAT_FUNCTIONS_H_
#define INTARSIA_KERNELS_FLOAT_FUNCTIONS_H_

#include <stdint.h>

#include "intarsia_kernels/fixed_point.h"

#ifdef __cplusplus
extern "C" {
#endif

// 1 / (1 + exp(-x)).
float intarsia_logistic_f32(float x);
float intarsia_tanh_f32(float x);
// The natural logarithm; -infinity of 0, not-a-number below.
float intarsia_log_f32(float x);
// Not-a-number below 0.
float intarsia_sqrt_f32(float x);
float intarsia_floor_f32(float x);
float intarsia_ceil_f32(float x);
// To the nearest integer, halves to the even one.
float intarsia_round_even_f32(float x);
// Toward zero, limited to int32; 0 of not-a-number.
int32_t intarsia_truncate_f32(float x);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_KERNELS_FLOAT_FUNCTIONS_H_
