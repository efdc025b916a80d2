#include "intarsia/kernels/arithmetic.h"
#include "intarsia/kernels/normalize.h"

static int32_t leading_zeros(uint32_t value) {  // of a value above zero
  int32_t zeros = 0;
  for (; (value & UINT32_C(0x80000000)) == 0; value <<= 1) ++zeros;
  return zeros;
}

static int32_t shift_left_saturate(int32_t value, int32_t bits) {
  const int64_t wide = (int64_t)value * ((int64_t)1 << bits);
  if (wide > INT32_MAX) return INT32_MAX;
  if (wide < INT32_MIN) return INT32_MIN;
  return (int32_t)wide;
}

// x = r * 2^n with r around 2^(-1/4), n a quarter above or below a whole number, whichever r
// is less; log r is a quotient of polynomials around 2^(-1/4).
int32_t intarsia_log_from_one(int32_t x) {
  const int32_t root_half = 1518500250, fourth_root_half = 1805811301;  // Q0.31
  const int32_t one = 1 << 25, quarter = 1 << 23;                       // Q6.25
  const int32_t zeros = leading_zeros((uint32_t)x);
  const int32_t root_zeros = leading_zeros((uint32_t)intarsia_mul_q31(x, root_half)) - 1;
  const int32_t above =
      shift_left_saturate(intarsia_mul_q31(shift_left_saturate(x, zeros - 1), root_half), 1);
  const int32_t r = intarsia_min_i32(above, shift_left_saturate(x, root_zeros));
  const int32_t n =
      intarsia_max_i32((12 - zeros) * one + quarter, (12 - root_zeros) * one - quarter);

  const int32_t mean = (int32_t)(((int64_t)r + fourth_root_half + 1) / 2);
  const int32_t q = 2 * (r - fourth_root_half);
  const int32_t square = intarsia_mul_q31(q, q);
  const int32_t numerator =
      intarsia_mul_q31(q, r) + intarsia_mul_q31(intarsia_mul_q31(q, square), 117049297);
  const int32_t denominator =
      intarsia_mul_q31(mean, 1057819769 + q + intarsia_mul_q31(127690142, square)) +
      intarsia_mul_q31(638450708, q);
  const int32_t log_r = intarsia_mul_q31(intarsia_shift_right_round(numerator, 6),
                                         intarsia_reciprocal_of_one_plus_q31(denominator));
  return shift_left_saturate(intarsia_mul_q31(n, 1488522236) + log_r, 1);
}

void intarsia_log_softmax_s8(const int8_t* input, int8_t* output, int32_t count, int32_t multiplier,
                             int32_t left_shift, int32_t diff_min) {
  int32_t largest = input[0];
  for (int32_t i = 1; i < count; ++i) {
    if (input[i] > largest) largest = input[i];
  }
  int32_t sum = 0;  // Q12.19
  for (int32_t i = 0; i < count; ++i) {
    const int32_t steps = input[i] - largest;
    if (steps < diff_min) continue;
    const int32_t difference =
        intarsia_mul_q31((int32_t)((uint32_t)steps << left_shift), multiplier);
    sum += intarsia_shift_right_round(intarsia_exp_q5(difference), 12);
  }
  const int32_t log_sum = intarsia_log_from_one(sum);
  for (int32_t i = 0; i < count; ++i) {
    const int32_t steps = input[i] - largest;
    int32_t result = -128;  // what is 16 and more below the largest
    if (steps >= diff_min) {
      const int32_t difference =
          intarsia_mul_q31((int32_t)((uint32_t)steps << left_shift), multiplier);
      if (difference > -(1 << 30))
        result = intarsia_shift_right_round(difference - log_sum, 22) + 127;
    }
    output[i] = (int8_t)intarsia_clamp_i32(result, -128, 127);
  }
}
