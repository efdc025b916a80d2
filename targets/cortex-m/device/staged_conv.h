// Convolutions that are made of plain ones: grouped, dilated by columns, and the phases of transposed convolutions. The
// columns of the input that some results of a row see are staged side by side, [column][kernel_h][group_in], so
// that the window of each result is one run of bytes; the core's convolution makes the results, and they are put where
// they belong.
#ifndef INTARSIA_CORTEX_M_STAGED_CONV_H_
#define INTARSIA_CORTEX_M_STAGED_CONV_H_

#include "intarsia/targets/cortex_m/window.h"

#ifdef __cplusplus
extern "C" {
#endif

struct intarsia_staged {
#define FIELD(name) int16_t name;
#include "intarsia/targets/cortex_m/staged.def"
#undef FIELD
};

// weights, channels: of each group what the convolution of that name takes for windows of 1 x kernel_w whose elements
// lie [kernel_w][kernel_h][group_in].
// scratch, word-aligned: the staged columns and 16 bytes; results, where they do not lie together in the output;
// the scratch of the convolution for `band` times `pixels` results.
void intarsia_staged_dsp_conv_s8(const struct intarsia_staged *staged, const int8_t *input,
                                 int8_t *output, int8_t *scratch, const int8_t *weights,
                                 const int32_t *channels);
void intarsia_staged_dsp_conv_rectified_s8(const struct intarsia_staged *staged,
                                           const int8_t *input, int8_t *output, int8_t *scratch,
                                           const int8_t *weights, const int32_t *channels);
void intarsia_staged_dsp_conv_limited_s8(const struct intarsia_staged *staged, const int8_t *input,
                                         int8_t *output, int8_t *scratch, const int8_t *weights,
                                         const int32_t *channels);
void intarsia_staged_dsp_conv_any_s8(const struct intarsia_staged *staged, const int8_t *input,
                                     int8_t *output, int8_t *scratch, const int8_t *weights,
                                     const int32_t *channels);
void intarsia_staged_dsp_conv_by_four_s8(const struct intarsia_staged *staged, const int8_t *input,
                                         int8_t *output, int8_t *scratch, const int8_t *weights,
                                         const int32_t *channels);
void intarsia_staged_dsp_conv_by_four_rectified_s8(const struct intarsia_staged *staged,
                                                   const int8_t *input, int8_t *output,
                                                   int8_t *scratch, const int8_t *weights,
                                                   const int32_t *channels);
void intarsia_staged_dsp_conv_by_four_limited_s8(const struct intarsia_staged *staged,
                                                 const int8_t *input, int8_t *output,
                                                 int8_t *scratch, const int8_t *weights,
                                                 const int32_t *channels);
void intarsia_staged_mve_conv_s8(const struct intarsia_staged *staged, const int8_t *input,
                                 int8_t *output, int8_t *scratch, const int8_t *weights,
                                 const int32_t *channels);
void intarsia_staged_long_conv_s8(const struct intarsia_staged *staged, const int8_t *input,
                                  int8_t *output, int8_t *scratch, const int8_t *weights,
                                  const int32_t *channels);
void intarsia_staged_long_conv_limited_s8(const struct intarsia_staged *staged, const int8_t *input,
                                          int8_t *output, int8_t *scratch, const int8_t *weights,
                                          const int32_t *channels);
void intarsia_staged_long_conv_any_s8(const struct intarsia_staged *staged, const int8_t *input,
                                      int8_t *output, int8_t *scratch, const int8_t *weights,
                                      const int32_t *channels);
void intarsia_staged_thumb_conv_s8(const struct intarsia_staged *staged, const int8_t *input,
                                   int8_t *output, int8_t *scratch, const int8_t *weights,
                                   const int32_t *channels);
void intarsia_staged_thumb_conv_limited_s8(const struct intarsia_staged *staged,
                                           const int8_t *input, int8_t *output, int8_t *scratch,
                                           const int8_t *weights, const int32_t *channels);
void intarsia_staged_thumb_conv_any_s8(const struct intarsia_staged *staged, const int8_t *input,
                                       int8_t *output, int8_t *scratch, const int8_t *weights,
                                       const int32_t *channels);

// Of int16, whose sums fit 32 bits (wide.h): extents along channels, of the image and of groups, are in bytes. With Helium the weights
// are a stream with all constants.
void intarsia_staged_dsp_conv_s16(const struct intarsia_staged *staged, const int16_t *image,
                                  int16_t *results, int8_t *scratch, const int8_t *weights,
                                  const int32_t *channels);
void intarsia_staged_mve_conv_s16(const struct intarsia_staged *staged, const int16_t *image,
                                  int16_t *results, int8_t *scratch, const int8_t *weights);

// In single precision, on every core with a floating-point unit. Extents along channels, of the image and of groups, are in
// bytes. weights: of each group [channels / 4][kernel_w * kernel_h * elements][4]; tables: of each group the least and the
// greatest result, which hold where `low` and `high` are not 0, and the biases of its channels, both filled up with zeros.
void intarsia_staged_conv_f32(const struct intarsia_staged *staged, const float *image,
                              float *results, int8_t *scratch, const float *weights_of_groups,
                              const float *tables);

// Of floats that were made int8, by integer weights: an image has a scale and a zero point or, where out_zero is 1, each of its
// columns; a result is sum * (scale * the channel's scale) + bias. Extents along channels of the output are in bytes.
// table: the least and the greatest result, which hold where `low` and `high` are not 0, and two words; of each group, for _dsp of each
// channel, filled up to an even number of them, 0, the sum of its weights, its scale, its bias; for _mve by four channels sums of
// weights, scales, biases. weights: as of intarsia_dsp_conv_s8, and of intarsia_mve_conv_s8.
void intarsia_staged_dsp_hybrid(const struct intarsia_staged *staged, const int8_t *input,
                                const float *scales, const int32_t *zeros, float *results,
                                int8_t *scratch, const int8_t *weights, const int32_t *table);
void intarsia_staged_mve_hybrid(const struct intarsia_staged *staged, const int8_t *input,
                                const float *scales, const int32_t *zeros, float *results,
                                int8_t *scratch, const int8_t *weights, const int32_t *table);

// Of int8 by weights of nine bits, as those around a zero point of uint8 are: int8 weights and, for each channel, a shift that all of its
// weights have more, whose part is the sum of the window times the shift.
// channels: of each group, for _dsp struct intarsia_channel of each channel, filled up to an even number (_any's where row_bytes is 0,
// else limited ones), and their shifts; for _mve by four channels biases, multipliers, roundings, 24 less the shifts of results
// (mve_conv.h), shifts of weights. weights: as above. scratch of _dsp: 512 bytes more.
void intarsia_staged_dsp_shifted_s8(const struct intarsia_staged *staged, const int8_t *input,
                                    int8_t *output, int8_t *scratch, const int8_t *weights,
                                    const int32_t *channels);
void intarsia_staged_mve_shifted_s8(const struct intarsia_staged *staged, const int8_t *input,
                                    int8_t *output, int8_t *scratch, const int8_t *weights,
                                    const int32_t *channels);

// Depthwise convolution of floats made int8; in_c == out_c >= 4. weights: [kernel_h * kernel_w][out_c]. table: both limits, scales, biases.
void intarsia_hybrid_depthwise(const struct intarsia_window *window, const int8_t *input,
                               const float *scales, const int32_t *zeros, float *output,
                               const int8_t *weights, const int32_t *table);

// Depthwise convolution in single precision; in_c == out_c >= 4. weights: [kernel_h * kernel_w][out_c]. table: the least and the greatest
// result, which hold where `low` and `high` are not 0, and the biases.
void intarsia_depthwise_f32(const struct intarsia_window *window, const float *input, float *output,
                            const float *weights, const float *table);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_CORTEX_M_STAGED_CONV_H_
