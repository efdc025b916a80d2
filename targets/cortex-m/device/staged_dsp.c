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
