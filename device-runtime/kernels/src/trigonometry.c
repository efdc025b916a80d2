// sin and cos: the angle modulo pi / 2, then Taylor's series on |r| <= pi / 4.
#include "intarsia/kernels/float_bits.h"
#include "intarsia/kernels/float_functions.h"

// The first 224 bits of 2 / pi behind the binary point.
static const uint32_t two_over_pi[] = {
    UINT32_C(0xa2f9836e), UINT32_C(0x4e441529), UINT32_C(0xfc2757d1), UINT32_C(0xf534ddc0),
    UINT32_C(0xdb629599), UINT32_C(0x3c439041), UINT32_C(0xfe5163ab),
};

static uint32_t word_at(int32_t index) {
  return index < 0 ? 0u : two_over_pi[index];
}

// The 32 bits of 2 / pi from bit `first` >= -64 on; zeros before the point.
static uint32_t bits_from(int32_t first) {
  const int32_t place = first + 64, word = place / 32 - 2;
  const uint64_t two = ((uint64_t)word_at(word) << 32) | word_at(word + 1);
  return (uint32_t)(two >> (32 - place % 32));
}

// |x| = quarter * pi / 2 + *rest with |*rest| <= pi / 4; the quarter modulo 4. The product of the 24
// bits of x and of those 96 bits of 2 / pi that are not whole turns is exact.
static uint32_t quarter_of(float x, float* rest) {
  const uint32_t bits = intarsia_bits_of_f32(x);
  const int32_t exponent = (int32_t)((bits >> 23) & 0xffu) - 150;  // |x| = mantissa * 2^exponent
  const uint32_t mantissa = (bits & UINT32_C(0x007fffff)) | UINT32_C(0x00800000);
  if (exponent < -40) {  // below 2^-17 the angle is its own remainder
    *rest = x < 0.0f ? -x : x;
    return 0;
  }
  // Of mantissa * 2 / pi, what has a weight of 2^2 and more after the exponent is whole turns. The
  // window begins `exponent - 2` bits behind the point, so that its product has the weight 2^2 at bit 96.
  const int32_t first = exponent - 2;
  const uint64_t high = (uint64_t)mantissa * bits_from(first);
  const uint64_t middle = (uint64_t)mantissa * bits_from(first + 32);
  const uint64_t low = (uint64_t)mantissa * bits_from(first + 64);
  // Bits 95 .. 0 of the sum: the two highest are the quarter, the others the fraction of one.
  const uint64_t lower = middle + (low >> 32);
  const uint64_t turns = (high << 32) + lower;
  uint32_t quarter = (uint32_t)(turns >> 62);
  const int64_t fraction = (int64_t)(turns << 2);  // signed: the half nearer to the next quarter
  if (fraction < 0) ++quarter;
  // fraction / 2^64 quarters, times pi / 2.
  *rest = (float)((double)fraction * (1.57079632679489661923 / 18446744073709551616.0));
  return quarter & 3u;
}

static float sine_of(float r) {
  const float y = r * r;
  return r + r * y * (-1.0f / 6.0f + y * (1.0f / 120.0f + y * (-1.0f / 5040.0f + y / 362880.0f)));
}

static float cosine_of(float r) {
  const float y = r * r;
  return 1.0f + y * (-0.5f + y * (1.0f / 24.0f + y * (-1.0f / 720.0f + y / 40320.0f)));
}

static float sine_of_quarter(uint32_t quarter, float rest) {
  const float value = (quarter & 1u) != 0 ? cosine_of(rest) : sine_of(rest);
  return (quarter & 2u) != 0 ? -value : value;
}

float intarsia_sin_f32(float x) {
  if (!(x - x == 0.0f)) return x - x;  // not-a-number of infinities
  float rest;
  const uint32_t quarter = quarter_of(x, &rest);
  const float value = sine_of_quarter(quarter, rest);
  return x < 0.0f ? -value : value;
}

float intarsia_cos_f32(float x) {
  if (!(x - x == 0.0f)) return x - x;
  float rest;
  const uint32_t quarter = quarter_of(x, &rest);
  return sine_of_quarter(quarter + 1u, rest);
}
