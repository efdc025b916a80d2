// Average and maximum over windows of an image, softmax of rows, and functions of one element.
#ifndef INTARSIA_CORTEX_M_POOL_SOFTMAX_H_
#define INTARSIA_CORTEX_M_POOL_SOFTMAX_H_

#include "intarsia/targets/cortex_m/window.h"

#ifdef __cplusplus
extern "C" {
#endif

// in_c == out_c >= 4. Only elements inside the input count, and each window has some; averages are of windows of 255
// elements at most, rounded to the nearest, halves away from zero. Results are limited to low .. high.
void intarsia_average_pool_s8(const struct intarsia_window *window, const int8_t *input,
                              int8_t *output);
void intarsia_max_pool_s8(const struct intarsia_window *window, const int8_t *input,
                          int8_t *output);

// The same of int16; in_c >= 2.
void intarsia_average_pool_s16(const struct intarsia_window *window, const int16_t *input,
                               int16_t *output);
void intarsia_max_pool_s16(const struct intarsia_window *window, const int16_t *input,
                           int16_t *output);

// The same of any number of channels, rows of the image first and then columns. Columns of outputs are taken strip_w at a time.
// scratch, word-aligned: of averages a halfword for each element of the columns that so many see; of maxima such elements, and as many again
// where stride_w > 1 and there are fewer than sixteen channels. Where no window reaches over a side, kernel_h is one, or kernel_w and
// stride_w are, and that does not hold, maxima use nothing of it.
void intarsia_rows_average_pool_s8(const struct intarsia_window *window, const int8_t *input,
                                   int8_t *output, int8_t *scratch);
void intarsia_rows_max_pool_s8(const struct intarsia_window *window, const int8_t *input,
                               int8_t *output, int8_t *scratch);
void intarsia_rows_max_pool_s16(const struct intarsia_window *window, const int16_t *input,
                                int16_t *output, int16_t *scratch);

// Softmax with the exponentials looked up: they depend on a difference of two int8 alone.
// As intarsia_softmax_s8 (intarsia/kernels/softmax.h) for each of `rows` rows of `count` elements.
// exponentials[d]: exp(-d * beta * scale) in Q0.31 as that function computes it, d = 0 .. 255; zero where the
// difference counts as too large.
void intarsia_softmax_table_s8(const int8_t *input, int8_t *output, const int32_t *exponentials,
                               int32_t rows, int32_t count);
// The same of many elements: with Helium of short rows, four at a time; with the DSP extension of rows of eight elements and more.
void intarsia_softmax_rows_s8(const int8_t *input, int8_t *output, const int32_t *exponentials,
                              int32_t rows, int32_t count);

// What both begin with: a row's largest element, and the sum of its exponentials, Q12.19.
int32_t intarsia_largest_of(const int8_t *input, int32_t count);
uint32_t intarsia_sum_of_exponentials(const int8_t *input, const int32_t *exponentials,
                                      int32_t largest, int32_t count);

// As intarsia_log_softmax_s8 (intarsia/kernels/normalize.h) for each of `rows` rows of `count` elements; exponentials as above, of a beta of 1.
void intarsia_log_softmax_table_s8(const int8_t *input, int8_t *output, const int32_t *exponentials,
                                   int32_t rows, int32_t count, int32_t multiplier, int32_t left,
                                   int32_t least);

// As intarsia_l2_normalize_s8 (intarsia/kernels/normalize.h) for each of `rows` rows of `count` elements.
void intarsia_l2_normalize_rows_s8(const int8_t *input, int8_t *output, int32_t rows, int32_t count,
                                   int32_t zero);

// As intarsia_softmax_s16 (intarsia/kernels/softmax.h) for each of `rows` rows; multiplier * 2^(left - right - 31) is its multiplier's
// factor, one of left and right is zero, left is at most 14 and right 31.
void intarsia_softmax_rows_s16(const int16_t *input, int16_t *output, int32_t rows, int32_t count,
                               int32_t multiplier, int32_t left, int32_t right);

// Of single precision, as intarsia_softmax_f32 for each of `rows` rows, but for what rounds; beta, above zero, as the bits of a float. With
// Helium numbers too small to be normal count as zero.
void intarsia_softmax_rows_f32(const float *input, float *output, int32_t rows, int32_t count,
                               int32_t beta);

// Of `count` elements of one byte: the entry of the table at the element, taken for a number from 0 to 255. The output may be the input.
void intarsia_each_lookup_s8(const int8_t *input, void *output, const void *table, int32_t count);

// As intarsia_sigmoid_s16 and intarsia_tanh_s16 (intarsia/kernels/sigmoid.h) of `count` elements. The output may be the input.
void intarsia_each_sigmoid_s16(const int16_t *input, int16_t *output, int32_t count,
                               int32_t multiplier, int32_t shift);
void intarsia_each_tanh_s16(const int16_t *input, int16_t *output, int32_t count,
                            int32_t multiplier, int32_t shift);

// Of `count` elements: intarsia_requantize_right(x << left, multiplier, right), limited to int16; left up to 15. The output may be the
// input.
void intarsia_each_rescale_s16(const int16_t *input, int16_t *output, int32_t count,
                               int32_t multiplier, int32_t left, int32_t right);
// The same limited to low .. high, which int16 has.
void intarsia_each_relu_s16(const int16_t *input, int16_t *output, int32_t count,
                            int32_t multiplier, int32_t left, int32_t right, int32_t low,
                            int32_t high);
// As intarsia_each_rescale_s16, of element - in_zero, plus out_zero, limited to the output's type. What is shifted to the left has to fit 31 bits, and what
// zero points are added to 31 too.
void intarsia_each_requantize_s16(const int16_t *input, int16_t *output, int32_t count,
                                  int32_t multiplier, int32_t left, int32_t right, int32_t in_zero,
                                  int32_t out_zero);
void intarsia_each_requantize_s8_s16(const int8_t *input, int16_t *output, int32_t count,
                                     int32_t multiplier, int32_t left, int32_t right,
                                     int32_t in_zero, int32_t out_zero);
void intarsia_each_requantize_s16_s8(const int16_t *input, int8_t *output, int32_t count,
                                     int32_t multiplier, int32_t left, int32_t right,
                                     int32_t in_zero, int32_t out_zero);
// Of `count` elements: x * min(max(x + 3, 0), 6) / 6 with x = element * in_scale, in steps of out_scale, rounded to the nearest, halves away
// from zero. Scales, and 1 / out_scale, as the bits of floats. For the compiler to use where products with reciprocals give
// what divisions do. The output may be the input.
void intarsia_each_hard_swish_s16(const int16_t *input, int16_t *output, int32_t count,
                                  int32_t in_scale, int32_t out_scale, int32_t out_reciprocal);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_CORTEX_M_POOL_SOFTMAX_H_
