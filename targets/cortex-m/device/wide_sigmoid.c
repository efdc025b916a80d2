// Sigmoid and tanh of int16, as intarsia/kernels/sigmoid.h has them: a point of the curve and a straight line to the next one.
// Values below zero are the others' mirror image, -1 - r for a result r before it is rounded, and a constant.
#include "intarsia/targets/cortex_m/pool_softmax.h"

#include "intarsia/targets/cortex_m/optimise.h"

#include "intarsia/kernels/sigmoid.h"
#include "intarsia/targets/cortex_m/results.h"

#if INTARSIA_HAS_MVE
#include <arm_mve.h>
#endif

struct sigmoid_curve {
  int32_t below;   // bits of an argument below those that choose a point
  int32_t limit;   // beyond the last point
  int32_t base;    // added to all results, with half of the last bit
  int32_t mirror;  // and to those of arguments below zero
  int32_t shift;
};

enum { kLastPoint = INTARSIA_SIGMOID_POINTS - 1 };

INTARSIA_INLINE void evaluate_curve(struct sigmoid_curve c, const int16_t *input, int16_t *output,
                                    int32_t count, int32_t multiplier, int32_t shift) {
  const int32_t half = shift > 0 ? (int32_t)(UINT32_C(1) << (shift - 1)) : 0;
  const uint16_t *const points = intarsia_sigmoid_points();
#if INTARSIA_HAS_MVE
  const int32x4_t multipliers = vdupq_n_s32(multiplier);
  const uint32x4_t last = vdupq_n_u32(kLastPoint - 1), limit = vdupq_n_u32((uint32_t)c.limit);
  for (; count > 0; count -= 4, input += 4, output += 4) {
    const mve_pred16_t some = vctp32q((uint32_t)count);
    const int32x4_t argument =
        vshlq_r_s32(vmlasq_n_s32(vldrhq_z_s32(input, some), multipliers, half), -shift);
    const uint32x4_t magnitude = vreinterpretq_u32_s32(vabsq_s32(argument));
    const uint32x4_t at = vminq_u32(vshlq_r_u32(magnitude, -c.below), last);
    const uint32x4_t here = vldrhq_gather_shifted_offset_u32(points, at),
                     next = vldrhq_gather_shifted_offset_u32(points + 1, at);
    const uint32x4_t part = vandq_u32(magnitude, vdupq_n_u32((1u << c.below) - 1u));
    const uint32x4_t line =
        vaddq_u32(vshlq_r_u32(here, c.below), vmulq_u32(part, vsubq_u32(next, here)));
    const mve_pred16_t beyond = vcmpcsq_n_u32(magnitude, (uint32_t)kLastPoint << c.below);
    const int32x4_t sign = vshrq_n_s32(argument, 31);
    const int32x4_t value = veorq_s32(vreinterpretq_s32_u32(vpselq_u32(limit, line, beyond)), sign);
    const int32x4_t sum =
        vaddq_s32(vaddq_n_s32(value, c.base), vandq_s32(sign, vdupq_n_s32(c.mirror)));
    vstrhq_p_s32(output, vshlq_r_s32(sum, -c.shift), some);
  }
#else
  for (; count > 0; --count) {
    const int32_t argument = (*input++ * multiplier + half) >> shift, sign = argument >> 31;
    const uint32_t magnitude = (uint32_t)((argument ^ sign) - sign), at = magnitude >> c.below;
    int32_t value = c.limit;
    if (at < kLastPoint) {
      const uint32_t here = points[at], next = points[at + 1];
      value = (int32_t)((here << c.below) + (magnitude & ((1u << c.below) - 1u)) * (next - here));
    }
    *output++ = (int16_t)(((value ^ sign) + c.base + (sign & c.mirror)) >> c.shift);
  }
#endif
}

void intarsia_each_sigmoid_s16(const int16_t *input, int16_t *output, int32_t count,
                               int32_t multiplier, int32_t shift) {
  const struct sigmoid_curve sigmoid = {9, 0x7fff << 10, 1 << 9, 1 << 25, 10};
  evaluate_curve(sigmoid, input, output, count, multiplier, shift);
}

void intarsia_each_tanh_s16(const int16_t *input, int16_t *output, int32_t count,
                            int32_t multiplier, int32_t shift) {
  const struct sigmoid_curve tanh = {8, 0xffff << 8, (1 << 7) - (1 << 23), 1 << 24, 8};
  evaluate_curve(tanh, input, output, count, multiplier, shift);
}
