// Exponentials, sigmoids and hyperbolic tangents in single precision, four at a time with Helium: each step of the scalar functions for
// four lanes, in their order. Helium has no division, but fused products.
#include "intarsia/targets/cortex_m/float_curves.h"

#include <stdbool.h>

#include "intarsia/targets/cortex_m/optimise.h"

#include "intarsia/targets/cortex_m/float_exponential.h"

#if INTARSIA_FLOAT_VECTORS
// Of divisors from 1 to 2. A line is within a seventeenth of the reciprocal, and each of Newton's steps squares what is missing; what the
// product with it leaves is divided by another one.
INTARSIA_INLINE float32x4_t quotients(float32x4_t a, float32x4_t b) {
  const float32x4_t one = vdupq_n_f32(1.0f), minus = vnegq_f32(b);
  float32x4_t reciprocal = vaddq_n_f32(vmulq_n_f32(b, -8.0f / 17.0f), 24.0f / 17.0f);
  for (int step = 0; step < 3; ++step)
    reciprocal = vfmaq_f32(reciprocal, reciprocal, vfmaq_f32(one, minus, reciprocal));
  const float32x4_t quotient = vmulq_f32(a, reciprocal);
  return vfmaq_f32(quotient, vfmaq_f32(a, minus, quotient), reciprocal);
}

INTARSIA_INLINE float32x4_t sigmoids(float32x4_t x) {
  const float32x4_t e = intarsia_exponentials_below_zero(vabsq_f32(x));
  return quotients(vpselq_f32(vdupq_n_f32(1.0f), e, vcmpgeq_n_f32(x, 0.0f)), vaddq_n_f32(e, 1.0f));
}

INTARSIA_INLINE float32x4_t tangents(float32x4_t x) {
  const float32x4_t magnitude = vabsq_f32(x), one = vdupq_n_f32(1.0f);
  const float32x4_t e = intarsia_exponentials_below_zero(vmulq_n_f32(magnitude, 2.0f));
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

// Of what is no number Helium says that it is less than anything, but nothing is greater than it.
INTARSIA_INLINE float32x4_t elus(float32x4_t x) {
  const float32x4_t below = vsubq_n_f32(intarsia_exponentials_below_zero(vabsq_f32(x)), 1.0f);
  return vpselq_f32(below, x, vcmpgtq_f32(vdupq_n_f32(0.0f), x));
}

INTARSIA_INLINE float32x4_t gelus_by_tangents(float32x4_t x) {
  const float32x4_t cubic = vaddq_n_f32(vmulq_f32(vmulq_n_f32(x, 0.044715f), x), 1.0f);
  const float32x4_t twice = vmulq_f32(vmulq_n_f32(x, 1.595769122f), cubic);
  return vpselq_f32(vdupq_n_f32(-0.0f), vmulq_f32(x, sigmoids(twice)),
                    vcmpgtq_f32(vdupq_n_f32(-14.0f), x));
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
INTARSIA_INLINE float without_sign(float x) {
  return intarsia_f32_of_bits(intarsia_bits_of_f32(x) & INT32_MAX);
}

INTARSIA_INLINE float sigmoid(float x) {
  const float e = intarsia_exponential_below_zero(without_sign(x));
  const bool negative = (int32_t)intarsia_bits_of_f32(x) < 0;
  return (negative ? e : 1.0f) / (1.0f + e);
}

INTARSIA_INLINE float tangent(float x) {
  const float magnitude = without_sign(x);
  if (magnitude < 0.25f) {
    const float y = x * x;
    return x * (1.0f + y * (-1.0f / 3.0f +
                            y * (2.0f / 15.0f + y * (-17.0f / 315.0f + y * (62.0f / 2835.0f)))));
  }
  float result = 1.0f;
  if (!(magnitude > 10.0f)) {
    const float e = intarsia_exponential_below_zero(2.0f * magnitude);
    result = (1.0f - e) / (1.0f + e);
  }
  return (int32_t)intarsia_bits_of_f32(x) < 0 ? -result : result;
}

INTARSIA_INLINE float elu(float x) {
  return x < 0.0f ? intarsia_exponential_below_zero(-x) - 1.0f : x;
}

INTARSIA_INLINE float gelu_by_tangent(float x) {
  if (x < -14.0f) return -0.0f;
  return x * sigmoid(1.595769122f * x * (1.0f + 0.044715f * x * x));
}

#if defined(__ARM_FP) && (__ARM_ARCH >= 8 || (__ARM_FP & 8))
// Cores that select floats, and in which each step waits for the one before: two at a time, without a branch.
INTARSIA_INLINE float hard_swish(float x) {
  const float above = x + 3.0f, least = above > 0.0f ? above : 0.0f;
  const float product = x * (least < 6.0f ? least : 6.0f);
#if defined(__ARM_FEATURE_FMA) && \
    !(__ARM_FP & 8)  // the Cortex-M7 divides beside other instructions
  const float quotient = product * (1.0f / 6.0f), rest = __builtin_fmaf(quotient, -6.0f, product);
  const float refined = __builtin_fmaf(rest, 1.0f / 6.0f, quotient);
  // Without its sign neither 0 nor beyond infinity.
  const bool is_left = (intarsia_bits_of_f32(rest) << 1) - 1u < UINT32_C(0xff000000);
  return is_left ? refined : quotient;
#else
  return product / 6.0f;
#endif
}
enum { kTogether = 2 };
#else
// A sixth is the product with the reciprocal, and two fused steps make it the quotient that a division rounds to: what the first one
// finds too much, of zeros nothing of either sign, the second one takes away.
INTARSIA_INLINE float sixth_of(float product) {
#ifdef __ARM_FEATURE_FMA
  const float quotient = product * (1.0f / 6.0f);
  const float excess = __builtin_fmaf(quotient, 6.0f, -product);
  return __builtin_fmaf(-excess, 1.0f / 6.0f, quotient);
#else
  return product / 6.0f;
#endif
}

// The gate is from 0 to 6. Positive numbers are in the order of their bits, which takes less time than to compare floats. Few arguments
// are so large that six times them is infinite, of which no excess is a number.
INTARSIA_INLINE float hard_swish(float x) {
  const int32_t bits = (int32_t)intarsia_bits_of_f32(x + 3.0f), six = 0x40c00000;
  const int32_t large = 0x7e000000;
  float gate = 6.0f;
  if (bits < six)
    gate = intarsia_f32_of_bits((uint32_t)(bits & ~(bits >> 31)));
  else if (bits >= large)
    return x * 6.0f / 6.0f;
  return sixth_of(x * gate);
}
enum { kTogether = 1 };
#endif

#define EACH(vectors, function) \
  for (; count > 0; --count) *output++ = function(*input++);
#endif

void intarsia_each_exp_f32(const float *input, float *output, int32_t count) {
  EACH(intarsia_exponentials, intarsia_exponential)
}
void intarsia_each_logistic_f32(const float *input, float *output, int32_t count) {
  EACH(sigmoids, sigmoid)
}
void intarsia_each_tanh_f32(const float *input, float *output, int32_t count) {
  EACH(tangents, tangent)
}
void intarsia_each_elu_f32(const float *input, float *output, int32_t count) {
  EACH(elus, elu)
}
void intarsia_each_gelu_tanh_f32(const float *input, float *output, int32_t count) {
  EACH(gelus_by_tangents, gelu_by_tangent)
}
void intarsia_each_hard_swish_f32(const float *input, float *output, int32_t count) {
#if !INTARSIA_FLOAT_VECTORS
  for (; kTogether == 2 && count >= 2; count -= 2, input += 2, output += 2) {
    const float first = hard_swish(input[0]), second = hard_swish(input[1]);
    output[0] = first, output[1] = second;
  }
#endif
  EACH(hard_swishes, hard_swish)
}
