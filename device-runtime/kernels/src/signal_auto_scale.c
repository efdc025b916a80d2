#include "intarsia/kernels/signal.h"

void intarsia_signal_auto_scale(const int16_t* input, int16_t* output, int32_t* shift,
                                int32_t count) {
  int32_t largest = 0;
  for (int32_t i = 0; i < count; ++i) {
    const int32_t value = (int32_t)input[i];
    const int32_t magnitude = value < 0 ? -value : value;
    if (magnitude > largest) largest = magnitude;
  }
  int32_t bits = 0;
  while (largest != 0 && (largest << (bits + 1)) < 32768) ++bits;
  *shift = bits;
  for (int32_t i = 0; i < count; ++i) output[i] = (int16_t)((int32_t)input[i] * (1 << bits));
}
