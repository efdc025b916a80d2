/* One frame through filter and network: all that has to be done before the next one is there. */
#ifndef DENOISE_H
#define DENOISE_H

#include <stdint.h>

#include "denoiser.h"
#include "noise_filter.h"

/* NOISE_FILTER_HOP samples in, as many out, which are one frame late. The answer is that of denoiser_run. */
intarsia_status denoise(struct denoiser* network, struct noise_filter* filter, const int16_t* in,
                        int16_t* out);

#endif
