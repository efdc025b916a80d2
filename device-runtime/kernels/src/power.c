// Powers and remainders of floats.
#include <string.h>

#include "intarsia/kernels/float_functions.h"

static float from_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static float absolute(float x) {
  return x < 0.0f ? -x : x;
}

// exp(y * log(x)) with both in double precision: a float's logarithm would lose the result's bits to
// its whole part.
static float positive_power(float x, float y) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  int32_t k = 0;
  if (bits < UINT32_C(0x00800000)) {  // subnormal
    x *= 8388608.0f;
    memcpy(&bits, &x, sizeof bits);
    k = -23;
  }
  k += (int32_t)(bits >> 23) - 127;
  double m = (double)from_bits((bits & UINT32_C(0x007fffff)) | UINT32_C(0x3f800000));
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++k;
  }
  const double s = (m - 1.0) / (m + 1.0), z = s * s;
  const double series =
      1.0 + z * (1.0 / 3 + z * (1.0 / 5 + z * (1.0 / 7 + z * (1.0 / 9 + z / 11))));
  const double power = (double)y * ((double)k * 0.69314718055994531 + 2.0 * s * series);
  if (power > 88.722839) return from_bits(UINT32_C(0x7f800000));
  if (power < -103.972084) return 0.0f;
  const double scaled = power * 1.4426950408889634;
  const int32_t n = (int32_t)(scaled < 0.0 ? scaled - 0.5 : scaled + 0.5);
  const double r = power - (double)n * 0.69314718055994531;
  const double e =
      1.0 + r * (1.0 + r * (1.0 / 2 + r * (1.0 / 6 + r * (1.0 / 24 + r * (1.0 / 120 + r / 720)))));
  // In two steps, so that results below the smallest normal number are met.
  const int32_t half = n / 2, rest = n - half;
  const float first = from_bits((uint32_t)(half + 127) << 23),
              second = from_bits((uint32_t)(rest + 127) << 23);
  return (float)(e * (double)first * (double)second);
}

float intarsia_pow_f32(float x, float y) {
  const float infinity = from_bits(UINT32_C(0x7f800000));
  if (y == 0.0f || x == 1.0f) return 1.0f;
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
    return from_bits(UINT32_C(0x7fc00000));
  else
    result = positive_power(size, y);
  uint32_t sign;
  memcpy(&sign, &x, sizeof sign);
  return is_odd && (sign >> 31) != 0 ? -result : result;
}

// Subtracts the largest b * 2^k that fits until less than b is left: exact at every step.
float intarsia_floor_mod_f32(float a, float b) {
  const float infinity = from_bits(UINT32_C(0x7f800000));
  const float divisor = absolute(b);
  float rest = absolute(a);
  if (!(divisor > 0.0f) || !(rest < infinity)) return from_bits(UINT32_C(0x7fc00000));
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
