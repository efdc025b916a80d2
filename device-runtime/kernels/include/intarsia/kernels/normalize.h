// Normalisation of one row.
#ifndef INTARSIA_KERNELS_NORMALIZE_H_
#define INTARSIA_KERNELS_NORMALIZE_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// output[i] = (input[i] - zero_point) / l2 norm of all of them, of scale 1/128, in TFLite's
// fixed-point arithmetic bit for bit. 1 <= count <= 33025. output may be input.
void intarsia_l2_normalize_s8(const int8_t* input, int8_t* output, int32_t count,
                              int32_t zero_point);
void intarsia_l2_normalize_f32(const float* input, float* output, int32_t count);

// output[i] = input[i] - maximum - log(sum of exp(input - maximum)). output may be input.
void intarsia_log_softmax_f32(const float* input, float* output, int32_t count);

// The same as an int8 of scale 1/16 and zero point 127, in TFLite Micro's fixed-point arithmetic bit for bit. The numbers are
// those of intarsia_softmax_s8 with a beta of 1. 1 <= count <= 4095. output may be input.
void intarsia_log_softmax_s8(const int8_t* input, int8_t* output, int32_t count, int32_t multiplier,
                             int32_t left_shift, int32_t diff_min);

// log(x) in Q5.26 of x >= 1 in Q12.19, as that function computes it.
int32_t intarsia_log_from_one(int32_t x);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_KERNELS_NORMALIZE_H_
