// Sums, differences and products in single precision, element by element: four at a time. All of the four are read before any is written.
#include "intarsia/targets/cortex_m/float_steps.h"

#include "intarsia/targets/cortex_m/optimise.h"

#include "intarsia/targets/cortex_m/float_vectors.h"
#include "intarsia/targets/cortex_m/results.h"

#if INTARSIA_FLOAT_VECTORS
// What is not a number stays.
INTARSIA_INLINE float32x4_t within(float32x4_t value, float low, float high) {
  value = vpselq_f32(vdupq_n_f32(low), value, vcmpltq_n_f32(value, low));
  return vpselq_f32(vdupq_n_f32(high), value, vcmpgtq_n_f32(value, high));
}

#define EACH(vector, scalar)                                                         \
  const float least = intarsia_f32_of_bits((uint32_t)low),                           \
              most = intarsia_f32_of_bits((uint32_t)high);                           \
  if (least == -INFINITY_F && most == INFINITY_F) {                                  \
    for (; count >= 4; count -= 4, a += 4, b += 4, output += 4)                      \
      vstrwq_f32(output, vector(vldrwq_f32(a), vldrwq_f32(b)));                      \
  } else {                                                                           \
    for (; count >= 4; count -= 4, a += 4, b += 4, output += 4)                      \
      vstrwq_f32(output, within(vector(vldrwq_f32(a), vldrwq_f32(b)), least, most)); \
  }                                                                                  \
  if (count > 0) {                                                                   \
    const mve_pred16_t some = vctp32q((uint32_t)count);                              \
    const float32x4_t last = vector(vldrwq_z_f32(a, some), vldrwq_z_f32(b, some));   \
    vstrwq_p_f32(output, within(last, least, most), some);                           \
  }
#else
INTARSIA_INLINE float within(float value, float low, float high) {
  if (value < low) value = low;
  return value > high ? high : value;
}

#define EACH(vector, scalar)                                                           \
  const float least = intarsia_f32_of_bits((uint32_t)low),                             \
              most = intarsia_f32_of_bits((uint32_t)high);                             \
  if (least == -INFINITY_F && most == INFINITY_F)                                      \
    for (; count >= 4; count -= 4, a += 4, b += 4, output += 4) {                      \
      const float x0 = a[0] scalar b[0], x1 = a[1] scalar b[1], x2 = a[2] scalar b[2], \
                  x3 = a[3] scalar b[3];                                               \
      output[0] = x0, output[1] = x1, output[2] = x2, output[3] = x3;                  \
    }                                                                                  \
  for (; count > 0; --count) *output++ = within(*a++ scalar * b++, least, most);
#endif
#define INFINITY_F __builtin_inff()

void intarsia_each_sum_f32(const float *a, const float *b, float *output, int32_t count,
                           int32_t low, int32_t high) {
  EACH(vaddq_f32, +)
}
void intarsia_each_difference_f32(const float *a, const float *b, float *output, int32_t count,
                                  int32_t low, int32_t high) {
  EACH(vsubq_f32, -)
}
void intarsia_each_product_f32(const float *a, const float *b, float *output, int32_t count,
                               int32_t low, int32_t high) {
  EACH(vmulq_f32, *)
}
