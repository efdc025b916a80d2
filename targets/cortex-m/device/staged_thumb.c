// Convolutions by stages on cores with products of single elements.
#include "intarsia/targets/cortex_m/thumb_conv.h"

#include "intarsia/targets/cortex_m/staging.h"

void intarsia_staged_thumb_conv_s8(const struct intarsia_staged *staged, const int8_t *input,
                                   int8_t *output, int8_t *scratch, const int8_t *weights,
                                   const int32_t *channels) {
  INTARSIA_BY_STAGES(intarsia_thumb_conv_s8);
}

void intarsia_staged_thumb_conv_limited_s8(const struct intarsia_staged *staged,
                                           const int8_t *input, int8_t *output, int8_t *scratch,
                                           const int8_t *weights, const int32_t *channels) {
  INTARSIA_BY_STAGES(intarsia_thumb_conv_limited_s8);
}

void intarsia_staged_thumb_conv_any_s8(const struct intarsia_staged *staged, const int8_t *input,
                                       int8_t *output, int8_t *scratch, const int8_t *weights,
                                       const int32_t *channels) {
  INTARSIA_BY_STAGES(intarsia_thumb_conv_any_s8);
}
