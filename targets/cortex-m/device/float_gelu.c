// GELU in single precision by the error function, four elements at a time with Helium: both series that the scalar function has one of.
#include "intarsia/targets/cortex_m/float_curves.h"

#include "intarsia/targets/cortex_m/optimise.h"

#include "intarsia/targets/cortex_m/float_exponential.h"

#if INTARSIA_FLOAT_VECTORS
// Of divisors from 1 to 6. The number whose bits are so much less than a constant is within an eighth of the reciprocal.
INTARSIA_INLINE float32x4_t reciprocals(float32x4_t b) {
  const float32x4_t one = vdupq_n_f32(1.0f), minus = vnegq_f32(b);
  const uint32x4_t bits = vsubq_u32(vdupq_n_u32(UINT32_C(0x7ef311c3)), vreinterpretq_u32_f32(b));
  float32x4_t reciprocal = vreinterpretq_f32_u32(bits);
  for (int step = 0; step < 4; ++step)
    reciprocal = vfmaq_f32(reciprocal, reciprocal, vfmaq_f32(one, minus, reciprocal));
  return reciprocal;
}

// The series of error_function.c (intarsia/kernels), in fused steps.
INTARSIA_INLINE float32x4_t near_zero(float32x4_t square) {
  float32x4_t sum = vdupq_n_f32(-1.636584471e-7f);
  sum = vfmasq_n_f32(sum, square, 1.646211437e-6f);
  sum = vfmasq_n_f32(sum, square, -1.492565036e-5f);
  sum = vfmasq_n_f32(sum, square, 0.0001205533226f);
  sum = vfmasq_n_f32(sum, square, -0.0008548327023f);
  sum = vfmasq_n_f32(sum, square, 0.005223977625f);
  sum = vfmasq_n_f32(sum, square, -0.02686617064f);
  sum = vfmasq_n_f32(sum, square, 0.1128379167f);
  sum = vfmasq_n_f32(sum, square, -0.3761263890f);
  return vfmasq_n_f32(sum, square, 1.128379167f);
}
INTARSIA_INLINE float32x4_t scaled_complement(float32x4_t t) {
  float32x4_t sum = vdupq_n_f32(0.08537092265f);
  sum = vfmasq_n_f32(sum, t, -0.3603059082f);
  sum = vfmasq_n_f32(sum, t, 0.4104816368f);
  sum = vfmasq_n_f32(sum, t, 0.01153085328f);
  sum = vfmasq_n_f32(sum, t, 0.2965558715f);
  sum = vfmasq_n_f32(sum, t, 0.2731584377f);
  sum = vfmasq_n_f32(sum, t, 0.2829754333f);
  return vfmasq_n_f32(sum, t, -3.653625248e-5f);
}

// Both of them for all lanes.
INTARSIA_INLINE float32x4_t gelus(float32x4_t x) {
  const float32x4_t one = vdupq_n_f32(1.0f), z = vmulq_n_f32(x, 0.70710678f);
  const float32x4_t magnitude = vminnmq_f32(vabsq_f32(z), vdupq_n_f32(10.0f));
  const float32x4_t square = vmulq_f32(magnitude, magnitude);
  const float32x4_t near = vsubq_f32(one, vmulq_f32(magnitude, near_zero(square)));
  const float32x4_t t = reciprocals(vaddq_n_f32(vmulq_n_f32(magnitude, 0.5f), 1.0f));
  const float32x4_t far = vmulq_f32(intarsia_exponentials_below_zero(square), scaled_complement(t));
  const float32x4_t complement = vpselq_f32(far, near, vcmpgeq_n_f32(magnitude, 1.0f));
  const float32x4_t below = vpselq_f32(complement, vsubq_f32(vdupq_n_f32(2.0f), complement),
                                       vcmpgtq_f32(vdupq_n_f32(0.0f), z));
  // Minus infinity times zero is no number.
  return vpselq_f32(vdupq_n_f32(-0.0f), vmulq_f32(vmulq_n_f32(x, 0.5f), below),
                    vcmpgtq_f32(vdupq_n_f32(-14.0f), x));
}

void intarsia_each_gelu_f32(const float *input, float *output, int32_t count) {
  for (; count > 0; count -= 4, input += 4, output += 4) {
    const mve_pred16_t some = vctp32q((uint32_t)count);
    vstrwq_p_f32(output, gelus(vldrwq_z_f32(input, some)), some);
  }
}
#else
#include "intarsia/kernels/float_functions.h"

void intarsia_each_gelu_f32(const float *input, float *output, int32_t count) {
  for (; count > 0; --count) *output++ = intarsia_gelu_f32(*input++);
}
#endif
