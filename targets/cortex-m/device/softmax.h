// Softmax of int8 rows with the exponentials looked up: they depend on a difference of two int8 alone.
#ifndef INTARSIA_CORTEX_M_SOFTMAX_H_
#define INTARSIA_CORTEX_M_SOFTMAX_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// As intarsia_softmax_s8 (intarsia/kernels/softmax.h) for each of `rows` rows of `count` elements.
// exponentials[d]: exp(-d * beta * scale) in Q0.31 as that function computes it, d = 0 .. 255; zero where the
// difference counts as too large.
void intarsia_softmax_table_s8(const int8_t *input, int8_t *output, const int32_t *exponentials,
                               int32_t rows, int32_t count);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_CORTEX_M_SOFTMAX_H_
