// The larger, or the smaller, of two elements each.
#ifndef INTARSIA_CORTEX_M_EXTREMES_H_
#define INTARSIA_CORTEX_M_EXTREMES_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Of `count` elements. The output may be an operand.
void intarsia_each_larger_s8(const int8_t *a, const int8_t *b, int8_t *output, int32_t count);
void intarsia_each_smaller_s8(const int8_t *a, const int8_t *b, int8_t *output, int32_t count);
void intarsia_each_larger_s16(const int16_t *a, const int16_t *b, int16_t *output, int32_t count);
void intarsia_each_smaller_s16(const int16_t *a, const int16_t *b, int16_t *output, int32_t count);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_CORTEX_M_EXTREMES_H_
