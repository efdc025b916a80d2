#include "intarsia/kernels/signal.h"

void intarsia_signal_spectral_subtraction(const uint32_t* input, const uint32_t* noise,
                                          uint32_t* output, uint32_t* new_noise, uint32_t taken,
                                          uint32_t kept, uint32_t odd_taken, uint32_t odd_kept,
                                          int32_t smoothing_bits, int32_t bits,
                                          uint32_t least_remaining, int32_t is_clamped,
                                          int32_t channels) {
  for (int32_t i = 0; i < channels; ++i) {
    const uint64_t in_factor = i % 2 == 0 ? taken : odd_taken;
    const uint64_t old_factor = i % 2 == 0 ? kept : odd_kept;
    const uint32_t signal = input[i] << smoothing_bits;
    const uint32_t estimate =
        (uint32_t)(((uint64_t)signal * in_factor + (uint64_t)noise[i] * old_factor) >> bits);
    const uint32_t removed = estimate < signal ? estimate : signal;
    const uint32_t floor = (uint32_t)(((uint64_t)input[i] * least_remaining) >> bits);
    const uint32_t remaining = (signal - removed) >> smoothing_bits;
    new_noise[i] = is_clamped != 0 ? removed : estimate;
    output[i] = remaining > floor ? remaining : floor;
  }
}
