// Elements limited to a range.
#ifndef INTARSIA_CORTEX_M_CLAMP_H_
#define INTARSIA_CORTEX_M_CLAMP_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Of `count` elements. The output may be the input.
void intarsia_each_clamp_s8(const int8_t *input, int8_t *output, int32_t count, int32_t low,
                            int32_t high);
void intarsia_each_clamp_s16(const int16_t *input, int16_t *output, int32_t count, int32_t low,
                             int32_t high);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_CORTEX_M_CLAMP_H_
