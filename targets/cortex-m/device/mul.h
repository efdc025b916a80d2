// Element-wise product of int8 tensors: `rows` runs of `count` elements of `a`, each by the same `count` of `b`.
#ifndef INTARSIA_CORTEX_M_MUL_H_
#define INTARSIA_CORTEX_M_MUL_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct intarsia_mul {
#define FIELD(name) int32_t name;
#include "intarsia/targets/cortex_m/mul.def"
#undef FIELD
};

// The shift is to the right, 1 .. 16. The output may be `a`; with one row also `b`.
void intarsia_mul_s8(const struct intarsia_mul *mul, const int8_t *a, const int8_t *b,
                     int8_t *output);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_CORTEX_M_MUL_H_
