// Exponentials, sigmoids and hyperbolic tangents in single precision, four at a time with Helium: each step of the scalar functions for
// four lanes, in their order. Helium has no division: lanes are divided one by one.
#include "intarsia/targets/cortex_m/float_curves.h"

#include "intarsia/kernels/arithmetic.h"
#include "intarsia/kernels/float_functions.h"
#include "intarsia/targets/cortex_m/optimise.h"
#include "intarsia/targets/cortex_m/results.h"

// Steps that the source does not fuse are rounded by themselves.
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

#if INTARSIA_HAS_MVE && (__ARM_FEATURE_MVE & 2)
#include <arm_mve.h>

INTARSIA_INLINE float32x4_t exponentials(float32x4_t x) {
  const float32x4_t scaled = vmulq_n_f32(x, 1.44269504089f);
  // One half with the number's sign.
  const uint32x4_t half =
      vorrq_u32(vandq_u32(vreinterpretq_u32_f32(scaled), vdupq_n_u32(UINT32_C(0x80000000))),
                vdupq_n_u32(UINT32_C(0x3f000000)));
  const int32x4_t power = vcvtq_s32_f32(vaddq_f32(scaled, vreinterpretq_f32_u32(half)));
  const float32x4_t k = vcvtq_f32_s32(power);
  const float32x4_t r =
      vaddq_f32(vsubq_f32(x, vmulq_n_f32(k, 0.693359375f)), vmulq_n_f32(k, 2.12194440e-4f));
  float32x4_t series = vaddq_n_f32(vmulq_n_f32(r, 1.0f / 5040.0f), 1.0f / 720.0f);
  series = vaddq_n_f32(vmulq_f32(series, r), 1.0f / 120.0f);
  series = vaddq_n_f32(vmulq_f32(series, r), 1.0f / 24.0f);
  series = vaddq_n_f32(vmulq_f32(series, r), 1.0f / 6.0f);
  series = vaddq_n_f32(vmulq_f32(series, r), 0.5f);
  series = vaddq_n_f32(vaddq_f32(vmulq_f32(vmulq_f32(series, r), r), r), 1.0f);
  // Twice 2^127 where the power is 128, which is that of no float.
  const int32x4_t least = vminq_s32(power, vdupq_n_s32(127));
  const float32x4_t scale = vreinterpretq_f32_s32(vshlq_n_s32(vaddq_n_s32(least, 127), 23));
  float32x4_t result = vmulq_f32(series, scale);
  result = vpselq_f32(vaddq_f32(result, result), result, vcmpgtq_n_s32(power, 127));
  // Of what is no number Helium says that it is less than anything, but nothing is greater than it.
  result = vpselq_f32(vdupq_n_f32(0.0f), result, vcmpgtq_f32(vdupq_n_f32(-87.0f), x));
  return vpselq_f32(vdupq_n_f32(3.4028234664e38f), result, vcmpgtq_n_f32(x, 88.72283f));
}

INTARSIA_INLINE float32x4_t quotients(float32x4_t a, float32x4_t b) {
  a = vsetq_lane_f32(vgetq_lane_f32(a, 0) / vgetq_lane_f32(b, 0), a, 0);
  a = vsetq_lane_f32(vgetq_lane_f32(a, 1) / vgetq_lane_f32(b, 1), a, 1);
  a = vsetq_lane_f32(vgetq_lane_f32(a, 2) / vgetq_lane_f32(b, 2), a, 2);
  return vsetq_lane_f32(vgetq_lane_f32(a, 3) / vgetq_lane_f32(b, 3), a, 3);
}

INTARSIA_INLINE float32x4_t sigmoids(float32x4_t x) {
  const float32x4_t e = exponentials(vnegq_f32(vabsq_f32(x)));
  return quotients(vpselq_f32(vdupq_n_f32(1.0f), e, vcmpgeq_n_f32(x, 0.0f)), vaddq_n_f32(e, 1.0f));
}

INTARSIA_INLINE float32x4_t tangents(float32x4_t x) {
  const float32x4_t magnitude = vabsq_f32(x), one = vdupq_n_f32(1.0f);
  const float32x4_t e = exponentials(vmulq_n_f32(magnitude, -2.0f));
  float32x4_t result = quotients(vsubq_f32(one, e), vaddq_f32(one, e));
  result = vpselq_f32(one, result, vcmpgtq_n_f32(magnitude, 10.0f));
  result = vpselq_f32(vnegq_f32(result), result, vcmpltq_n_f32(x, 0.0f));
  const float32x4_t y = vmulq_f32(x, x);
  float32x4_t series = vaddq_n_f32(vmulq_n_f32(y, 62.0f / 2835.0f), -17.0f / 315.0f);
  series = vaddq_n_f32(vmulq_f32(y, series), 2.0f / 15.0f);
  series = vaddq_n_f32(vmulq_f32(y, series), -1.0f / 3.0f);
  series = vmulq_f32(x, vaddq_n_f32(vmulq_f32(y, series), 1.0f));
  return vpselq_f32(series, result, vcmpltq_n_f32(magnitude, 0.25f));
}

// A sixth is the product with the reciprocal, which is one unit of its last place off at most; two fused steps make it the quotient that a
// division rounds to (float_steps.c), except where nothing is left, or what is left is no number.
INTARSIA_INLINE float32x4_t hard_swishes(float32x4_t x) {
  const float32x4_t gate =
      vminnmq_f32(vmaxnmq_f32(vaddq_n_f32(x, 3.0f), vdupq_n_f32(0.0f)), vdupq_n_f32(6.0f));
  const float32x4_t product = vmulq_f32(x, gate), quotient = vmulq_n_f32(product, 1.0f / 6.0f);
  const float32x4_t rest = vfmaq_n_f32(product, quotient, -6.0f);
  return vpselq_f32(vfmaq_n_f32(quotient, rest, 1.0f / 6.0f), quotient,
                    vcmpgtq_n_f32(vabsq_f32(rest), 0.0f));
}

#define EACH(vectors, function)                                     \
  for (; count >= 4; count -= 4, input += 4, output += 4)           \
    vstrwq_f32(output, vectors(vldrwq_f32(input)));                 \
  if (count > 0) {                                                  \
    const mve_pred16_t some = vctp32q((uint32_t)count);             \
    vstrwq_p_f32(output, vectors(vldrwq_z_f32(input, some)), some); \
  }
#else
INTARSIA_INLINE float hard_swish(float x) {
  const float above = x + 3.0f > 0.0f ? x + 3.0f : 0.0f;
  return x * (above < 6.0f ? above : 6.0f) / 6.0f;
}

#define EACH(vectors, function) \
  for (; count > 0; --count) *output++ = function(*input++);
#endif

void intarsia_each_exp_f32(const float *input, float *output, int32_t count) {
  EACH(exponentials, intarsia_exp_f32)
}
void intarsia_each_logistic_f32(const float *input, float *output, int32_t count) {
  EACH(sigmoids, intarsia_logistic_f32)
}
void intarsia_each_tanh_f32(const float *input, float *output, int32_t count) {
  EACH(tangents, intarsia_tanh_f32)
}
void intarsia_each_hard_swish_f32(const float *input, float *output, int32_t count) {
  EACH(hard_swishes, hard_swish)
}
