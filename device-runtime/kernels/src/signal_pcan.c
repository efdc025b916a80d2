#include "intarsia/kernels/signal.h"

// Bits of fraction of the ratio of signal to noise, and of the result.
enum { ratio_bits = 12, result_bits = 6 };

static int32_t highest_bit(uint32_t x) {
  int32_t bit = 0;
  while (x >> bit != 0u) {
    ++bit;
    if (bit == 32) break;
  }
  return bit;
}

// A parabola for each power of two: four elements, of which three are coefficients.
static int16_t gain_of(uint32_t x, const int16_t* gains) {
  if (x <= 2u) return gains[x];
  const int32_t octave = highest_bit(x);
  const int16_t* parabola = &gains[4 * octave - 6];
  const uint32_t place = (octave < 11 ? x << (11 - octave) : x >> (octave - 11)) & 0x3ffu;
  const int32_t bend = ((int32_t)parabola[2] * (int32_t)place) >> 5;
  const uint32_t slope = (uint32_t)bend + ((uint32_t)(int32_t)parabola[1] << 5);
  const int32_t rise = (int32_t)(slope * place + (1u << 14)) >> 15;
  return (int16_t)(uint16_t)((uint32_t)(rise + (int32_t)parabola[0]) & 0xffffu);
}

// x^2 / 4 below 2, x - 1 from there on.
static uint32_t compressed(uint32_t x) {
  if (x < (2u << ratio_bits)) return (x * x) >> (2 + 2 * ratio_bits - result_bits);
  return (x >> (ratio_bits - result_bits)) - (1u << result_bits);
}

void intarsia_signal_pcan(const uint32_t* input, const uint32_t* noise, const int16_t* gains,
                          uint32_t* output, int32_t shift, int32_t channels) {
  for (int32_t i = 0; i < channels; ++i) {
    const uint32_t gain = (uint32_t)(int32_t)gain_of(noise[i], gains);
    output[i] = compressed((uint32_t)(((uint64_t)input[i] * gain) >> shift));
  }
}
