// Product of two int8 matrices, neither of which is known before.
#ifndef INTARSIA_CORTEX_M_MATMUL_H_
#define INTARSIA_CORTEX_M_MATMUL_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct intarsia_matmul {
#define FIELD(name) int32_t name;
#include "intarsia/targets/cortex_m/matmul.def"
#undef FIELD
};

// a: [rows][depth]; output: [rows][columns]. Sums stay below 2^30, 1 <= shift <= 22: the quick arithmetic of results.h.
// scratch, word-aligned: for each column of a block the depth rounded up to a multiple of 16, and four bytes; and that
// depth once more. On cores with the DSP extension that depth is doubled.
void intarsia_matmul_s8(const struct intarsia_matmul *matmul, const int8_t *a, const int8_t *b,
                        int8_t *output, int8_t *scratch);

// The same on cores with Helium; blocks are a multiple of eight. scratch: for each column of a block the rounded depth and 20
// bytes, and that depth once more.
void intarsia_mve_matmul_s8(const struct intarsia_matmul *matmul, const int8_t *a, const int8_t *b,
                            int8_t *output, int8_t *scratch);

// The same of int16, without zero points and rounding: sums of 64 bits, less than 2^47, are scaled as intarsia_requantize_wide does.
// Blocks are a multiple of two. scratch, word-aligned, is for a second matrix that is not transposed: for each column of a block the depth
// rounded up to a multiple of eight.
void intarsia_matmul_s16(const struct intarsia_matmul *matmul, const int16_t *a, const int16_t *b,
                         int16_t *output, int16_t *scratch);

// The same in single precision: device/float_conv.c. Blocks are a multiple of four. scratch: two words, and for each column of a block one more
// than the depth.
void intarsia_matmul_f32(const struct intarsia_matmul *matmul, const float *a, const float *b,
                         float *output, float *scratch);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_CORTEX_M_MATMUL_H_
