// Sigmoid and tanh of int16: wide_curves.h.
#include "intarsia/targets/cortex_m/pool_softmax.h"

#include "intarsia/targets/cortex_m/optimise.h"

#include "intarsia/targets/cortex_m/wide_curves.h"

INTARSIA_INLINE void evaluate_curve(struct intarsia_wide_curve c, const int16_t *input,
                                    int16_t *output, int32_t count, int32_t multiplier,
                                    int32_t shift) {
  const uint16_t *const points = intarsia_sigmoid_points();
#if INTARSIA_HAS_MVE
  // Two vectors at a time, since each step of one waits for the one before.
  for (; count >= 8; count -= 8, input += 8, output += 8) {
    const int32x4_t first = intarsia_four_on_curve(c, points, vldrhq_s32(input), multiplier, shift);
    const int32x4_t second =
        intarsia_four_on_curve(c, points, vldrhq_s32(input + 4), multiplier, shift);
    vstrhq_s32(output, first), vstrhq_s32(output + 4, second);
  }
  for (; count > 0; count -= 4, input += 4, output += 4) {
    const mve_pred16_t some = vctp32q((uint32_t)count);
    vstrhq_p_s32(output,
                 intarsia_four_on_curve(c, points, vldrhq_z_s32(input, some), multiplier, shift),
                 some);
  }
#else
  for (; count > 0; --count)
    *output++ = (int16_t)intarsia_on_curve(c, points, *input++, multiplier, shift);
#endif
}

void intarsia_each_sigmoid_s16(const int16_t *input, int16_t *output, int32_t count,
                               int32_t multiplier, int32_t shift) {
  const struct intarsia_wide_curve sigmoid = INTARSIA_WIDE_SIGMOID;
  evaluate_curve(sigmoid, input, output, count, multiplier, shift);
}

void intarsia_each_tanh_s16(const int16_t *input, int16_t *output, int32_t count,
                            int32_t multiplier, int32_t shift) {
  const struct intarsia_wide_curve tanh = INTARSIA_WIDE_TANH;
  evaluate_curve(tanh, input, output, count, multiplier, shift);
}
