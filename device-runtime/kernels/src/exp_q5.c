// exp(x) for x <= 0 splits x into a remainder in [-1/4, 0) and multiples of 1/4: a polynomial for
// the first, one factor exp(-2^k) per set bit for the rest. The order of operations is the
// specification: every product rounds.
#include "intarsia/kernels/arithmetic.h"

// exp(x) for -1/4 <= x < 0 in Q0.31: exp(-1/8) times the series in y = x + 1/8 up to y^4 / 24.
static int32_t exp_of_last_quarter(int32_t x) {
  const int32_t exp_of_minus_eighth = 1895147668;
  const int32_t third = 715827883;
  const int32_t y = x + (1 << 28);
  const int32_t y2 = intarsia_mul_q31(y, y);
  const int32_t y3 = intarsia_mul_q31(y2, y);
  const int32_t y4_by_4 = intarsia_shift_right_round(intarsia_mul_q31(y2, y2), 2);
  // y^2/2 + y^3/6 + y^4/24
  const int32_t tail = intarsia_shift_right_round(intarsia_mul_q31(y4_by_4 + y3, third) + y2, 1);
  return exp_of_minus_eighth + intarsia_mul_q31(exp_of_minus_eighth, y + tail);
}

int32_t intarsia_exp_q5(int32_t x) {
  // exp(-1/4), exp(-1/2), exp(-1), ... exp(-16) in Q0.31
  static const int32_t factor[7] = {1672461947, 1302514674, 790015084, 290630308,
                                    39332535,   720401,     242};
  const int32_t quarter = 1 << 24;
  if (x == 0) return INT32_MAX;
  const int32_t last = (x & (quarter - 1)) - quarter;
  int32_t result = exp_of_last_quarter(last * 32);  // Q5.26 to Q0.31
  const int32_t quarters = last - x;
  for (int bit = 0; bit < 7; ++bit) {
    if (quarters & (quarter << bit)) result = intarsia_mul_q31(result, factor[bit]);
  }
  return result;
}
