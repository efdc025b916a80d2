// Elementary functions in single precision, without a maths library. Relative errors are below 1e-6
// unless stated; results at infinities and not-a-number follow the functions' limits.
#ifndef INTARSIA_KERNELS_FLOAT_FUNCTIONS_H_
#define INTARSIA_KERNELS_FLOAT_FUNCTIONS_H_

#include <stdint.h>

#include "intarsia/kernels/arithmetic.h"

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
// Not-a-number of infinities. The absolute error is below 1e-6 as well.
float intarsia_sin_f32(float x);
float intarsia_cos_f32(float x);
// 2 / sqrt(pi) times the integral of exp(-t * t) from 0 to x. The absolute error is below 1e-6.
float intarsia_erf_f32(float x);
// x * (1 + erf(x / sqrt(2))) / 2, and the form of it with tanh: x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))) / 2. Errors
// are below 1e-6 of the larger of 1 and |x|.
float intarsia_gelu_f32(float x);
float intarsia_gelu_tanh_f32(float x);
// The angle of the point (x, y), -pi to pi; C's atan2, signed zeros and infinities included.
float intarsia_atan2_f32(float y, float x);
// C's pow, special cases included.
float intarsia_pow_f32(float x, float y);
// What is left of a division that rounds toward minus infinity: it has the sign of b. Not-a-number for
// b = 0 and infinite a; exact otherwise. Takes as many steps as there are bits between a and b.
float intarsia_floor_mod_f32(float a, float b);
// Division rounded toward minus infinity and its rest; 0 for b = 0.
int32_t intarsia_floor_div_i32(int32_t a, int32_t b);
int32_t intarsia_floor_mod_i32(int32_t a, int32_t b);
// Division rounded toward zero; 0 for b = 0.
int32_t intarsia_divide_i32(int32_t a, int32_t b);
// Toward zero, limited to int32; 0 of not-a-number.
int32_t intarsia_truncate_f32(float x);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_KERNELS_FLOAT_FUNCTIONS_H_
