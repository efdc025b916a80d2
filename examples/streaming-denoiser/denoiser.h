/* Takes noise from speech, 128 samples (8 ms) at a time, in fixed point: window, spectrum, energies of bands, the
 * network's gain for each band, and back to samples. The network remembers what it heard; so does this. */
#ifndef DENOISER_FILTER_H
#define DENOISER_FILTER_H

#include <stdint.h>

#include "denoiser_tables.h"

struct denoiser {
  int16_t before[DENOISER_HOP];       /* the samples of the last frame */
  int32_t overlap[DENOISER_HOP];      /* what the last frame adds to the next output, 2^11 times a sample */
  int32_t spectrum[DENOISER_WINDOW];  /* of the frame at work */
  int32_t step;                       /* 2^16 times the logarithm to base 2 that one unit of a feature is */
  int32_t zero_point;
};

/* `scale` and `zero_point` of the network's input: feature = (log2(energy) - 31) / 4 = scale * (q - zero_point). */
void denoiser_start(struct denoiser* denoiser, float scale, int32_t zero_point);

/* The first half of a frame's work: from DENOISER_HOP samples to the network's input. */
void denoiser_listen(struct denoiser* denoiser, const int16_t* samples, int8_t features[DENOISER_BANDS]);

/* The second half: from the network's gains, each 256 times the factor, to DENOISER_HOP samples, which are one frame late. */
void denoiser_restore(struct denoiser* denoiser, const uint16_t gains[DENOISER_BANDS], int16_t* samples);

#endif
