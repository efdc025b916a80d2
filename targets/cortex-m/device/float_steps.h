// Between single precision and steps of a scale.
#ifndef INTARSIA_CORTEX_M_FLOAT_STEPS_H_
#define INTARSIA_CORTEX_M_FLOAT_STEPS_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// As intarsia_quantize_f32 (intarsia/kernels/float_quantize.h) of `count` elements, limited to the range of the result's type. Scale and
// the nearest number to 1 / scale as the bits of floats, both within 2^-40 and 2^40.
void intarsia_quantize_f32_s16(const float *input, int16_t *output, int32_t count, int32_t scale,
                               int32_t reciprocal, int32_t zero_point);
void intarsia_quantize_f32_s8(const float *input, int8_t *output, int32_t count, int32_t scale,
                              int32_t reciprocal, int32_t zero_point);

// (element - zero_point) * scale.
void intarsia_dequantize_s16_f32(const int16_t *input, float *output, int32_t count, int32_t scale,
                                 int32_t zero_point);
void intarsia_dequantize_s8_f32(const int8_t *input, float *output, int32_t count, int32_t scale,
                                int32_t zero_point);

// intarsia_quantize_row, intarsia_quantize_row_asymmetric and intarsia_quantize_rows_together (intarsia/kernels/quantize_row.h).
void intarsia_row_to_steps(const float *input, int8_t *output, float *scale, int32_t *zero_point,
                           int32_t count);
void intarsia_row_to_steps_asymmetric(const float *input, int8_t *output, float *scale,
                                      int32_t *zero_point, int32_t count);
void intarsia_rows_to_steps_together(const float *input, int8_t *output, float *scales,
                                     int32_t *zero_points, int32_t rows, int32_t count);

// Of `count` elements each, limited to the range between two floats, whose bits these are; infinities do not limit.
void intarsia_each_sum_f32(const float *a, const float *b, float *output, int32_t count,
                           int32_t low, int32_t high);
void intarsia_each_difference_f32(const float *a, const float *b, float *output, int32_t count,
                                  int32_t low, int32_t high);
void intarsia_each_product_f32(const float *a, const float *b, float *output, int32_t count,
                               int32_t low, int32_t high);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_CORTEX_M_FLOAT_STEPS_H_
