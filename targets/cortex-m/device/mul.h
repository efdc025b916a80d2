// Element-wise product of int8 or int16 tensors: `rows` runs of `count` elements of `a`, each by the same `count` of `b`.
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
void intarsia_each_product_s8(const struct intarsia_mul *mul, const int8_t *a, const int8_t *b,
                              int8_t *output);

// Of int16: no zero points, the shift up to 31; the output may be any of the operands. With SMMLAR the compiler has seen to it that
// the product of -32768 with itself may be one less.
void intarsia_each_product_s16(const struct intarsia_mul *mul, const int16_t *a, const int16_t *b,
                               int16_t *output);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_CORTEX_M_MUL_H_
