#include "intarsia/kernels/signal.h"

// 2^16 times the logarithm to base 2: the place of the highest bit, and a line for each 128th between powers of two.
static uint32_t log2_q16(uint32_t x, const int16_t* bends) {
  int32_t whole = 31;
  while (x >> whole == 0u) --whole;
  const uint32_t above = x - (UINT32_C(1) << whole);
  const uint32_t fraction = whole < 16 ? above << (16 - whole) : above >> (whole - 16);
  const int32_t segment = (int32_t)(fraction >> 9);
  const int32_t rise = (int32_t)bends[segment + 1] - (int32_t)bends[segment];
  const int32_t line = (rise * (int32_t)(fraction & 511u)) >> 16;
  return ((uint32_t)whole << 16) + fraction + (uint32_t)((int32_t)bends[segment] + line);
}

void intarsia_signal_log(const uint32_t* input, const int16_t* bends, int16_t* output,
                         int32_t shift, uint32_t scale, int32_t channels) {
  for (int32_t i = 0; i < channels; ++i) {
    const uint32_t x = input[i] << shift;
    uint32_t result = 0;
    if (x > 1u) {
      const uint64_t natural = ((uint64_t)log2_q16(x, bends) * 45426u + 32768u) >> 16; /* ln 2 */
      result = (scale * (uint32_t)natural + 32768u) >> 16;
    }
    output[i] = (int16_t)(result < 32767u ? result : 32767u);
  }
}
