#include "log_mel.h"

#include "fixed_fft.h"
#include "fixed_log2.h"

static int8_t quantise(const struct log_mel* made, uint64_t energy) {
  const int32_t above = fixed_log2_q16(energy) - made->centre_log2 * 65536 + made->step / 2;
  /* Rounded down, below the centre too, where C's division rounds up. */
  int32_t q = above / made->step;
  if (above % made->step < 0) --q;
  q += made->zero_point;
  if (q < -128) q = -128;
  if (q > 127) q = 127;
  return (int8_t)q;
}

int32_t log_mel_step(float scale, int32_t octaves) {
  return (int32_t)(scale * (float)octaves * 65536.0f + 0.5f);
}

void log_mel_frame(const struct log_mel* made, const int16_t* samples, int8_t* frame) {
  int32_t spectrum[1 << FIXED_FFT_MOST_LOG2];
  uint64_t energy[LOG_MEL_MOST_BANDS];
  for (int32_t i = 0; i < 1 << made->log2_samples; ++i) spectrum[i] = samples[i] * made->window[i];
  fixed_rfft(spectrum, made->log2_samples);
  mel_energies(made->bands, spectrum, energy);
  for (int32_t b = 0; b < made->bands->count; ++b) frame[b] = quantise(made, energy[b]);
}
