// 1 / (1 + x) by three Newton-Raphson steps on d = (1 + x) / 2 from the line 48/17 - 32/17 d.
#include "intarsia/kernels/arithmetic.h"

static int32_t shift_left_saturate(int32_t value, int bits) {
  const int64_t wide = (int64_t)value * (1 << bits);
  if (wide > INT32_MAX) return INT32_MAX;
  if (wide < INT32_MIN) return INT32_MIN;
  return (int32_t)wide;
}

int32_t intarsia_reciprocal_of_one_plus_q31(int32_t x) {
  const int32_t one_q2 = 1 << 29;
  const int32_t d = (int32_t)(((int64_t)x + INT32_MAX + 1) / 2);
  int32_t r = 1515870810 + intarsia_mul_q31(d, -1010580540);  // Q2.29
  for (int step = 0; step < 3; ++step) {
    const int32_t error = one_q2 - intarsia_mul_q31(d, r);
    r += shift_left_saturate(intarsia_mul_q31(r, error), 2);
  }
  return shift_left_saturate(r, 1);  // half of r, in Q0.31
}
