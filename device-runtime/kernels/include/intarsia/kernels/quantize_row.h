// One row of floats as int8, with a scale that is computed from its values.
#ifndef INTARSIA_KERNELS_QUANTIZE_ROW_H_
#define INTARSIA_KERNELS_QUANTIZE_ROW_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// input[i] = *scale * (output[i] - *zero_point), rounded, as TFLite's kernels with integer weights and float inputs compute
// it. The scale is the largest absolute value / 127, the zero point 0. A row of zeros has the scale 1. 1 <= count.
void intarsia_quantize_row(const float* input, int8_t* output, float* scale, int32_t* zero_point,
                           int32_t count);
// The 256 values of an int8 cover the row's range and 0.
void intarsia_quantize_row_asymmetric(const float* input, int8_t* output, float* scale,
                                      int32_t* zero_point, int32_t count);
// `count` elements of all rows have one scale and one zero point, which each of the `rows` is given: what ONNX calls
// DynamicQuantizeLinear, less 128. Halves go to the even neighbour. Zeros alone have the scale 1.
void intarsia_quantize_rows_together(const float* input, int8_t* output, float* scales,
                                     int32_t* zero_points, int32_t rows, int32_t count);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_KERNELS_QUANTIZE_ROW_H_
