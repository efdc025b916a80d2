// 1 / sqrt(x) in fixed point, as TFLite Micro's kernels compute it.
#ifndef INTARSIA_KERNELS_SQUARE_ROOT_H_
#define INTARSIA_KERNELS_SQUARE_ROOT_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// 1 / sqrt(x) is *multiplier * 2^(-31 - right shift), which is returned. x >= 0; 0 counts as 1.
int32_t intarsia_inverse_square_root(int32_t x, int32_t* multiplier);

// 2^20 / sqrt(x) * multiplier * 2^(shift - 31), at most 32767, which it is too where x <= 0. x <= 32767; 0 <= multiplier;
// -31 <= shift <= 10.
int32_t intarsia_rsqrt_s16(int32_t x, int32_t multiplier, int32_t shift);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_KERNELS_SQUARE_ROOT_H_
