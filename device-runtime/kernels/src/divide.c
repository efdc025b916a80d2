#include "intarsia/kernels/divide.h"

#include "intarsia/kernels/arithmetic.h"

// Zero bits above the highest one; 1 <= x <= 65535.
static int32_t leading_zeros(int32_t x) {
  int32_t count = 24;
  if (x > 255) {
    count = 16;
    x >>= 8;
  }
  for (; x < 128; x *= 2) ++count;
  return count;
}

int32_t intarsia_divide_q(int32_t numerator, int32_t denominator, int32_t multiplier,
                          int32_t shift) {
  if (numerator == 0) return 0;
  if (denominator == 0) return numerator > 0 ? 65535 : -65535;
  if (denominator < 0) {
    numerator = -numerator;
    denominator = -denominator;
  }
  // denominator = (1 + fraction) * 2^(31 - zeros)
  const int32_t zeros = leading_zeros(denominator);
  const int32_t fraction = (int32_t)(((uint32_t)denominator << zeros) - (UINT32_C(1) << 31));
  const int32_t reciprocal = intarsia_reciprocal_of_one_plus_q31(fraction);
  // As many bits of the numerator as there is room for. A negative power of two has one more.
  const int32_t room = numerator > 0    ? leading_zeros(numerator) - 1
                       : numerator < -1 ? leading_zeros(-numerator - 1) - 1
                                        : 31;
  const int32_t scaled = (int32_t)((uint32_t)numerator << room);
  const int32_t quotient = intarsia_mul_q31(scaled, reciprocal);
  const int32_t right = room + (31 - zeros) - shift;
  if (right > 31) return 0;
  if (right < 0) return numerator > 0 ? 65535 : -65535;  // the product is 2^29 or more
  return intarsia_shift_right_round(intarsia_mul_q31(quotient, multiplier), right);
}
