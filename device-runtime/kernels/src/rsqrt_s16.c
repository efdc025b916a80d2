#include "intarsia/kernels/arithmetic.h"
#include "intarsia/kernels/square_root.h"

static int32_t shift_left_saturate(int32_t value, int bits) {
  const int64_t wide = (int64_t)value * ((int64_t)1 << bits);
  if (wide > INT32_MAX) return INT32_MAX;
  if (wide < INT32_MIN) return INT32_MIN;
  return (int32_t)wide;
}

// By Newton's iteration in Q3.28.
int32_t intarsia_inverse_square_root(int32_t x, int32_t* multiplier) {
  if (x <= 1) {
    *multiplier = INT32_MAX;
    return 0;
  }
  int32_t right_shift = 11;
  for (; x >= (1 << 29); x /= 4) ++right_shift;
  for (; x < (1 << 27); x *= 4) --right_shift;
  const int32_t half = intarsia_shift_right_round(x >> 1, 1);
  const int32_t half_three = (1 << 28) + (1 << 27);
  int32_t y = 1 << 28;
  for (int step = 0; step < 5; ++step) {
    const int32_t y3 = shift_left_saturate(intarsia_mul_q31(intarsia_mul_q31(y, y), y), 6);
    y = shift_left_saturate(intarsia_mul_q31(half_three, y) - intarsia_mul_q31(half, y3), 3);
  }
  y = intarsia_mul_q31(y, 1518500250); /* sqrt(2) / 2 */
  if (right_shift < 0) {
    y = (int32_t)((uint32_t)y << -right_shift);
    right_shift = 0;
  }
  *multiplier = y;
  return right_shift;
}

int32_t intarsia_rsqrt_s16(int32_t x, int32_t multiplier, int32_t shift) {
  if (x <= 0) return 32767;
  int32_t inverse;
  const int32_t right_shift = intarsia_inverse_square_root(x, &inverse);
  const int32_t root = intarsia_requantize(1, inverse, 20 - right_shift);
  const int32_t result = intarsia_requantize(root, multiplier, shift);
  return result > 32767 ? 32767 : result;
}
