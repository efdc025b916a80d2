// SVDF layers of int8 with a state of int16 or int8.
#ifndef INTARSIA_CORTEX_M_SVDF_H_
#define INTARSIA_CORTEX_M_SVDF_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct intarsia_svdf {
#define FIELD(name) int32_t name;
#include "intarsia/targets/cortex_m/svdf.def"
#undef FIELD
};

// state: [batches][units * rank][memory], moved by one and written.
// scratch, word-aligned: with Dsp the inputs, filled to a whole group. weights: of the filters, byte_dot.h; time:
// [units * rank][memory]; bias: with Mve what the input's zero point takes away from the sum of each filter, filled to a whole four; then one
// per unit, with the state's zero point.
void intarsia_dsp_svdf_s16(const struct intarsia_svdf *svdf, const int8_t *input, int16_t *state,
                           int8_t *output, int16_t *scratch, const int8_t *weights,
                           const int16_t *time, const int32_t *bias);
void intarsia_dsp_svdf_s8(const struct intarsia_svdf *svdf, const int8_t *input, int8_t *state,
                          int8_t *output, int16_t *scratch, const int8_t *weights,
                          const int8_t *time, const int32_t *bias);
void intarsia_mve_svdf_s16(const struct intarsia_svdf *svdf, const int8_t *input, int16_t *state,
                           int8_t *output, int16_t *scratch, const int8_t *weights,
                           const int16_t *time, const int32_t *bias);
void intarsia_mve_svdf_s8(const struct intarsia_svdf *svdf, const int8_t *input, int8_t *state,
                          int8_t *output, int16_t *scratch, const int8_t *weights,
                          const int8_t *time, const int32_t *bias);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_CORTEX_M_SVDF_H_
