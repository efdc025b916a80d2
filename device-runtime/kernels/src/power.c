// Powers and remainders of floats.
#include "intarsia/kernels/float_bits.h"
#include "intarsia/kernels/float_functions.h"

static float absolute(float x) {
  return x < 0.0f ? -x : x;
}

// mantissa * 2^exponent.
struct number {
  int32_t mantissa, exponent;
};

static int32_t leading_zeros(uint32_t value) {  // of a value above zero
#ifdef __GNUC__
  return __builtin_clz(value);
#else
  int32_t zeros = 0;
  for (int32_t step = 16; step > 0; step /= 2)
    if (((value << zeros) >> (32 - step)) == 0) zeros += step;
  return zeros;
#endif
}

// The upper 31 bits of a value that is not 0, times 2^exponent.
static struct number number_of(int64_t value, int32_t exponent) {
  uint64_t size = value < 0 ? (uint64_t)-value : (uint64_t)value;
  int32_t zeros = 0;  // before the highest bit
  if ((size >> 32) == 0) {
    size <<= 32;
    zeros = 32;
  }
  const uint32_t high = (uint32_t)(size >> 32);
  const int32_t more = leading_zeros(high);
  size <<= more;
  const int32_t mantissa = (int32_t)(size >> 33);
  const struct number made = {value < 0 ? -mantissa : mantissa, exponent + 33 - zeros - more};
  return made;
}

static uint32_t upper_half(uint32_t a, uint32_t b) {
  return (uint32_t)(((uint64_t)a * b) >> 32);
}

static int32_t signed_upper_half(int32_t a, int32_t b) {
  return (int32_t)(((int64_t)a * b) >> 32);
}

// 2 / ln(2) * atanh(s) / s = 2 / ln(2) * (1 + s^2 / 3 + s^4 / 5 + ..), times 2^29; s times 2^32, at most 0.172.
static int32_t logarithm_series(int32_t s) {
  const uint32_t z = (uint32_t)signed_upper_half(s, s);
  uint32_t sum = UINT32_C(390451572);  // 2^32 / 11
  sum = UINT32_C(477218588) + upper_half(z, sum);
  sum = UINT32_C(613566757) + upper_half(z, sum);
  sum = UINT32_C(858993459) + upper_half(z, sum);
  sum = UINT32_C(1431655765) + upper_half(z, sum);
  const uint32_t whole = UINT32_C(0x40000000) + (upper_half(z, sum) >> 2);
  return (int32_t)(((uint64_t)whole * UINT32_C(1549082005)) >> 30);
}

// log2 of x = m * 2^k with the bits of m, which is not 1 where k is 0: with m = 1 + d between the roots of 1/2 and 2 it
// is k + 2 / ln(2) * atanh(d / (2 + d)). Its relative error is below 2^-28, near 1 as well.
static struct number logarithm(uint32_t bits, int32_t k) {
  const int32_t m = (int32_t)((bits & UINT32_C(0x007fffff)) | UINT32_C(0x00800000));
  const int32_t is_large = m > 0xb504f3 ? 1 : 0;
  const int32_t d = (is_large != 0 ? m : 2 * m) - 0x1000000;  // times 2^24
  k += is_large;
  if (d == 0) return number_of(k, 0);
  // The reciprocal of 2 + d, times 2^56: some 15 bits by a division, and a step of Newton's.
  const uint32_t below = (uint32_t)(d + 0x2000000);
  const uint32_t first = UINT32_MAX / ((below + 512u) >> 10);
  const uint64_t correction = (UINT64_C(1) << 43) - (uint64_t)below * first;
  const uint32_t reciprocal = (uint32_t)((first * correction) >> 28);
  const int64_t s = (int64_t)d * (int64_t)reciprocal;  // times 2^56
  const int32_t series = logarithm_series((int32_t)(s >> 24));
  if (k != 0) return number_of((int64_t)k * (INT64_C(1) << 40) + (((s >> 22) * series) >> 23), -40);
  const struct number quotient = number_of(s, -56);
  return number_of((int64_t)quotient.mantissa * series, quotient.exponent - 29);
}

// 2^(power * 2^-40) for what is neither too large nor too small for a float: the whole part by the exponent, the rest by Taylor's
// series.
static float exponential(int64_t power) {
  const int32_t n = (int32_t)((power + (INT64_C(1) << 39)) >> 40);
  const int64_t rest = (power - (int64_t)n * (INT64_C(1) << 40)) >> 8;
  const int32_t r = (int32_t)((rest * INT64_C(2977044472)) >> 32);  // times ln(2); times 2^32
  int32_t e = 213044;                                               // 2^30 / 7!
  e = 1491308 + signed_upper_half(e, r);
  e = 8947849 + signed_upper_half(e, r);
  e = 44739243 + signed_upper_half(e, r);
  e = 178956971 + signed_upper_half(e, r);
  e = 536870912 + signed_upper_half(e, r);
  e = 1073741824 + signed_upper_half(e, r);
  e = 1073741824 + signed_upper_half(e, r);
  // In two steps, so that results below the smallest normal number are met.
  const int32_t half = (n - 30) / 2, others = n - 30 - half;
  return (float)e * intarsia_f32_of_bits((uint32_t)(half + 127) << 23) *
         intarsia_f32_of_bits((uint32_t)(others + 127) << 23);
}

// 2^(y * log2(x)) in integers: single precision would lose the result's bits to the whole part of the logarithm, and double is a
// library's where a core has none.
static float positive_power(float x, float y) {  // x is not 1
  uint32_t bits = intarsia_bits_of_f32(x);
  int32_t k = 0;
  if (bits < UINT32_C(0x00800000)) {  // subnormal
    x *= 8388608.0f;
    bits = intarsia_bits_of_f32(x);
    k = -23;
  }
  const struct number log = logarithm(bits, k + (int32_t)(bits >> 23) - 127);
  bits = intarsia_bits_of_f32(y);
  int32_t exponent = (int32_t)((bits >> 23) & 0xffu);
  int32_t mantissa = (int32_t)(bits & UINT32_C(0x007fffff));
  if (exponent != 0)
    mantissa += 0x00800000;
  else
    exponent = 1;
  if ((bits >> 31) != 0) mantissa = -mantissa;
  const int64_t product = (int64_t)log.mantissa * mantissa;  // at least 2^30
  const int32_t shift = 110 - log.exponent - exponent;       // to 2^-40
  if (shift > 62) return 1.0f;
  const int64_t most = INT64_C(256) << 40;
  // What is 2^8 and more is too large, whatever its sign.
  int64_t power = product < 0 ? -most : most;
  if (shift >= 0)
    power = product >> shift;
  else if (shift >= -17 && (product < 0 ? -product : product) < most >> -shift)
    power = product * (INT64_C(1) << -shift);
  if (power >= INT64_C(129) << 40) return intarsia_f32_of_bits(UINT32_C(0x7f800000));
  if (power <= -(INT64_C(160) << 40)) return 0.0f;
  return exponential(power);
}

float intarsia_pow_f32(float x, float y) {
  const float infinity = intarsia_f32_of_bits(UINT32_C(0x7f800000));
  if (y == 0.0f || x == 1.0f) return 1.0f;
  if (x > 0.0f && x < infinity && absolute(y) < infinity) return positive_power(x, y);
  if (x != x || y != y) return x + y;
  const float size = absolute(x);
  if (absolute(y) == infinity) {
    if (size == 1.0f) return 1.0f;
    return (size > 1.0f) == (y > 0.0f) ? infinity : 0.0f;
  }
  const float half = 0.5f * y;
  const int is_whole = intarsia_floor_f32(y) == y;
  const int is_odd = is_whole && intarsia_floor_f32(half) != half;
  float result;
  if (size == 0.0f)
    result = y > 0.0f ? 0.0f : infinity;
  else if (size == infinity)
    result = y > 0.0f ? infinity : 0.0f;
  else if (x < 0.0f && !is_whole)
    return intarsia_f32_of_bits(UINT32_C(0x7fc00000));
  else if (size == 1.0f)
    result = 1.0f;  // a logarithm of 0 has no highest bit
  else
    result = positive_power(size, y);
  const uint32_t sign = intarsia_bits_of_f32(x);
  return is_odd && (sign >> 31) != 0 ? -result : result;
}

// Subtracts the largest b * 2^k that fits until less than b is left: exact at every step.
float intarsia_floor_mod_f32(float a, float b) {
  const float infinity = intarsia_f32_of_bits(UINT32_C(0x7f800000));
  const float divisor = absolute(b);
  float rest = absolute(a);
  if (!(divisor > 0.0f) || !(rest < infinity)) return intarsia_f32_of_bits(UINT32_C(0x7fc00000));
  while (rest >= divisor) {
    float step = divisor;
    while (step <= rest * 0.5f) step *= 2.0f;
    rest -= step;
  }
  if (a < 0.0f) rest = -rest;
  return rest != 0.0f && (rest < 0.0f) != (b < 0.0f) ? rest + b : rest;
}

int32_t intarsia_floor_div_i32(int32_t a, int32_t b) {
  if (b == 0) return 0;
  if (b == -1) return (int32_t)(0u - (uint32_t)a);
  const int32_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

int32_t intarsia_divide_i32(int32_t a, int32_t b) {
  if (b == 0) return 0;
  return b == -1 ? (int32_t)(0u - (uint32_t)a) : a / b;
}

int32_t intarsia_floor_mod_i32(int32_t a, int32_t b) {
  if (b == 0 || b == -1) return 0;
  const int32_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
