// Elementary functions in fixed point, as TFLite's quantised kernels compute them. Qm.n is a signed
// 32-bit number with m integer and n fractional bits, m + n = 31; Q0.31 stands 2^31 - 1 for one.
#ifndef INTARSIA_KERNELS_FIXED_POINT_H_
#define INTARSIA_KERNELS_FIXED_POINT_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// exp(x) in Q0.31 of x in Q5.26, -32 < x <= 0.
int32_t intarsia_exp_q5(int32_t x);

// 1 / (1 + x) in Q0.31 of x in Q0.31, 0 <= x < 1.
int32_t intarsia_reciprocal_of_one_plus_q31(int32_t x);

// exp(x) in single precision, relative error below 2e-7; 0 below -87, the largest float above 88.
float intarsia_exp_f32(float x);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_KERNELS_FIXED_POINT_H_
