#include "intarsia/targets/cortex_m/pool_softmax.h"

#include "intarsia/kernels/arithmetic.h"
#include "intarsia/targets/cortex_m/optimise.h"

enum {
  kFraction = 12,
  kResult = 23
};  // bits that are dropped: of exponentials in the sum, of results at least

void intarsia_softmax_table_s8(const int8_t *input, int8_t *output, const int32_t *exponentials,
                               int32_t rows, int32_t count) {
  for (; rows > 0; --rows, input += count, output += count) {
    int32_t largest = input[0];
    for (int32_t i = 1; i < count; ++i)
      if (input[i] > largest) largest = input[i];
    uint32_t sum = 0;  // Q12.19
    for (int32_t i = 0; i < count; ++i)
      sum += ((uint32_t)exponentials[largest - input[i]] + (1u << (kFraction - 1))) >> kFraction;
    // The sum is (1 + x) * 2^(31 - zeros) with x in Q0.31, and its reciprocal that of 1 + x, shifted.
    int32_t zeros = 0;
    for (uint32_t bits = sum; bits < UINT32_C(0x80000000); bits <<= 1) ++zeros;
    const int32_t reciprocal =
        intarsia_reciprocal_of_one_plus_q31((int32_t)((sum << zeros) - UINT32_C(0x80000000)));
    const int32_t shift = kFraction - zeros + kResult;
    const uint32_t half = shift > 31 ? 0 : 1u << (shift - 1);
    for (int32_t i = 0; i < count; ++i) {
      const uint32_t product =
          (uint32_t)intarsia_mul_q31(reciprocal, exponentials[largest - input[i]]);
      const uint32_t result = shift > 31 ? 0 : (product + half) >> shift;  // beyond: below one half
      output[i] = (int8_t)((int32_t)(result > 255 ? 255 : result) - 128);
    }
  }
}
