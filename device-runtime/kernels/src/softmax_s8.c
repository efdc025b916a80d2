#include "intarsia/kernels/arithmetic.h"
#include "intarsia/kernels/softmax.h"

// exp of a difference (<= 0) in input steps, in Q0.31.
static int32_t exp_of_steps(int32_t steps, int32_t multiplier, int32_t left_shift) {
  return intarsia_exp_q5(intarsia_mul_q31((int32_t)((uint32_t)steps << left_shift), multiplier));
}

static int32_t leading_zeros(uint32_t value) {  // of a value above zero
  int32_t zeros = 0;
  for (; (value & UINT32_C(0x80000000)) == 0; value <<= 1) ++zeros;
  return zeros;
}

// What every element is multiplied by, and by how much the product is shifted for a result of
// `result_bits`.
struct row {
  int32_t largest, reciprocal, shift;
};

static struct row prepare(const int8_t* input, int32_t count, int32_t multiplier,
                          int32_t left_shift, int32_t diff_min, int32_t result_bits) {
  struct row row = {input[0], 0, 0};
  for (int32_t i = 1; i < count; ++i) {
    if (input[i] > row.largest) row.largest = input[i];
  }
  int32_t sum = 0;  // Q12.19
  for (int32_t i = 0; i < count; ++i) {
    const int32_t steps = input[i] - row.largest;
    if (steps < diff_min) continue;
    sum += intarsia_shift_right_round(exp_of_steps(steps, multiplier, left_shift), 12);
  }
  // sum = (1 + x) * 2^(31 - zeros), x in Q0.31: its reciprocal is that of 1 + x, shifted.
  const int32_t zeros = leading_zeros((uint32_t)sum);
  const int32_t x = (int32_t)(((uint32_t)sum << zeros) - UINT32_C(0x80000000));
  row.reciprocal = intarsia_reciprocal_of_one_plus_q31(x);
  row.shift = 12 - zeros + 31 - result_bits;
  return row;
}

static int32_t element(const struct row* row, int32_t value, int32_t multiplier, int32_t left_shift,
                       int32_t diff_min) {
  const int32_t steps = value - row->largest;
  if (steps < diff_min || row->shift > 31) return 0;  // else the result is below one half
  const int32_t exponential = exp_of_steps(steps, multiplier, left_shift);
  return intarsia_shift_right_round(intarsia_mul_q31(row->reciprocal, exponential), row->shift);
}

void intarsia_softmax_s8(const int8_t* input, int8_t* output, int32_t count, int32_t multiplier,
                         int32_t left_shift, int32_t diff_min) {
  const struct row row = prepare(input, count, multiplier, left_shift, diff_min, 8);
  for (int32_t i = 0; i < count; ++i) {
    int32_t result = element(&row, input[i], multiplier, left_shift, diff_min);
    if (result > 255) result = 255;
    output[i] = (int8_t)(result - 128);
  }
}

void intarsia_softmax_s8_s16(const int8_t* input, int16_t* output, int32_t count,
                             int32_t multiplier, int32_t left_shift, int32_t diff_min) {
  const struct row row = prepare(input, count, multiplier, left_shift, diff_min, 16);
  for (int32_t i = 0; i < count; ++i) {
    int32_t result = element(&row, input[i], multiplier, left_shift, diff_min);
    if (result > 65535) result = 65535;
    output[i] = (int16_t)(result - 32768);
  }
}
