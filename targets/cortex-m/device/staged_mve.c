// Convolutions by stages on cores with Helium.
#include "intarsia/targets/cortex_m/mve_conv.h"

#include "intarsia/targets/cortex_m/staging.h"

void intarsia_staged_mve_conv_s8(const struct intarsia_staged *staged, const int8_t *input,
                                 int8_t *output, int8_t *scratch, const int8_t *weights,
                                 const int32_t *channels) {
  INTARSIA_BY_STAGES(intarsia_mve_conv_s8);
}
