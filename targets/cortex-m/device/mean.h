// Mean or sum of int8 or int16 over the middle axis of [outer, count, inner]: of an image over its rows and columns, or of rows
// (inner is 1).
#ifndef INTARSIA_CORTEX_M_MEAN_H_
#define INTARSIA_CORTEX_M_MEAN_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct intarsia_mean {
#define FIELD(name) int32_t name;
#include "intarsia/targets/cortex_m/mean.def"
#undef FIELD
};

// Each sum of `count` elements, less `zeros`, times multiplier * 2^(shift - 31) as intarsia_requantize has it, and the
// zero point. multiplier >= 0. count <= 2^21, and where shift > 0, count * 2^shift.
void intarsia_mean_s8(const struct intarsia_mean *mean, const int8_t *input, int8_t *output);
// Of int16; 2^13 in place of 2^21.
void intarsia_mean_s16(const struct intarsia_mean *mean, const int16_t *input, int16_t *output);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_CORTEX_M_MEAN_H_
