/* Takes noise from speech, 128 samples (8 ms) at a time, in fixed point: window, spectrum, energies of bands, the
 * network's gain for each band, and back to samples. The network remembers what it heard; so does this. */
#ifndef NOISE_FILTER_H
#define NOISE_FILTER_H

#include <stdint.h>

#include "noise_filter_tables.h"

struct noise_filter {
  int16_t before[NOISE_FILTER_HOP]; /* the samples of the last frame */
  int32_t overlap
      [NOISE_FILTER_HOP]; /* what the last frame adds to the next output, 2^11 times a sample */
  int32_t spectrum[NOISE_FILTER_WINDOW]; /* of the frame at work */
  int32_t step; /* 2^16 times the logarithm to base 2 that one unit of a feature is */
  int32_t zero_point;
};

/* `scale` and `zero_point` of the network's input: feature = (log2(energy) - 31) / 4 = scale * (q - zero_point). */
void noise_filter_start(struct noise_filter* filter, float scale, int32_t zero_point);

/* The first half of a frame's work: from NOISE_FILTER_HOP samples to the network's input. */
void noise_filter_listen(struct noise_filter* filter, const int16_t* samples,
                         int8_t features[NOISE_FILTER_BANDS]);

/* The second half: from the network's gains, each 256 times the factor, to NOISE_FILTER_HOP samples, which are one
 * frame late. */
void noise_filter_restore(struct noise_filter* filter, const uint16_t gains[NOISE_FILTER_BANDS],
                          int16_t* samples);

#endif
