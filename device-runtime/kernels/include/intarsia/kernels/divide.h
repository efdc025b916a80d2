// Quotients of quantised numbers.
#ifndef INTARSIA_KERNELS_DIVIDE_H_
#define INTARSIA_KERNELS_DIVIDE_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// numerator / denominator * multiplier * 2^(shift - 31), in TFLite's fixed-point arithmetic bit for bit. |numerator| and
// |denominator| <= 32768; shift <= 30. By zero, and of 2^29 and more: 65535 with the numerator's sign, or 0, which is at an end of any int8 or
// int16.
int32_t intarsia_divide_q(int32_t numerator, int32_t denominator, int32_t multiplier,
                          int32_t shift);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_KERNELS_DIVIDE_H_
