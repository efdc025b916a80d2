// TFLite Micro's audio front end in integers: from samples to what a network reads.
#ifndef INTARSIA_KERNELS_SIGNAL_H_
#define INTARSIA_KERNELS_SIGNAL_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Shifts the samples left as far as the largest of them allows; *shift says by how much. 1 <= count.
void intarsia_signal_auto_scale(const int16_t* input, int16_t* output, int32_t* shift,
                                int32_t count);

// The spectrum of `count` samples and length - count zeros, divided by the length: length / 2 + 1 pairs of real and
// imaginary parts. `length` is a power of two from 4, `turns` has exp(-2 pi i k / (length / 2)) for k < length / 2, and
// `halves` -i exp(-2 pi i k / length) for 1 <= k <= length / 4, as pairs in Q15.
void intarsia_signal_rfft_s16(const int16_t* input, int16_t* output, const int16_t* turns,
                              const int16_t* halves, int32_t count, int32_t length);
// The samples of a spectrum, divided by the length; `turns` and `halves` are the conjugates of those above.
void intarsia_signal_irfft_s16(const int16_t* input, int16_t* output, const int16_t* turns,
                               const int16_t* halves, int32_t length);

// real^2 + imaginary^2 for the frequencies begin .. end - 1 of `count`, 0 for the others.
void intarsia_signal_energy(const int16_t* input, uint32_t* output, int32_t begin, int32_t end,
                            int32_t count);

// Band b of channels + 1 has widths[b] energies from first_energies[b] on, and as many weights and unweights from
// first_weights[b] on. A channel is the weighted sum of its band and the unweighted sum of the band before; there is no
// channel for band 0.
void intarsia_signal_filter_bank(const uint32_t* energy, const int16_t* weights,
                                 const int16_t* unweights, const int16_t* first_energies,
                                 const int16_t* first_weights, const int16_t* widths,
                                 int64_t* output, int32_t channels);

// Roots of unsigned numbers, rounded, then shifted right.
void intarsia_signal_square_root(const int64_t* input, const int32_t* shift, uint32_t* output,
                                 int32_t count);

// The estimate of the noise becomes (estimate * kept + (input << smoothing_bits) * taken) >> bits, with factors of their own
// for odd channels. The output is the input without it, at least input * least_remaining >> bits.
void intarsia_signal_spectral_subtraction(const uint32_t* input, const uint32_t* noise,
                                          uint32_t* output, uint32_t* new_noise, uint32_t taken,
                                          uint32_t kept, uint32_t odd_taken, uint32_t odd_kept,
                                          int32_t smoothing_bits, int32_t bits,
                                          uint32_t least_remaining, int32_t is_clamped,
                                          int32_t channels);

// The input times a gain that depends on the noise, shifted right, and compressed. `gains` has 125 elements.
void intarsia_signal_pcan(const uint32_t* input, const uint32_t* noise, const int16_t* gains,
                          uint32_t* output, int32_t shift, int32_t channels);

// ln(input << shift) * scale, at most 32767; 0 for less than 2. `bends` has 2^16 (log2(1 + k / 128) - k / 128) for k <= 128.
void intarsia_signal_log(const uint32_t* input, const int16_t* bends, int16_t* output,
                         int32_t shift, uint32_t scale, int32_t channels);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_KERNELS_SIGNAL_H_
