#include "denoiser.h"

#include <string.h>

#include "fixed_fft.h"
#include "fixed_log2.h"
#include "mel_bands.h"

static const struct mel_bands bands = {DENOISER_BANDS, denoiser_mel_edges, denoiser_mel_rising};

static int8_t quantise(const struct denoiser* denoiser, uint64_t energy) {
  const int32_t above = fixed_log2_q16(energy) - DENOISER_CENTRE_LOG2 * 65536 + denoiser->step / 2;
  /* Rounded down, below the centre too, where C's division rounds up. */
  int32_t q = above / denoiser->step;
  if (above % denoiser->step < 0) --q;
  q += denoiser->zero_point;
  if (q < -128) q = -128;
  if (q > 127) q = 127;
  return (int8_t)q;
}

void denoiser_start(struct denoiser* denoiser, float scale, int32_t zero_point) {
  memset(denoiser, 0, sizeof *denoiser);
  denoiser->step = (int32_t)(scale * DENOISER_OCTAVES * 65536.0f + 0.5f);
  denoiser->zero_point = zero_point;
}

/* A sample of 15 bits and a window of 15, less 4: 2^26 at most, which leaves the room that fixed_irfft needs. */
static int32_t windowed(int16_t sample, int32_t at) {
  return (sample * denoiser_window[at] + 8) >> 4;
}

void denoiser_listen(struct denoiser* denoiser, const int16_t* samples, int8_t features[DENOISER_BANDS]) {
  uint64_t energy[DENOISER_BANDS];
  for (int32_t i = 0; i < DENOISER_HOP; ++i) {
    denoiser->spectrum[i] = windowed(denoiser->before[i], i);
    denoiser->spectrum[DENOISER_HOP + i] = windowed(samples[i], DENOISER_HOP + i);
  }
  memcpy(denoiser->before, samples, sizeof denoiser->before);
  fixed_rfft(denoiser->spectrum, DENOISER_WINDOW_LOG2);
  mel_energies(&bands, denoiser->spectrum, energy);
  for (int32_t b = 0; b < DENOISER_BANDS; ++b) features[b] = quantise(denoiser, energy[b]);
}

static int32_t faded(int32_t value, int32_t at) {
  return (int32_t)(((int64_t)value * denoiser_window[at] + (1 << 14)) >> 15);
}

void denoiser_restore(struct denoiser* denoiser, const uint16_t gains[DENOISER_BANDS], int16_t* samples) {
  mel_apply_gains(&bands, gains, denoiser->spectrum, DENOISER_WINDOW_LOG2);
  fixed_irfft(denoiser->spectrum, DENOISER_WINDOW_LOG2);
  for (int32_t i = 0; i < DENOISER_HOP; ++i) {
    int32_t sample = (denoiser->overlap[i] + faded(denoiser->spectrum[i], i) + (1 << 10)) >> 11;
    if (sample < INT16_MIN) sample = INT16_MIN;
    if (sample > INT16_MAX) sample = INT16_MAX;
    samples[i] = (int16_t)sample;
    denoiser->overlap[i] = faded(denoiser->spectrum[DENOISER_HOP + i], DENOISER_HOP + i);
  }
}
