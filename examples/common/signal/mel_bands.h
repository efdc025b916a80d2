/* The energy of a spectrum in overlapping triangular bands on the mel scale, mel(f) = 2595 log10(1 + f / 700)
 * (O'Shaughnessy, Speech Communication, 1987), as speech recognisers use it (Davis and Mermelstein,
 * IEEE ASSP 28, 1980). */
#ifndef EXAMPLES_MEL_BANDS_H
#define EXAMPLES_MEL_BANDS_H

#include <stdint.h>

/* Between two centres c[b] and c[b+1] the weight of band b falls from 1 to 0 and that of band b + 1 rises from 0 to 1:
 * one weight for each bin says both. */
struct mel_bands {
  int32_t count; /* of bands */
  const uint16_t*
      edges; /* count + 2 bins: where band 0 begins, the centres, where the last band ends */
  const uint16_t*
      rising; /* for bins edges[0] to edges[count+1] - 1: weight in Q12 of the band that rises there */
};

/* `spectrum`: as fixed_rfft packs it, the samples at most 2^30. `energy`: `count` sums of weight * |bin|^2, where
 * |bin|^2 is divided by 2^12 and the weight is in Q12: no more than 2^60, the energy of samples of full scale. */
void mel_energies(const struct mel_bands* bands, const int32_t* spectrum, uint64_t* energy);

/* Multiplies every bin by the gain of its place between two centres, interpolated with the weights of the bands; below
 * the first and above the last centre by theirs. `gain`: one for each band in Q8, at most 256, which is 1.
 * `log2_n`: as fixed_rfft was called. */
void mel_apply_gains(const struct mel_bands* bands, const uint16_t* gain, int32_t* spectrum,
                     int log2_n);

#endif
