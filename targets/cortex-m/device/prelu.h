// PReLU and leaky ReLU: elements above the input's zero point change their scale, others are multiplied with an alpha each, or change
// to another scale.
#ifndef INTARSIA_CORTEX_M_PRELU_H_
#define INTARSIA_CORTEX_M_PRELU_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct intarsia_prelu {
#define FIELD(name) int32_t name;
#include "intarsia/targets/cortex_m/prelu.def"
#undef FIELD
};

// The factor is a power of two, up to 128 of int8 and up to 16384 of int16, for scales that become larger; shifts are to the right, that of what
// is above 0 .. 22, that of what is below 1 .. 22. The output may be any of the operands.
void intarsia_each_prelu_s8(const struct intarsia_prelu *prelu, const int8_t *input,
                            const int8_t *alpha, int8_t *output);
// Of int16: no zero points but that of the alphas.
void intarsia_each_prelu_s16(const struct intarsia_prelu *prelu, const int16_t *input,
                             const int8_t *alpha, int16_t *output);
void intarsia_each_leaky_relu_s16(const struct intarsia_prelu *prelu, const int16_t *input,
                                  int16_t *output);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_CORTEX_M_PRELU_H_
