// Softmax of one row.
#ifndef INTARSIA_KERNELS_SOFTMAX_H_
#define INTARSIA_KERNELS_SOFTMAX_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// output[i] = exp(beta * scale * input[i]) / sum, as an int8 of scale 1/256 and zero point -128, in
// TFLite's fixed-point arithmetic bit for bit (exponentials in Q0.31, their sum in Q12.19).
//   multiplier * 2^(left_shift - 31) is beta * scale * 2^26: differences from the maximum become
//     Q5.26. multiplier >= 2^30, 0 <= left_shift <= 31.
//   diff_min <= 0: elements that lie more than -diff_min below the maximum count as zero. The
//     caller chooses it so that a difference times 2^left_shift stays within 32 bits.
// 1 <= count <= 4095 (the sum's integer bits). output may be input.
void intarsia_softmax_s8(const int8_t* input, int8_t* output, int32_t count, int32_t multiplier,
                         int32_t left_shift, int32_t diff_min);

// The same as an int16 of scale 1/65536 and zero point -32768.
void intarsia_softmax_s8_s16(const int8_t* input, int16_t* output, int32_t count,
                             int32_t multiplier, int32_t left_shift, int32_t diff_min);

// The same of int16, with a result of scale 1/32768 and zero point 0. multiplier * 2^(shift - 31) is
// beta * scale * 6553.5: differences from the maximum become steps of -10 / 65535.
// 1 <= count <= 65535. output may be input.
void intarsia_softmax_s16(const int16_t* input, int16_t* output, int32_t count, int32_t multiplier,
                          int32_t shift);

// The points between which that function draws straight lines, in Q0.15: exponentials of -10 .. 0, and reciprocals of 1 .. 2.
enum { INTARSIA_SOFTMAX_POINTS = 513 };
const int16_t* intarsia_softmax_exponentials(void);
const int16_t* intarsia_softmax_reciprocals(void);

// output[i] = exp(beta * (input[i] - maximum)) / sum. 1 <= count. output may be input.
void intarsia_softmax_f32(const float* input, float* output, int32_t count, float beta);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_KERNELS_SOFTMAX_H_
