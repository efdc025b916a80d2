// Exponentials in single precision as intarsia_exp_f32 has them (intarsia/kernels): each step of it, in its order, four at a time with Helium,
// and without one by one where a compiler keeps the series' numbers in registers for a whole row. Included behind optimise.h.
#ifndef INTARSIA_CORTEX_M_FLOAT_EXPONENTIAL_H_
#define INTARSIA_CORTEX_M_FLOAT_EXPONENTIAL_H_

#include "intarsia/kernels/arithmetic.h"
#include "intarsia/targets/cortex_m/float_vectors.h"
#include "intarsia/targets/cortex_m/results.h"
#include "intarsia/targets/cortex_m/unfused.h"

#if INTARSIA_FLOAT_VECTORS
INTARSIA_INLINE float32x4_t intarsia_powers_of_two(int32x4_t power) {
  return vreinterpretq_f32_s32(vshlq_n_s32(vaddq_n_s32(power, 127), 23));
}
INTARSIA_INLINE float32x4_t intarsia_exponential_series(float32x4_t r) {
  float32x4_t series = vaddq_n_f32(vmulq_n_f32(r, 1.0f / 5040.0f), 1.0f / 720.0f);
  series = vaddq_n_f32(vmulq_f32(series, r), 1.0f / 120.0f);
  series = vaddq_n_f32(vmulq_f32(series, r), 1.0f / 24.0f);
  series = vaddq_n_f32(vmulq_f32(series, r), 1.0f / 6.0f);
  series = vaddq_n_f32(vmulq_f32(series, r), 0.5f);
  return vaddq_n_f32(vaddq_f32(vmulq_f32(vmulq_f32(series, r), r), r), 1.0f);
}

INTARSIA_INLINE float32x4_t intarsia_exponentials(float32x4_t x) {
  const float32x4_t scaled = vmulq_n_f32(x, 1.44269504089f);
  // One half with the number's sign.
  const uint32x4_t half =
      vorrq_u32(vandq_u32(vreinterpretq_u32_f32(scaled), vdupq_n_u32(UINT32_C(0x80000000))),
                vdupq_n_u32(UINT32_C(0x3f000000)));
  const int32x4_t power = vcvtq_s32_f32(vaddq_f32(scaled, vreinterpretq_f32_u32(half)));
  const float32x4_t k = vcvtq_f32_s32(power);
  const float32x4_t r =
      vaddq_f32(vsubq_f32(x, vmulq_n_f32(k, 0.693359375f)), vmulq_n_f32(k, 2.12194440e-4f));
  // Twice 2^127 where the power is 128, which is that of no float.
  float32x4_t result = vmulq_f32(intarsia_exponential_series(r),
                                 intarsia_powers_of_two(vminq_s32(power, vdupq_n_s32(127))));
  result = vpselq_f32(vaddq_f32(result, result), result, vcmpgtq_n_s32(power, 127));
  // Of what is no number Helium says that it is less than anything, but nothing is greater than it.
  result = vpselq_f32(vdupq_n_f32(0.0f), result, vcmpgtq_f32(vdupq_n_f32(-87.0f), x));
  return vpselq_f32(vdupq_n_f32(3.4028234664e38f), result, vcmpgtq_n_f32(x, 88.72283f));
}

// The same of -magnitude, which has fewer edges.
INTARSIA_INLINE float32x4_t intarsia_exponentials_below_zero(float32x4_t magnitude) {
  const int32x4_t power = vcvtq_s32_f32(vsubq_n_f32(vmulq_n_f32(magnitude, -1.44269504089f), 0.5f));
  const float32x4_t k = vcvtq_f32_s32(power);
  const float32x4_t r =
      vsubq_f32(vmulq_n_f32(k, 2.12194440e-4f), vaddq_f32(magnitude, vmulq_n_f32(k, 0.693359375f)));
  const float32x4_t result =
      vmulq_f32(intarsia_exponential_series(r), intarsia_powers_of_two(power));
  return vpselq_f32(vdupq_n_f32(0.0f), result, vcmpgtq_n_f32(magnitude, 87.0f));
}
#else
// Of x = power * ln(2) + r.
INTARSIA_INLINE float intarsia_exponential_of_parts(float r, int32_t power) {
  float series = 1.0f / 5040.0f;
  series = series * r + 1.0f / 720.0f;
  series = series * r + 1.0f / 120.0f;
  series = series * r + 1.0f / 24.0f;
  series = series * r + 1.0f / 6.0f;
  series = series * r + 0.5f;
  series = (series * r * r + r) + 1.0f;
  return series * intarsia_f32_of_bits((uint32_t)(power + 127) << 23);
}

// Few arguments are as large as 87, or no numbers: those are not worth code here.
INTARSIA_INLINE float intarsia_exponential(float x) {
  const uint32_t bits = intarsia_bits_of_f32(x), sign = bits & UINT32_C(0x80000000);
  if ((bits ^ sign) > UINT32_C(0x42ae0000)) return intarsia_exp_f32(x);
  const float half = intarsia_f32_of_bits(sign | UINT32_C(0x3f000000));
  const int32_t power = (int32_t)(x * 1.44269504089f + half);
  const float k = (float)power;
  return intarsia_exponential_of_parts((x - k * 0.693359375f) + k * 2.12194440e-4f, power);
}

// The same of -magnitude, without a call, so that the numbers stay in registers.
INTARSIA_INLINE float intarsia_exponential_below_zero(float magnitude) {
  const uint32_t bits = intarsia_bits_of_f32(magnitude), infinity = UINT32_C(0x7f800000);
  if (bits > UINT32_C(0x42ae0000)) return bits > infinity ? magnitude : 0.0f;
  const int32_t power = (int32_t)(magnitude * -1.44269504089f - 0.5f);
  const float k = (float)power;
  return intarsia_exponential_of_parts(k * 2.12194440e-4f - (magnitude + k * 0.693359375f), power);
}
#endif

#endif  // INTARSIA_CORTEX_M_FLOAT_EXPONENTIAL_H_
