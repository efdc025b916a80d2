// Convolution, depthwise convolution and fully connected on cores with the DSP extension.
#ifndef INTARSIA_CORTEX_M_DSP_KERNELS_H_
#define INTARSIA_CORTEX_M_DSP_KERNELS_H_

#include "intarsia/targets/cortex_m/window.h"

#ifdef __cplusplus
extern "C" {
#endif

// Convolution; a fully connected layer is one whose window is 1 x 1.
//
// A run is the weights of a channel, filled with zeros to a multiple of four: kernel_h rows of strip_w, which is kernel_w *
// in_c or the next multiple of four, with zeros behind each row. Channels A, B
// come in pairs; an odd number of them is filled up with one of zeros.
// weights: [pair][run / 4][8] word-aligned: elements 0 of A, of B, 2 of A, of B, then 1 and 3 alike.
// channels: struct intarsia_channel for each, the one that fills up included.
// scratch, word-aligned: from four pixels on eight times a run, otherwise twice a run; and a run where in_c
// is no multiple of four.
// The first is for results in the whole range of int8, _rectified for those whose zero point is besides the lowest
// of them, _limited for those that an activation limits,
// _any for multipliers and sums that the quick arithmetic of results.h does not cover.
void intarsia_dsp_conv_s8(const struct intarsia_window *window, const int8_t *input, int8_t *output,
                          int8_t *scratch, const int8_t *weights, const int32_t *channels);
void intarsia_dsp_conv_rectified_s8(const struct intarsia_window *window, const int8_t *input,
                                    int8_t *output, int8_t *scratch, const int8_t *weights,
                                    const int32_t *channels);
void intarsia_dsp_conv_limited_s8(const struct intarsia_window *window, const int8_t *input,
                                  int8_t *output, int8_t *scratch, const int8_t *weights,
                                  const int32_t *channels);
void intarsia_dsp_conv_any_s8(const struct intarsia_window *window, const int8_t *input,
                              int8_t *output, int8_t *scratch, const int8_t *weights,
                              const int32_t *channels);

// Convolution by four channels, A to D, at a time, the last block of which overlaps the one before where they are no multiple of four;
// out_c >= 4. Runs and scratch as above.
// weights: [block][run / 4][8] halfwords 256 * B + A or 256 * D + C, word-aligned: of elements 0, 2 for A and B, then C and D; of
// elements 1, 3 alike. No such halfword may leave 16 bits, nor sums of B and D without their bias 24.
// channels: struct intarsia_channel for each of the blocks; biases of B and D are doubled.
void intarsia_dsp_conv_by_four_s8(const struct intarsia_window *window, const int8_t *input,
                                  int8_t *output, int8_t *scratch, const int8_t *weights,
                                  const int32_t *channels);
void intarsia_dsp_conv_by_four_rectified_s8(const struct intarsia_window *window,
                                            const int8_t *input, int8_t *output, int8_t *scratch,
                                            const int8_t *weights, const int32_t *channels);
void intarsia_dsp_conv_by_four_limited_s8(const struct intarsia_window *window, const int8_t *input,
                                          int8_t *output, int8_t *scratch, const int8_t *weights,
                                          const int32_t *channels);

// Convolution of int16 activations with int8 weights, whose sums fit 32 bits.
//
// A run is kernel_h rows of kernel_w * in_c elements, each filled to an even number, and all to a multiple of four.
// weights: as of intarsia_dsp_conv_s8, of elements 0 and 1 where that has 0 and 2, and of 2 and 3.
// channels: of each, the one that fills up included, a bias, the multiplier times 2^16, half of the shift's last bit, and the shift less
// 16, at least 1.
// scratch, word-aligned: four runs, and a row of the window.
void intarsia_dsp_conv_s16(const struct intarsia_window *window, const int16_t *input,
                           int16_t *output, int16_t *scratch, const int8_t *weights,
                           const int32_t *channels);

// Depthwise convolution.
//
// Channels in blocks of four, the last of which overlaps the one before where they are no multiple of
// four, or one block of fewer; out_c is a multiple of in_c. With four channels of the input and several results of each a block
// is four of the input, and weights (in each phase) and channels are [block][result][channel], where 4 kB hold its weights in scratch. No dilation where
// there is a stride; dilation_w * out_c < 2^16.
// Rows of the padded input, those of a dilated window, are taken in pairs (0, 1), (2, 3), ... A window covers `pairs` of
// them, and begins on an even row (phase 0) or on an odd one (phase 1); with an even stride always on an even
// one. Of a pair a window takes the columns of each segment, which are those with one remainder of stride_w, in chunks of
// strip_w taps (1, 3, 5 or 7).
// group > 0: rows are by themselves. A pair is a column and the one `group` columns further, and kernel_w, stride_w and dilation_w
// count steps of 2 * group columns, but between outputs, which dilation_w counts one by one; kernel_h and stride_h are doubled.
// weights: [block][phase][channel][pair][segment][chunk][tap], filled up to two taps for each channel: of taps 0 and 1 the
// upper row's weights, then the lower row's; taps 2, 3 alike; zero where a pair or a chunk reaches beyond the window.
// _rectified, _limited and _any as above.
// scratch, word-aligned: words for the weights of a block, for `pairs` rows of as many segments of four times the columns
// that outputs, of which there are a multiple of four, need; and for each pass.
void intarsia_dsp_depthwise_s8(const struct intarsia_window *window, const int8_t *input,
                               int8_t *output, int8_t *scratch, const int8_t *weights,
                               const int32_t *channels);
void intarsia_dsp_depthwise_rectified_s8(const struct intarsia_window *window, const int8_t *input,
                                         int8_t *output, int8_t *scratch, const int8_t *weights,
                                         const int32_t *channels);
void intarsia_dsp_depthwise_limited_s8(const struct intarsia_window *window, const int8_t *input,
                                       int8_t *output, int8_t *scratch, const int8_t *weights,
                                       const int32_t *channels);
void intarsia_dsp_depthwise_any_s8(const struct intarsia_window *window, const int8_t *input,
                                   int8_t *output, int8_t *scratch, const int8_t *weights,
                                   const int32_t *channels);

// Of int16, with limits, with those of what is not negative (_rectified), or without; in_zero is 0, and channels are as intarsia_dsp_conv_s16 has them.
void intarsia_dsp_depthwise_s16(const struct intarsia_window *window, const int16_t *input,
                                int16_t *output, int8_t *scratch, const int8_t *weights,
                                const int32_t *channels);
void intarsia_dsp_depthwise_rectified_s16(const struct intarsia_window *window,
                                          const int16_t *input, int16_t *output, int8_t *scratch,
                                          const int8_t *weights, const int32_t *channels);
void intarsia_dsp_depthwise_limited_s16(const struct intarsia_window *window, const int16_t *input,
                                        int16_t *output, int8_t *scratch, const int8_t *weights,
                                        const int32_t *channels);

// Depthwise convolution with windows of three columns and two pairs of rows.
//
// Channels in blocks of four as above; stride_h and stride_w 1 or 2, pad_left < 3. strip_h: pairs of rows in scratch, >= 2.
// Pairs and phases as above. weights: [block][phase][channel][12], word-aligned: of two pairs of rows and three columns,
// columns first, the upper rows' weights of taps 0 and 1, then the lower rows' of both; taps 2, 3 and 4, 5 alike.
// _rectified and _limited as above.
// scratch, word-aligned: strip_h * 16 times the columns that a row of outputs needs.
void intarsia_dsp_depthwise_3x3_s8(const struct intarsia_window *window, const int8_t *input,
                                   int8_t *output, int8_t *scratch, const int8_t *weights,
                                   const int32_t *channels);
void intarsia_dsp_depthwise_3x3_rectified_s8(const struct intarsia_window *window,
                                             const int8_t *input, int8_t *output, int8_t *scratch,
                                             const int8_t *weights, const int32_t *channels);
void intarsia_dsp_depthwise_3x3_limited_s8(const struct intarsia_window *window,
                                           const int8_t *input, int8_t *output, int8_t *scratch,
                                           const int8_t *weights, const int32_t *channels);

// out_c a multiple of in_c: a channel of the output sees channel * in_c / out_c of the input.
void intarsia_dsp_depthwise_3x3_multiplied_s8(const struct intarsia_window *window,
                                              const int8_t *input, int8_t *output, int8_t *scratch,
                                              const int8_t *weights, const int32_t *channels);
void intarsia_dsp_depthwise_3x3_multiplied_rectified_s8(const struct intarsia_window *window,
                                                        const int8_t *input, int8_t *output,
                                                        int8_t *scratch, const int8_t *weights,
                                                        const int32_t *channels);
void intarsia_dsp_depthwise_3x3_multiplied_limited_s8(const struct intarsia_window *window,
                                                      const int8_t *input, int8_t *output,
                                                      int8_t *scratch, const int8_t *weights,
                                                      const int32_t *channels);

// Dilated windows, by stride 1: each grid of every dilation-th row and column is an image of its own. strip_h and scratch are those of the
// first grid, whose padding on the left is less than 3; in_w >= dilation_w.
void intarsia_dsp_depthwise_3x3_dilated_s8(const struct intarsia_window *window,
                                           const int8_t *input, int8_t *output, int8_t *scratch,
                                           const int8_t *weights, const int32_t *channels);
void intarsia_dsp_depthwise_3x3_dilated_rectified_s8(const struct intarsia_window *window,
                                                     const int8_t *input, int8_t *output,
                                                     int8_t *scratch, const int8_t *weights,
                                                     const int32_t *channels);
void intarsia_dsp_depthwise_3x3_dilated_limited_s8(const struct intarsia_window *window,
                                                   const int8_t *input, int8_t *output,
                                                   int8_t *scratch, const int8_t *weights,
                                                   const int32_t *channels);

// Depthwise convolution pixel by pixel: only taps inside of the image count, of any dilation and stride.
//
// in_c == out_c >= 4. weights: [block of four channels][kernel_h * kernel_w][4], the last block overlapping the one before. channels: struct
// intarsia_channel for each, whose bias has no zero point of the input.
void intarsia_dsp_depthwise_pixels_s8(const struct intarsia_window *window, const int8_t *input,
                                      int8_t *output, const int8_t *weights,
                                      const int32_t *channels);
void intarsia_dsp_depthwise_pixels_any_s8(const struct intarsia_window *window, const int8_t *input,
                                          int8_t *output, const int8_t *weights,
                                          const int32_t *channels);

// Of int16, as above.
void intarsia_dsp_depthwise_3x3_s16(const struct intarsia_window *window, const int16_t *input,
                                    int16_t *output, int8_t *scratch, const int8_t *weights,
                                    const int32_t *channels);
void intarsia_dsp_depthwise_3x3_rectified_s16(const struct intarsia_window *window,
                                              const int16_t *input, int16_t *output,
                                              int8_t *scratch, const int8_t *weights,
                                              const int32_t *channels);
void intarsia_dsp_depthwise_3x3_limited_s16(const struct intarsia_window *window,
                                            const int16_t *input, int16_t *output, int8_t *scratch,
                                            const int8_t *weights, const int32_t *channels);

void intarsia_dsp_depthwise_3x3_multiplied_s16(const struct intarsia_window *window,
                                               const int16_t *input, int16_t *output,
                                               int8_t *scratch, const int8_t *weights,
                                               const int32_t *channels);
void intarsia_dsp_depthwise_3x3_multiplied_rectified_s16(const struct intarsia_window *window,
                                                         const int16_t *input, int16_t *output,
                                                         int8_t *scratch, const int8_t *weights,
                                                         const int32_t *channels);
void intarsia_dsp_depthwise_3x3_multiplied_limited_s16(const struct intarsia_window *window,
                                                       const int16_t *input, int16_t *output,
                                                       int8_t *scratch, const int8_t *weights,
                                                       const int32_t *channels);

void intarsia_dsp_depthwise_3x3_dilated_s16(const struct intarsia_window *window,
                                            const int16_t *input, int16_t *output, int8_t *scratch,
                                            const int8_t *weights, const int32_t *channels);
void intarsia_dsp_depthwise_3x3_dilated_rectified_s16(const struct intarsia_window *window,
                                                      const int16_t *input, int16_t *output,
                                                      int8_t *scratch, const int8_t *weights,
                                                      const int32_t *channels);
void intarsia_dsp_depthwise_3x3_dilated_limited_s16(const struct intarsia_window *window,
                                                    const int16_t *input, int16_t *output,
                                                    int8_t *scratch, const int8_t *weights,
                                                    const int32_t *channels);

// Fully connected layers of one row, without scratch.
//
// Channels in blocks of four, A to D, the last of which overlaps the one before where they are no multiple of
// four; out_c >= 4; in_c is a multiple of four.
// weights: as above, a run being in_c.
// channels: struct intarsia_channel for each of the blocks; biases of B and D are doubled, but not for _any.
// _limited and _any as above.
void intarsia_dsp_dense_s8(const struct intarsia_window *window, const int8_t *input,
                           int8_t *output, const int8_t *weights, const int32_t *channels);
void intarsia_dsp_dense_limited_s8(const struct intarsia_window *window, const int8_t *input,
                                   int8_t *output, const int8_t *weights, const int32_t *channels);
void intarsia_dsp_dense_any_s8(const struct intarsia_window *window, const int8_t *input,
                               int8_t *output, const int8_t *weights, const int32_t *channels);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_CORTEX_M_DSP_KERNELS_H_
