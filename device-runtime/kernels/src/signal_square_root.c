#include "intarsia/kernels/signal.h"

// The root, rounded, of at most 2^(2 * digits) - 1, digit by digit; never more than digits have room for.
static uint32_t root_of(uint64_t x, int32_t digits) {
  uint64_t root = 0;
  uint64_t rest = x;
  for (int32_t digit = digits - 1; digit >= 0; --digit) {
    // (root + 2^digit)^2 - root^2
    const uint64_t more = ((root << 1) + (UINT64_C(1) << digit)) << digit;
    if (rest >= more) {
      rest -= more;
      root += UINT64_C(1) << digit;
    }
  }
  const uint64_t most = (UINT64_C(1) << digits) - 1u;
  return (uint32_t)(rest > root && root != most ? root + 1u : root);
}

void intarsia_signal_square_root(const int64_t* input, const int32_t* shift, uint32_t* output,
                                 int32_t count) {
  const uint32_t right = (uint32_t)*shift & 31u;
  for (int32_t i = 0; i < count; ++i) {
    const uint64_t x = (uint64_t)input[i];
    output[i] = root_of(x, (x >> 32) == 0 ? 16 : 32) >> right;
  }
}
