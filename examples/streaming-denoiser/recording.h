/* The recorded noisy voice frame by frame, and how much of its noise is gone: what comes out is compared with the voice
 * alone, which was recorded too. */
#ifndef DENOISER_RECORDING_H
#define DENOISER_RECORDING_H

#include <stdint.h>

#include "noise_filter_tables.h"

/* `folder`: of noisy.pcm and voice.pcm, ending in a slash, or "". */
void recording_open(const char* folder);

/* The next NOISE_FILTER_HOP samples, or 0 at the end. */
int recording_next(int16_t noisy[NOISE_FILTER_HOP]);

/* What the filter made when it was given the frame that recording_next answered last: the frame before, cleaned. */
void recording_compare(const int16_t cleaned[NOISE_FILTER_HOP]);

/* Frames that were read. */
int32_t recording_frames(void);

/* The line "signal to noise .. dB before, .. dB after: .. dB less noise". */
void recording_report(void);

#endif
