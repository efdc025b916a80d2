/* Log mel energies of a stream of samples, in fixed point: a window of 32 ms every 20 ms, a Hann window, the spectrum
 * (fixed_fft.h), 32 bands (mel_bands.h), their logarithm (fixed_log2.h), quantised into the bytes that the network reads. */
#ifndef KEYWORD_FEATURES_H
#define KEYWORD_FEATURES_H

#include <stdint.h>

#include "features_tables.h"

struct keyword_features {
  int16_t samples[KEYWORD_WINDOW]; /* the last ones of the stream */
  int32_t missing;                 /* how many the next frame waits for */
  int32_t step;                    /* 2^16 times the logarithm to base 2 that one unit of a feature is */
  int32_t zero_point;
};

/* `scale` and `zero_point` of the network's input: feature = (log2(energy) - 41) / 4 = scale * (q - zero_point). */
void keyword_features_start(struct keyword_features* features, float scale, int32_t zero_point);

/* Takes samples from `samples` up to the end of the next frame and answers how many it took, at most `count`. When they
 * complete a frame, `*complete` is 1 and the frame is in `frame`. */
int32_t keyword_features_take(struct keyword_features* features, const int16_t* samples, int32_t count,
                              int8_t frame[KEYWORD_BANDS], int* complete);

#endif
