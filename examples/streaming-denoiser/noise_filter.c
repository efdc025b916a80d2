#include "noise_filter.h"

#include <string.h>

#include "fixed_fft.h"
#include "fixed_log2.h"
#include "mel_bands.h"

static const struct mel_bands bands = {NOISE_FILTER_BANDS, noise_filter_mel_edges,
                                       noise_filter_mel_rising};

static int8_t quantise(const struct noise_filter* filter, uint64_t energy) {
  const int32_t above =
      fixed_log2_q16(energy) - NOISE_FILTER_CENTRE_LOG2 * 65536 + filter->step / 2;
  /* Rounded down, below the centre too, where C's division rounds up. */
  int32_t q = above / filter->step;
  if (above % filter->step < 0) --q;
  q += filter->zero_point;
  if (q < -128) q = -128;
  if (q > 127) q = 127;
  return (int8_t)q;
}

void noise_filter_start(struct noise_filter* filter, float scale, int32_t zero_point) {
  memset(filter, 0, sizeof *filter);
  filter->step = (int32_t)(scale * NOISE_FILTER_OCTAVES * 65536.0f + 0.5f);
  filter->zero_point = zero_point;
}

/* A sample of 15 bits and a window of 15, less 4: 2^26 at most, which leaves the room that fixed_irfft needs. */
static int32_t windowed(int16_t sample, int32_t at) {
  return (sample * noise_filter_window[at] + 8) >> 4;
}

void noise_filter_listen(struct noise_filter* filter, const int16_t* samples,
                         int8_t features[NOISE_FILTER_BANDS]) {
  uint64_t energy[NOISE_FILTER_BANDS];
  for (int32_t i = 0; i < NOISE_FILTER_HOP; ++i) {
    filter->spectrum[i] = windowed(filter->before[i], i);
    filter->spectrum[NOISE_FILTER_HOP + i] = windowed(samples[i], NOISE_FILTER_HOP + i);
  }
  memcpy(filter->before, samples, sizeof filter->before);
  fixed_rfft(filter->spectrum, NOISE_FILTER_WINDOW_LOG2);
  mel_energies(&bands, filter->spectrum, energy);
  for (int32_t b = 0; b < NOISE_FILTER_BANDS; ++b) features[b] = quantise(filter, energy[b]);
}

static int32_t faded(int32_t value, int32_t at) {
  return (int32_t)(((int64_t)value * noise_filter_window[at] + (1 << 14)) >> 15);
}

void noise_filter_restore(struct noise_filter* filter, const uint16_t gains[NOISE_FILTER_BANDS],
                          int16_t* samples) {
  mel_apply_gains(&bands, gains, filter->spectrum, NOISE_FILTER_WINDOW_LOG2);
  fixed_irfft(filter->spectrum, NOISE_FILTER_WINDOW_LOG2);
  for (int32_t i = 0; i < NOISE_FILTER_HOP; ++i) {
    int32_t sample = (filter->overlap[i] + faded(filter->spectrum[i], i) + (1 << 10)) >> 11;
    if (sample < INT16_MIN) sample = INT16_MIN;
    if (sample > INT16_MAX) sample = INT16_MAX;
    samples[i] = (int16_t)sample;
    filter->overlap[i] = faded(filter->spectrum[NOISE_FILTER_HOP + i], NOISE_FILTER_HOP + i);
  }
}
