/* One frame of samples as the bytes that a network reads: a window, the spectrum (fixed_fft.h), bands (mel_bands.h),
 * their logarithm (fixed_log2.h), quantised. */
#ifndef EXAMPLES_LOG_MEL_H
#define EXAMPLES_LOG_MEL_H

#include <stdint.h>

#include "mel_bands.h"

enum { LOG_MEL_MOST_BANDS = 64 };

struct log_mel {
  const struct mel_bands* bands; /* at most LOG_MEL_MOST_BANDS */
  const int16_t* window;         /* 2^log2_samples weights in Q15 */
  int32_t log2_samples;          /* as fixed_rfft takes it */
  int32_t centre_log2;           /* a band of the energy 2^centre_log2 has the feature 0 */
  int32_t step;                  /* 2^16 times the logarithm to base 2 that one unit of a byte is */
  int32_t zero_point;
};

/* The step for a network's input of this scale, where a feature is (log2(energy) - centre_log2) / octaves. */
int32_t log_mel_step(float scale, int32_t octaves);

/* `samples`: 2^log2_samples. `frame`: a byte for each band. */
void log_mel_frame(const struct log_mel* made, const int16_t* samples, int8_t* frame);

#endif
