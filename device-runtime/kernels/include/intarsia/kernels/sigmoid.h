// Sigmoid and tanh of 16-bit numbers, as TFLite's quantised kernels compute them.
#ifndef INTARSIA_KERNELS_SIGMOID_H_
#define INTARSIA_KERNELS_SIGMOID_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Results in Q0.15. The argument is x * multiplier / 2^shift, of which 2^17 stands for 32/3 (tanh:
// 16/3). |x| <= 32768; 0 <= multiplier <= 32767; 0 <= shift <= 31.
int32_t intarsia_sigmoid_s16(int32_t x, int32_t multiplier, int32_t shift);
int32_t intarsia_tanh_s16(int32_t x, int32_t multiplier, int32_t shift);

// The points of the curve, for kernels that take many elements at once.
#define INTARSIA_SIGMOID_POINTS 256
const uint16_t* intarsia_sigmoid_points(void);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_KERNELS_SIGMOID_H_
