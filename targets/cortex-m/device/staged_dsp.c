// Convolutions by stages on cores with the DSP extension.
#include "intarsia/targets/cortex_m/dsp_kernels.h"

#include "intarsia/targets/cortex_m/staging.h"

void intarsia_staged_dsp_conv_s8(const struct intarsia_staged *staged, const int8_t *input,
                                 int8_t *output, int8_t *scratch, const int8_t *weights,
                                 const int32_t *channels) {
  INTARSIA_BY_STAGES(intarsia_dsp_conv_s8);
}

void intarsia_staged_dsp_conv_rectified_s8(const struct intarsia_staged *staged,
                                           const int8_t *input, int8_t *output, int8_t *scratch,
                                           const int8_t *weights, const int32_t *channels) {
  INTARSIA_BY_STAGES(intarsia_dsp_conv_rectified_s8);
}

void intarsia_staged_dsp_conv_limited_s8(const struct intarsia_staged *staged, const int8_t *input,
                                         int8_t *output, int8_t *scratch, const int8_t *weights,
                                         const int32_t *channels) {
  INTARSIA_BY_STAGES(intarsia_dsp_conv_limited_s8);
}

void intarsia_staged_dsp_conv_any_s8(const struct intarsia_staged *staged, const int8_t *input,
                                     int8_t *output, int8_t *scratch, const int8_t *weights,
                                     const int32_t *channels) {
  INTARSIA_BY_STAGES(intarsia_dsp_conv_any_s8);
}

void intarsia_staged_dsp_conv_by_four_s8(const struct intarsia_staged *staged, const int8_t *input,
                                         int8_t *output, int8_t *scratch, const int8_t *weights,
                                         const int32_t *channels) {
  INTARSIA_BY_STAGES(intarsia_dsp_conv_by_four_s8);
}

void intarsia_staged_dsp_conv_by_four_rectified_s8(const struct intarsia_staged *staged,
                                                   const int8_t *input, int8_t *output,
                                                   int8_t *scratch, const int8_t *weights,
                                                   const int32_t *channels) {
  INTARSIA_BY_STAGES(intarsia_dsp_conv_by_four_rectified_s8);
}

void intarsia_staged_dsp_conv_by_four_limited_s8(const struct intarsia_staged *staged,
                                                 const int8_t *input, int8_t *output,
                                                 int8_t *scratch, const int8_t *weights,
                                                 const int32_t *channels) {
  INTARSIA_BY_STAGES(intarsia_dsp_conv_by_four_limited_s8);
}

// A piece as intarsia_dsp_conv_s16 takes it.
static void dsp_conv_of_halves(const struct intarsia_window *piece, const int8_t *input,
                               int8_t *output, int8_t *scratch, const int8_t *weights,
                               const int32_t *channels) {
  struct intarsia_window w = *piece;
  w.in_c /= 2, w.out_c /= 2;
  intarsia_dsp_conv_s16(&w, (const int16_t *)(const void *)input, (int16_t *)(void *)output,
                        (int16_t *)(void *)scratch, weights, channels);
}

void intarsia_staged_dsp_conv_s16(const struct intarsia_staged *staged, const int16_t *image,
                                  int16_t *results, int8_t *scratch, const int8_t *weights,
                                  const int32_t *channels) {
  const int8_t *const input = (const int8_t *)image;
  int8_t *const output = (int8_t *)results;
  INTARSIA_BY_STAGES(dsp_conv_of_halves);
}
