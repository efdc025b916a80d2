// x * min(max(x + 3, 0), 6) / 6 between int16 tensors, in floats of which every step is rounded: what converters leave that have no
// operator of it. A division by a constant is a product with the reciprocal, whose error two fused steps take away; the compiler
// tries that for all 65536 arguments.
#include "intarsia/targets/cortex_m/pool_softmax.h"

#include "intarsia/targets/cortex_m/optimise.h"

#include "intarsia/targets/cortex_m/float_vectors.h"
#include "intarsia/targets/cortex_m/results.h"
#include "intarsia/targets/cortex_m/unfused.h"

#if INTARSIA_FLOAT_VECTORS
INTARSIA_INLINE float32x4_t divided(float32x4_t value, float32x4_t divisor, float reciprocal) {
  const float32x4_t quotient = vmulq_n_f32(value, reciprocal);
  return vfmaq_n_f32(quotient, vfmsq_f32(value, quotient, divisor), reciprocal);
}
#elif defined(__ARM_FEATURE_FMA)
INTARSIA_INLINE float divided(float value, float divisor, float reciprocal) {
  const float quotient = value * reciprocal;
  return __builtin_fmaf(__builtin_fmaf(-quotient, divisor, value), reciprocal, quotient);
}
#else
INTARSIA_INLINE float divided(float value, float divisor, float reciprocal) {
  (void)reciprocal;
  return value / divisor;
}
#endif

#if !INTARSIA_FLOAT_VECTORS
enum { kBeyond = 1 << 15 };  // above all arguments

// The least argument whose gate is six at least: no larger one is to be compared. kBeyond where there is none.
static int32_t first_open(float unit) {
  const float nearly = 3.0f / unit;
  if (nearly >= (float)kBeyond) return kBeyond;
  int32_t argument = (int32_t)nearly;
  while (argument > 0 && (float)(argument - 1) * unit + 3.0f >= 6.0f) --argument;
  while (argument < kBeyond && (float)argument * unit + 3.0f < 6.0f) ++argument;
  return argument;
}

// The largest argument whose gate is zero, below which all results are.
static int32_t last_closed(float unit) {
  const float nearly = 3.0f / unit;
  if (nearly >= (float)kBeyond) return -kBeyond - 1;
  int32_t argument = -(int32_t)nearly;
  while (argument < 0 && (float)(argument + 1) * unit + 3.0f <= 0.0f) ++argument;
  while (argument >= -kBeyond && (float)argument * unit + 3.0f > 0.0f) --argument;
  return argument;
}

// Without a fraction, limited to int16.
INTARSIA_INLINE int16_t whole_of(float steps) {
#if INTARSIA_HAS_ASM && defined(__ARM_FP) && (__ARM_FP & 4)
  int32_t whole;  // of numbers that are too large the largest one there is
  __asm__("vcvt.s32.f32 %1, %1\nvmov %0, %1" : "=r"(whole), "+t"(steps));
  return (int16_t)intarsia_saturate_s16(whole);
#else
  if (steps >= 32767.0f) return INT16_MAX;
  if (steps <= -32768.0f) return INT16_MIN;
  return (int16_t)(int32_t)steps;
#endif
}
#endif

void intarsia_each_hard_swish_s16(const int16_t *input, int16_t *output, int32_t count,
                                  int32_t in_scale, int32_t out_scale, int32_t out_reciprocal) {
  const float unit = intarsia_f32_of_bits((uint32_t)in_scale),
              scale = intarsia_f32_of_bits((uint32_t)out_scale),
              reciprocal = intarsia_f32_of_bits((uint32_t)out_reciprocal), sixth = 1.0f / 6.0f;
#if INTARSIA_FLOAT_VECTORS
  const float32x4_t zero = vdupq_n_f32(0), six = vdupq_n_f32(6), scales = vdupq_n_f32(scale);
  for (; count > 0; count -= 4, input += 4, output += 4) {
    const mve_pred16_t some = vctp32q((uint32_t)count);
    const float32x4_t x = vmulq_n_f32(vcvtq_f32_s32(vldrhq_z_s32(input, some)), unit);
    const float32x4_t gate = vminnmq_f32(vmaxnmq_f32(vaddq_n_f32(x, 3.0f), zero), six);
    const float32x4_t steps = divided(divided(vmulq_f32(x, gate), six, sixth), scales, reciprocal);
    const int32x4_t whole = vcvtaq_s32_f32(steps);  // halves away from zero
    vstrhq_p_s32(output, vmovlbq_s16(vqmovnbq_s32(vdupq_n_s16(0), whole)), some);
  }
#else
  // The largest number below one half: with it halves become whole ones, and what is less than a half stays so.
  const float half = 0.49999997f;
  const int32_t open = first_open(unit), closed = last_closed(unit);
  for (const int16_t *end = input + count; input != end;) {
    const int32_t argument = *input++;
    if (argument <= closed) {
      *output++ = 0;
      continue;
    }
    const float x = (float)argument * unit;
    const float gate = argument >= open ? 6.0f : x + 3.0f;
    const float steps = divided(divided(x * gate, 6.0f, sixth), scale, reciprocal);
    *output++ = whole_of(steps + (argument < 0 ? -half : half));
  }
#endif
}
