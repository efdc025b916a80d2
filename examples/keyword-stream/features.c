#include "features.h"

#include <string.h>

#include "fixed_fft.h"
#include "fixed_log2.h"
#include "mel_bands.h"

static const struct mel_bands bands = {SPOTTER_BANDS, spotter_mel_edges, spotter_mel_rising};

static int8_t quantise(const struct spotter_features* features, uint64_t energy) {
  const int32_t above = fixed_log2_q16(energy) - SPOTTER_CENTRE_LOG2 * 65536 + features->step / 2;
  /* Rounded down, below the centre too, where C's division rounds up. */
  int32_t q = above / features->step;
  if (above % features->step < 0) --q;
  q += features->zero_point;
  if (q < -128) q = -128;
  if (q > 127) q = 127;
  return (int8_t)q;
}

static void analyse(const struct spotter_features* features, int8_t* frame) {
  int32_t spectrum[SPOTTER_WINDOW];
  uint64_t energy[SPOTTER_BANDS];
  for (int32_t i = 0; i < SPOTTER_WINDOW; ++i)
    spectrum[i] = features->samples[i] * spotter_window[i];
  fixed_rfft(spectrum, SPOTTER_WINDOW_LOG2);
  mel_energies(&bands, spectrum, energy);
  for (int32_t b = 0; b < SPOTTER_BANDS; ++b) frame[b] = quantise(features, energy[b]);
}

void spotter_features_start(struct spotter_features* features, float scale, int32_t zero_point) {
  features->missing = SPOTTER_WINDOW;
  features->step = (int32_t)(scale * SPOTTER_OCTAVES * 65536.0f + 0.5f);
  features->zero_point = zero_point;
}

int32_t spotter_features_take(struct spotter_features* features, const int16_t* samples,
                              int32_t count, int8_t frame[SPOTTER_BANDS], int* complete) {
  const int32_t taken = count < features->missing ? count : features->missing;
  memcpy(features->samples + (SPOTTER_WINDOW - features->missing), samples,
         (size_t)taken * sizeof *samples);
  features->missing -= taken;
  *complete = features->missing == 0;
  if (*complete) {
    analyse(features, frame);
    memmove(features->samples, features->samples + SPOTTER_HOP,
            (SPOTTER_WINDOW - SPOTTER_HOP) * sizeof *features->samples);
    features->missing = SPOTTER_HOP;
  }
  return taken;
}
