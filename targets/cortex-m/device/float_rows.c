// A row of floats made int8 with a scale of its own: the range is looked for and the steps are counted in the core's instructions; the
// scale and the zero point are those of a row of the two ends.
#include "intarsia/targets/cortex_m/float_steps.h"

#include "intarsia/kernels/quantize_row.h"
#include "intarsia/targets/cortex_m/optimise.h"

#include "intarsia/targets/cortex_m/float_vectors.h"
#include "intarsia/targets/cortex_m/results.h"
#include "intarsia/targets/cortex_m/unfused.h"

#if INTARSIA_FLOAT_VECTORS
// What is not a number counts for neither end.
static void ends_of(const float *input, int32_t count, float ends[2]) {
  float32x4_t low = vdupq_n_f32(0.0f), high = low;
  for (; count >= 4; count -= 4, input += 4) {
    const float32x4_t x = vldrwq_f32(input);
    low = vminnmq_f32(low, x), high = vmaxnmq_f32(high, x);
  }
  if (count > 0) {
    const float32x4_t x = vldrwq_z_f32(input, vctp32q((uint32_t)count));
    low = vminnmq_f32(low, x), high = vmaxnmq_f32(high, x);
  }
  float lows[4], highs[4];
  vstrwq_f32(lows, low), vstrwq_f32(highs, high);
  ends[0] = ends[1] = 0.0f;
  for (int32_t lane = 0; lane < 4; ++lane) {
    if (lows[lane] < ends[0]) ends[0] = lows[lane];
    if (highs[lane] > ends[1]) ends[1] = highs[lane];
  }
}

INTARSIA_INLINE int32x4_t steps_of_row(float32x4_t x, float steps, float offset, int32_t least) {
  const float32x4_t value = vaddq_n_f32(vmulq_n_f32(x, steps), offset);
  const int32x4_t whole = vminq_s32(vcvtaq_s32_f32(value), vdupq_n_s32(127));
  return vpselq_s32(whole, vdupq_n_s32(least), vcmpgtq_n_f32(value, (float)least));
}

static void count_steps(const float *input, int8_t *output, int32_t count, float steps,
                        float offset, int32_t least) {
  for (; count >= 4; count -= 4, input += 4, output += 4)
    vstrbq_s32(output, steps_of_row(vldrwq_f32(input), steps, offset, least));
  if (count > 0) {
    const mve_pred16_t some = vctp32q((uint32_t)count);
    vstrbq_p_s32(output, steps_of_row(vldrwq_z_f32(input, some), steps, offset, least), some);
  }
}

// Halves to the even neighbour. What the two fused steps leave of the product with the reciprocal is the quotient as a division rounds it
// (float_steps.c).
static void count_steps_together(const float *input, int8_t *output, int32_t count, float scale,
                                 int32_t zero) {
  const float reciprocal = 1.0f / scale;
  const float32x4_t least = vdupq_n_f32((float)-(zero + 128) * scale),
                    most = vdupq_n_f32((float)(127 - zero) * scale);
  for (; count > 0; count -= 4, input += 4, output += 4) {
    const mve_pred16_t some = vctp32q((uint32_t)count);
    const float32x4_t value = vminnmq_f32(vmaxnmq_f32(vldrwq_z_f32(input, some), least), most);
    float32x4_t quotient = vmulq_n_f32(value, reciprocal);
    quotient = vfmaq_n_f32(quotient, vfmaq_n_f32(value, quotient, -scale), reciprocal);
    quotient = vfmaq_n_f32(quotient, vfmaq_n_f32(value, quotient, -scale), reciprocal);
    vstrbq_p_s32(output, vaddq_n_s32(vcvtnq_s32_f32(quotient), zero), some);
  }
}
#else
// Bits of floats, as numbers, order those that are not negative; bits of negative ones, without their sign, the other way round. What is
// not a number is beyond infinities and is left out.
static void ends_of(const float *input, int32_t count, float ends[2]) {
  const int32_t infinity = INT32_C(0x7f800000);
  int32_t low = 0, high = 0;
  for (int32_t i = 0; i < count; ++i) {
    const int32_t bits = (int32_t)intarsia_bits_of_f32(input[i]);
    const int32_t magnitude = bits & INT32_MAX;
    if (bits >= 0) {
      if (bits > high && bits <= infinity) high = bits;
    } else if (magnitude > low && magnitude <= infinity) {
      low = magnitude;
    }
  }
  ends[1] = intarsia_f32_of_bits((uint32_t)high);
  ends[0] = 0.0f - intarsia_f32_of_bits((uint32_t)low);
}

// Halves away from zero: the largest number below one half carries from a half on, since the sum of both is rounded up, and not before.
static void count_steps(const float *input, int8_t *output, int32_t count, float steps,
                        float offset, int32_t least) {
  const float bottom = (float)least;
  for (int32_t i = 0; i < count; ++i) {
    const float value = input[i] * steps + offset;
    int32_t whole = least;
    if (value > bottom) {  // nor what is no number
      const uint32_t sign = intarsia_bits_of_f32(value) & UINT32_C(0x80000000);
      const float carry = intarsia_f32_of_bits(sign | UINT32_C(0x3effffff));
      whole = intarsia_min_i32(value < 127.0f ? (int32_t)(value + carry) : 127, 127);
    }
    output[i] = (int8_t)whole;
  }
}

// Halves to the even neighbour, as a sum does that has no bits below whole numbers.
static void count_steps_together(const float *input, int8_t *output, int32_t count, float scale,
                                 int32_t zero) {
  const float whole_numbers = 12582912.0f;  // 1.5 * 2^23
  const float least = (float)-(zero + 128), most = (float)(127 - zero);
  const int32_t none = (int32_t)intarsia_bits_of_f32(whole_numbers);
  for (int32_t i = 0; i < count; ++i) {
    float steps = input[i] / scale;
    if (!(steps > least)) steps = least;  // nor what is no number
    if (steps > most) steps = most;
    const float sum = steps + whole_numbers;
    output[i] = (int8_t)((int32_t)intarsia_bits_of_f32(sum) - none + zero);
  }
}
#endif

void intarsia_row_to_steps(const float *input, int8_t *output, float *scale, int32_t *zero_point,
                           int32_t count) {
  float ends[2];
  int8_t of_ends[2];
  ends_of(input, count, ends);
  intarsia_quantize_row(ends, of_ends, scale, zero_point, 2);
  const float range = -ends[0] > ends[1] ? -ends[0] : ends[1];
  count_steps(input, output, count, range > 0.0f ? 127.0f / range : 0.0f, 0.0f, -127);
}

void intarsia_row_to_steps_asymmetric(const float *input, int8_t *output, float *scale,
                                      int32_t *zero_point, int32_t count) {
  float ends[2];
  int8_t of_ends[2];
  ends_of(input, count, ends);
  intarsia_quantize_row_asymmetric(ends, of_ends, scale, zero_point, 2);
  if (ends[1] > ends[0])
    count_steps(input, output, count, 1.0f / *scale, (float)*zero_point, -128);
  else
    for (int32_t i = 0; i < count; ++i) output[i] = 0;
}

// Quotients and reciprocals of usual scales are ordinary numbers.
void intarsia_rows_to_steps_together(const float *input, int8_t *output, float *scales,
                                     int32_t *zero_points, int32_t rows, int32_t count) {
  const float least = 1e-12f, largest = 1e12f;
  float ends[2];
  int8_t of_ends[2];
  ends_of(input, count, ends);
  intarsia_quantize_rows_together(ends, of_ends, scales, zero_points, rows, 2);
  if (scales[0] >= least && scales[0] <= largest)
    count_steps_together(input, output, count, scales[0], zero_points[0]);
  else
    intarsia_quantize_rows_together(input, output, scales, zero_points, rows, count);
}
