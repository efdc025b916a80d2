// Numbers of single precision in steps of a scale, and back. Helium divides by the product with the reciprocal, whose error two fused
// steps take away: the first one leaves less than the last bit's distance, the second one rounds as a division does, since the
// reciprocal is the nearest number to its own value (Markstein). Numbers are limited before, so that none is infinite.
#include "intarsia/targets/cortex_m/float_steps.h"

#include "intarsia/targets/cortex_m/optimise.h"

#include "intarsia/targets/cortex_m/float_vectors.h"
#include "intarsia/targets/cortex_m/results.h"
#include "intarsia/targets/cortex_m/unfused.h"

// Conversions that round halves away from zero, and limits that take a number before what is none: of Armv8-M, and of the Cortex-M7,
// which is told by its doubles. Compilers do not say it of these.
#if INTARSIA_HAS_ASM && defined(__arm__) && !defined(__SOFTFP__) && defined(__ARM_FP) && \
    (__ARM_FP & 4) && (__ARM_ARCH >= 8 || (__ARM_FP & 8))
#define ROUNDS_FROM_ZERO 1
#else
#define ROUNDS_FROM_ZERO 0
#endif

struct steps {
  float scale, reciprocal;
  float least, most;  // numbers whose results are the limits
  int32_t zero_point, low, high;
};

INTARSIA_INLINE struct steps steps_of(int32_t scale, int32_t reciprocal, int32_t zero_point,
                                      int32_t low, int32_t high) {
  struct steps s = {intarsia_f32_of_bits((uint32_t)scale),
                    intarsia_f32_of_bits((uint32_t)reciprocal),
                    0,
                    0,
                    zero_point,
                    low,
                    high};
  s.least = (float)(low - zero_point) * s.scale, s.most = (float)(high - zero_point) * s.scale;
  return s;
}

#if INTARSIA_FLOAT_VECTORS
// Limits are less than a step's half from where results reach them, so that none has to be limited again; what is no number is the least.
INTARSIA_INLINE int32x4_t four_steps(float32x4_t value, const struct steps *s) {
  value = vminnmq_f32(vmaxnmq_f32(value, vdupq_n_f32(s->least)), vdupq_n_f32(s->most));
  float32x4_t quotient = vmulq_n_f32(value, s->reciprocal);
  quotient = vfmaq_n_f32(quotient, vfmaq_n_f32(value, quotient, -s->scale), s->reciprocal);
  quotient = vfmaq_n_f32(quotient, vfmaq_n_f32(value, quotient, -s->scale), s->reciprocal);
  return vaddq_n_s32(vcvtaq_s32_f32(quotient), s->zero_point);  // halves away from zero
}

// The same of two vectors at a time, since each step of one waits for the one before; a compiler puts them behind each other. Results by
// two stores of four elements.
#define EIGHTS_OF_STEPS(input, output, groups, s, first_store, second_store)          \
  {                                                                                   \
    register int32_t times __asm__("lr") = groups;                                    \
    __asm__ volatile(                                                                 \
        "vdup.32 q6, %[least]\n"                                                      \
        "vdup.32 q7, %[most]\n"                                                       \
        "dls lr, lr\n"                                                                \
        "1: vldrw.32 q0, [%[in]], #32\n"                                              \
        "vmaxnm.f32 q0, q0, q6\n"                                                     \
        "vldrw.32 q1, [%[in], #-16]\n"                                                \
        "vmaxnm.f32 q1, q1, q6\n"                                                     \
        "vminnm.f32 q0, q0, q7\n"                                                     \
        "vminnm.f32 q1, q1, q7\n"                                                     \
        "vmul.f32 q2, q0, %[reciprocal]\n"                                            \
        "vmov q4, q0\n"                                                               \
        "vmul.f32 q3, q1, %[reciprocal]\n"                                            \
        "vmov q5, q1\n"                                                               \
        "vfma.f32 q4, q2, %[minus]\n"                                                 \
        "vfma.f32 q5, q3, %[minus]\n"                                                 \
        "vfma.f32 q2, q4, %[reciprocal]\n"                                            \
        "vfma.f32 q3, q5, %[reciprocal]\n"                                            \
        "vfma.f32 q0, q2, %[minus]\n"                                                 \
        "vfma.f32 q1, q3, %[minus]\n"                                                 \
        "vfma.f32 q2, q0, %[reciprocal]\n"                                            \
        "vfma.f32 q3, q1, %[reciprocal]\n"                                            \
        "vcvta.s32.f32 q2, q2\n"                                                      \
        "vcvta.s32.f32 q3, q3\n"                                                      \
        "vadd.i32 q2, q2, %[zero]\n"                                                  \
        "vadd.i32 q3, q3, %[zero]\n" first_store second_store "le lr, 1b\n"           \
        : [in] "+r"(input), [out] "+r"(output), [times] "+r"(times)                   \
        : [least] "r"(intarsia_bits_of_f32((s)->least)),                              \
          [most] "r"(intarsia_bits_of_f32((s)->most)),                                \
          [reciprocal] "r"(intarsia_bits_of_f32((s)->reciprocal)),                    \
          [minus] "r"(intarsia_bits_of_f32(-(s)->scale)), [zero] "r"((s)->zero_point) \
        : "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "memory");                  \
  }
INTARSIA_INLINE float32x4_t four_numbers(int32x4_t steps, int32_t zero_point, float unit) {
  return vmulq_n_f32(vcvtq_f32_s32(vsubq_n_s32(steps, zero_point)), unit);
}
#elif ROUNDS_FROM_ZERO
// As vectors do, two elements at a time: a division keeps these cores from others for as long as it takes.
INTARSIA_INLINE void two_steps(float a, float b, const struct steps *s, int32_t *results) {
  float a_quotient, a_rest, b_quotient, b_rest;
  __asm__(
      "vmaxnm.f32 %[a], %[a], %[least]\n"
      "vmaxnm.f32 %[b], %[b], %[least]\n"
      "vminnm.f32 %[a], %[a], %[most]\n"
      "vminnm.f32 %[b], %[b], %[most]\n"
      "vmul.f32 %[qa], %[a], %[reciprocal]\n"
      "vmov.f32 %[ra], %[a]\n"
      "vmul.f32 %[qb], %[b], %[reciprocal]\n"
      "vmov.f32 %[rb], %[b]\n"
      "vfms.f32 %[ra], %[qa], %[scale]\n"
      "vfms.f32 %[rb], %[qb], %[scale]\n"
      "vfma.f32 %[qa], %[ra], %[reciprocal]\n"
      "vfma.f32 %[qb], %[rb], %[reciprocal]\n"
      "vfms.f32 %[a], %[qa], %[scale]\n"
      "vfms.f32 %[b], %[qb], %[scale]\n"
      "vfma.f32 %[qa], %[a], %[reciprocal]\n"
      "vfma.f32 %[qb], %[b], %[reciprocal]\n"
      "vcvta.s32.f32 %[qa], %[qa]\n"
      "vcvta.s32.f32 %[qb], %[qb]\n"
      : [a] "+t"(a), [b] "+t"(b), [qa] "=&t"(a_quotient), [ra] "=&t"(a_rest),
        [qb] "=&t"(b_quotient), [rb] "=&t"(b_rest)
      : [least] "t"(s->least), [most] "t"(s->most), [scale] "t"(s->scale),
        [reciprocal] "t"(s->reciprocal));
  results[0] = (int32_t)intarsia_bits_of_f32(a_quotient) + s->zero_point;
  results[1] = (int32_t)intarsia_bits_of_f32(b_quotient) + s->zero_point;
}
#else
// With the largest number below one half, of the number's sign, halves become whole ones and what is less than a half stays so.
INTARSIA_INLINE int32_t one_step(float value, const struct steps *s) {
  if (!(value > s->least)) return s->low;
  if (value >= s->most) return s->high;
  const float almost_half = intarsia_f32_of_bits(
      (intarsia_bits_of_f32(value) & UINT32_C(0x80000000)) | UINT32_C(0x3effffff));
  return (int32_t)(value / s->scale + almost_half) + s->zero_point;
}
#endif

void intarsia_quantize_f32_s16(const float *input, int16_t *output, int32_t count, int32_t scale,
                               int32_t reciprocal, int32_t zero_point) {
  const struct steps s = steps_of(scale, reciprocal, zero_point, INT16_MIN, INT16_MAX);
#if INTARSIA_FLOAT_VECTORS
  if (count >= 8)
    EIGHTS_OF_STEPS(input, output, count / 8, &s, "vstrh.32 q2, [%[out]], #16\n",
                    "vstrh.32 q3, [%[out], #-8]\n")
  for (count %= 8; count > 0; count -= 4, input += 4, output += 4) {
    const mve_pred16_t some = vctp32q((uint32_t)count);
    vstrhq_p_s32(output, four_steps(vldrwq_z_f32(input, some), &s), some);
  }
#elif ROUNDS_FROM_ZERO
  for (int32_t i = 0; i < count; i += 2) {
    const int32_t last = i + 1 < count ? i + 1 : i;
    int32_t results[2];
    two_steps(input[i], input[last], &s, results);
    output[i] = (int16_t)results[0], output[last] = (int16_t)results[1];
  }
#else
  for (; count > 0; --count) *output++ = (int16_t)one_step(*input++, &s);
#endif
}

void intarsia_quantize_f32_s8(const float *input, int8_t *output, int32_t count, int32_t scale,
                              int32_t reciprocal, int32_t zero_point) {
  const struct steps s = steps_of(scale, reciprocal, zero_point, INT8_MIN, INT8_MAX);
#if INTARSIA_FLOAT_VECTORS
  if (count >= 8)
    EIGHTS_OF_STEPS(input, output, count / 8, &s, "vstrb.32 q2, [%[out]], #8\n",
                    "vstrb.32 q3, [%[out], #-4]\n")
  for (count %= 8; count > 0; count -= 4, input += 4, output += 4) {
    const mve_pred16_t some = vctp32q((uint32_t)count);
    vstrbq_p_s32(output, four_steps(vldrwq_z_f32(input, some), &s), some);
  }
#elif ROUNDS_FROM_ZERO
  for (int32_t i = 0; i < count; i += 2) {
    const int32_t last = i + 1 < count ? i + 1 : i;
    int32_t results[2];
    two_steps(input[i], input[last], &s, results);
    output[i] = (int8_t)results[0], output[last] = (int8_t)results[1];
  }
#else
  for (; count > 0; --count) *output++ = (int8_t)one_step(*input++, &s);
#endif
}

void intarsia_dequantize_s16_f32(const int16_t *input, float *output, int32_t count, int32_t scale,
                                 int32_t zero_point) {
  const float unit = intarsia_f32_of_bits((uint32_t)scale);
#if INTARSIA_FLOAT_VECTORS
  for (; count >= 4; count -= 4, input += 4, output += 4)
    vstrwq_f32(output, four_numbers(vldrhq_s32(input), zero_point, unit));
  if (count <= 0) return;
  const mve_pred16_t some = vctp32q((uint32_t)count);
  vstrwq_p_f32(output, four_numbers(vldrhq_z_s32(input, some), zero_point, unit), some);
#else
  for (; count > 0; --count) *output++ = (float)(*input++ - zero_point) * unit;
#endif
}

void intarsia_dequantize_s8_f32(const int8_t *input, float *output, int32_t count, int32_t scale,
                                int32_t zero_point) {
  const float unit = intarsia_f32_of_bits((uint32_t)scale);
#if INTARSIA_FLOAT_VECTORS
  for (; count >= 4; count -= 4, input += 4, output += 4)
    vstrwq_f32(output, four_numbers(vldrbq_s32(input), zero_point, unit));
  if (count <= 0) return;
  const mve_pred16_t some = vctp32q((uint32_t)count);
  vstrwq_p_f32(output, four_numbers(vldrbq_z_s32(input, some), zero_point, unit), some);
#else
  for (; count > 0; --count) *output++ = (float)(*input++ - zero_point) * unit;
#endif
}
