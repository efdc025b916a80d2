// Depthwise convolution on cores with the 31 registers of RISC-V.
#ifndef INTARSIA_CORTEX_M_RV32_DEPTHWISE_H_
#define INTARSIA_CORTEX_M_RV32_DEPTHWISE_H_

#include "intarsia/targets/cortex_m/window.h"

#ifdef __cplusplus
extern "C" {
#endif

// Windows of 3 x 3 without dilation, strides of columns 1 or 2, pad_left 0 or 1, in_c == out_c, at most one column beyond the right edge.
// weights: [out_c][9]. channels: struct intarsia_channel. scratch is not used.
void intarsia_rv32_depthwise_3x3_s8(const struct intarsia_window *window, const int8_t *input,
                                    int8_t *output, int8_t *scratch, const int8_t *weights,
                                    const int32_t *channels);
void intarsia_rv32_depthwise_3x3_limited_s8(const struct intarsia_window *window,
                                            const int8_t *input, int8_t *output, int8_t *scratch,
                                            const int8_t *weights, const int32_t *channels);
void intarsia_rv32_depthwise_3x3_any_s8(const struct intarsia_window *window, const int8_t *input,
                                        int8_t *output, int8_t *scratch, const int8_t *weights,
                                        const int32_t *channels);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_CORTEX_M_RV32_DEPTHWISE_H_
