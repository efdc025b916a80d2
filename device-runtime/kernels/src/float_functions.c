#include "intarsia/kernels/float_functions.h"

#include "intarsia/kernels/float_bits.h"

float intarsia_logistic_f32(float x) {
  if (x >= 0.0f) return 1.0f / (1.0f + intarsia_exp_f32(-x));
  const float e = intarsia_exp_f32(x);
  return e / (1.0f + e);
}

// Near 0 the quotient of exponentials loses its bits: there the odd series.
float intarsia_tanh_f32(float x) {
  const float magnitude = x < 0.0f ? -x : x;
  if (magnitude < 0.25f) {
    const float y = x * x;
    return x * (1.0f + y * (-1.0f / 3.0f +
                            y * (2.0f / 15.0f + y * (-17.0f / 315.0f + y * (62.0f / 2835.0f)))));
  }
  if (magnitude > 10.0f) return x < 0.0f ? -1.0f : 1.0f;
  const float e = intarsia_exp_f32(-2.0f * magnitude);
  const float result = (1.0f - e) / (1.0f + e);
  return x < 0.0f ? -result : result;
}

// x = m * 2^k with m near 1: k * ln 2 + 2 atanh((m - 1) / (m + 1)).
float intarsia_log_f32(float x) {
  if (!(x > 0.0f))
    return intarsia_f32_of_bits(x == 0.0f ? UINT32_C(0xff800000) : UINT32_C(0x7fc00000));
  int32_t k = 0;
  if (x < 1.17549435e-38f) {  // subnormal
    x *= 8388608.0f;
    k = -23;
  }
  uint32_t bits = intarsia_bits_of_f32(x);
  if (bits >= UINT32_C(0x7f800000)) return x;
  k += (int32_t)(bits >> 23) - 127;
  bits = (bits & UINT32_C(0x007fffff)) | UINT32_C(0x3f800000);
  float m = intarsia_f32_of_bits(bits);
  if (m > 1.41421356f) {
    m *= 0.5f;
    ++k;
  }
  const float s = (m - 1.0f) / (m + 1.0f), y = s * s;
  const float series =
      2.0f * s * (1.0f + y * (1.0f / 3.0f + y * (1.0f / 5.0f + y * (1.0f / 7.0f + y / 9.0f))));
  return (float)k * 0.69314718056f + series;
}

// From halving the exponent, by Newton's iteration.
float intarsia_sqrt_f32(float x) {
  if (x == 0.0f) return x;
  if (!(x > 0.0f)) return intarsia_f32_of_bits(UINT32_C(0x7fc00000));
  if (intarsia_bits_of_f32(x) >= UINT32_C(0x7f800000)) return x;
  float scale = 1.0f;
  if (x < 1.17549435e-38f) {  // subnormal
    x *= 16777216.0f;
    scale = 1.0f / 4096.0f;
  }
  float y = intarsia_f32_of_bits((intarsia_bits_of_f32(x) >> 1) + UINT32_C(0x1fbd1df5));
  for (int i = 0; i < 4; ++i) y = 0.5f * (y + x / y);
  return y * scale;
}

float intarsia_floor_f32(float x) {
  // From 2^23 on whole already, or not a number. A comparison of integers takes less time than two of floats.
  if ((intarsia_bits_of_f32(x) & UINT32_C(0x7fffffff)) >= UINT32_C(0x4b000000)) return x;
  const float whole = (float)(int32_t)x;
  return whole > x ? whole - 1.0f : whole;
}

float intarsia_ceil_f32(float x) {
  return -intarsia_floor_f32(-x);
}

// Among numbers from 2^23 on, which have no fractions, the sum is the nearest one, halves to even: the rounding of the addition itself.
// A compiler that may reorder sums would leave it out.
float intarsia_round_even_f32(float x) {
#ifdef __FAST_MATH__
  const float below = intarsia_floor_f32(x), difference = x - below;
  if (!(below > -8388608.0f && below < 8388608.0f)) return below;
  const int32_t whole = (int32_t)below;
  const int up = difference > 0.5f || (difference == 0.5f && (whole & 1) != 0);
  return up ? below + 1.0f : below;
#else
  const uint32_t bits = intarsia_bits_of_f32(x), sign = bits & UINT32_C(0x80000000);
  if ((bits ^ sign) >= UINT32_C(0x4b000000)) return x;  // whole already, or not a number
  const float whole = intarsia_f32_of_bits(sign | UINT32_C(0x4b000000));
  return (x + whole) - whole;
#endif
}

int32_t intarsia_truncate_f32(float x) {
  if ((intarsia_bits_of_f32(x) & UINT32_C(0x7fffffff)) < UINT32_C(0x4f000000))
    return (int32_t)x;  // below 2^31
  if (x != x) return 0;
  return x < 0.0f ? INT32_MIN : INT32_MAX;
}
