// Element-wise sums and products, means and pooling of int8 on 64-bit cores with vectors: sixteen elements at a time (lanes.h). The
// numbers are those of the other cores' kernels, and so are the results.
#ifndef INTARSIA_CORTEX_M_LANES_ELEMENTS_H_
#define INTARSIA_CORTEX_M_LANES_ELEMENTS_H_

#include "intarsia/targets/cortex_m/add.h"
#include "intarsia/targets/cortex_m/mean.h"
#include "intarsia/targets/cortex_m/mul.h"
#include "intarsia/targets/cortex_m/window.h"

#ifdef __cplusplus
extern "C" {
#endif

struct intarsia_lanes_sum {
#define FIELD(name) int32_t name;
#include "intarsia/targets/cortex_m/lanes_sum.def"
#undef FIELD
};

// In one step: (a * a_factor + b * b_factor + start) / 2^(15 + shift), rounded down, for the compiler to use where it has found numbers
// that give TFLite's results for all 65536 pairs of operands. Factors and start are upper * 2^15 + lower, with 0 <= lower < 2^15; the
// lower half of a word of factors is a's. |upper_start| < 2^30, so that no sum leaves 32 bits. The output may be one of the operands.
void intarsia_each_lanes_sum_s8(const struct intarsia_lanes_sum *sum, const int8_t *a,
                                const int8_t *b, int8_t *output);
// As intarsia_each_add_s8 and intarsia_each_product_s8; likewise.
void intarsia_each_lanes_add_s8(const struct intarsia_add *add, const int8_t *a, const int8_t *b,
                                int8_t *output);
void intarsia_each_lanes_product_s8(const struct intarsia_mul *mul, const int8_t *a,
                                    const int8_t *b, int8_t *output);

// inner is 1 or at least 16.
void intarsia_lanes_mean_s8(const struct intarsia_mean *mean, const int8_t *input, int8_t *output);

// in_c == out_c >= 16; windows as device/pool_softmax.h has them, averages of any size.
void intarsia_lanes_average_pool_s8(const struct intarsia_window *window, const int8_t *input,
                                    int8_t *output);
void intarsia_lanes_max_pool_s8(const struct intarsia_window *window, const int8_t *input,
                                int8_t *output);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_CORTEX_M_LANES_ELEMENTS_H_
