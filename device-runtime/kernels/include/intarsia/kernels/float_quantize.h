// From float to quantised integer, without a maths library.
#ifndef INTARSIA_KERNELS_FLOAT_QUANTIZE_H_
#define INTARSIA_KERNELS_FLOAT_QUANTIZE_H_

#include <stdint.h>

// value / scale to the nearest integer, halves away from zero, plus zero_point, limited to
// [low, high]. scale > 0; zero_point, low and high within +-65536. Infinities are limited like any
// large number; not-a-number gives low.
static inline int32_t intarsia_quantize_f32(float value, float scale, int32_t zero_point,
                                            int32_t low, int32_t high) {
  const float real = value / scale;
  // Beyond this every result is at a limit; within it the conversion to integer is defined.
  const float reach = 262144.0f;
  if (!(real > -reach)) return low;
  if (real > reach) return high;
  const int32_t whole = (int32_t)real;
  const float fraction = real - (float)whole;  // exact
  const int32_t step = (fraction >= 0.5f) - (fraction <= -0.5f);
  const int32_t result = whole + step + zero_point;
  return result < low ? low : (result > high ? high : result);
}

#endif  // INTARSIA_KERNELS_FLOAT_QUANTIZE_H_
