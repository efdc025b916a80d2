// Element-wise addition of int8 tensors of one shape in one step: (a * a_factor + b * b_factor + start) / 2^shift,
// rounded down, 16 <= shift <= 22. For the compiler to use where it has found numbers that give TFLite's results for all 65536
// pairs of operands, and whose sums fit 32 bits.
#ifndef INTARSIA_CORTEX_M_SUM_H_
#define INTARSIA_CORTEX_M_SUM_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct intarsia_sum {
#define FIELD(name) int32_t name;
#include "intarsia/targets/cortex_m/sum.def"
#undef FIELD
};

void intarsia_each_sum_s8(const struct intarsia_sum *sum, const int8_t *a, const int8_t *b,
                          int8_t *output);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_CORTEX_M_SUM_H_
