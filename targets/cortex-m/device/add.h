// Element-wise addition of int8 and int16 tensors of one shape.
#ifndef INTARSIA_CORTEX_M_ADD_H_
#define INTARSIA_CORTEX_M_ADD_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct intarsia_add {
#define FIELD(name) int32_t name;
#include "intarsia/targets/cortex_m/add.def"
#undef FIELD
};

// Shifts are to the right: 0 <= a_shift, b_shift <= 30, 1 <= out_shift <= 22.
void intarsia_each_add_s8(const struct intarsia_add *add, const int8_t *a, const int8_t *b,
                          int8_t *output);

// Of int16: no zero points, operands shifted by 15 first, out_shift up to 30. The sum, and the first less the second.
void intarsia_each_add_s16(const struct intarsia_add *add, const int16_t *a, const int16_t *b,
                           int16_t *output);
void intarsia_each_sub_s16(const struct intarsia_add *add, const int16_t *a, const int16_t *b,
                           int16_t *output);

// Squares of differences, operands shifted by 7 first, of int16 by none: shifts of the operands up to 31, out_shift too. The output may
// be one of the operands.
void intarsia_each_squared_difference_s8(const struct intarsia_add *add, const int8_t *a,
                                         const int8_t *b, int8_t *output);
void intarsia_each_squared_difference_s16(const struct intarsia_add *add, const int16_t *a,
                                          const int16_t *b, int16_t *output);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_CORTEX_M_ADD_H_
