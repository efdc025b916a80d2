// exp(x) = 2^k * exp(r), |r| <= ln(2) / 2: Cody and Waite's reduction and the Taylor series to r^7.
#include "intarsia/kernels/arithmetic.h"
#include "intarsia/kernels/float_bits.h"

float intarsia_exp_f32(float x) {
  // A comparison of integers takes less time, and few arguments are as large as 87.
  const uint32_t bits = intarsia_bits_of_f32(x);
  const uint32_t sign = bits & UINT32_C(0x80000000);
  if ((bits ^ sign) > UINT32_C(0x42ae0000)) {
    if (x < -87.0f) return 0.0f;
    if (x > 88.72283f) return 3.4028234664e38f;
    if (x != x) return x;
  }
  const float half = intarsia_f32_of_bits(sign | UINT32_C(0x3f000000));
  const int32_t k = (int32_t)(x * 1.44269504089f + half);
  // ln(2) in two parts; the first has few enough bits that k times it is exact.
  const float r = (x - (float)k * 0.693359375f) + (float)k * 2.12194440e-4f;
  float series = 1.0f / 5040.0f;
  series = series * r + 1.0f / 720.0f;
  series = series * r + 1.0f / 120.0f;
  series = series * r + 1.0f / 24.0f;
  series = series * r + 1.0f / 6.0f;
  series = series * r + 0.5f;
  series = (series * r * r + r) + 1.0f;
  // Twice 2^127 where k is 128, which is the power of no float.
  const float power = intarsia_f32_of_bits((uint32_t)(k - (k > 127) + 127) << 23);
  const float result = series * power;
  return k > 127 ? result + result : result;
}
