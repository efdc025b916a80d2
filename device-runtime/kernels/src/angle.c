// The angle of a point.
#include "intarsia/kernels/float_bits.h"
#include "intarsia/kernels/float_functions.h"

static float size_of(float x) {
  return intarsia_f32_of_bits(intarsia_bits_of_f32(x) & UINT32_C(0x7fffffff));
}

// The polynomial of nine odd powers through atan at the Chebyshev nodes of 0 .. 1.
static float near_zero(float z) {
  const float y = z * z;
  return z * (1.0f + y * (-0.333330363f +
                          y * (0.199918717f +
                               y * (-0.141977981f +
                                    y * (0.106183708f +
                                         y * (-0.0745685473f +
                                              y * (0.0421376228f +
                                                   y * (-0.015731249f + y * 0.00276628346f))))))));
}

float intarsia_atan2_f32(float y, float x) {
  if (x != x || y != y) return x + y;
  const float pi = 3.14159265f;
  const float height = size_of(y), width = size_of(x);
  const float least = height < width ? height : width, most = height < width ? width : height;
  // Points on a diagonal have the ratio 1, those of zeros and infinities too.
  float angle = least == most && most != 0.0f ? 0.25f * pi
                : least == 0.0f               ? 0.0f
                                              : near_zero(least / most);
  if (height > width) angle = 0.5f * pi - angle;
  if (intarsia_bits_of_f32(x) >> 31 != 0) angle = pi - angle;
  return intarsia_bits_of_f32(y) >> 31 != 0 ? -angle : angle;
}
