#include "mel_bands.h"

static uint64_t power(const int32_t* bin) {
  return (uint64_t)((int64_t)bin[0] * bin[0] + (int64_t)bin[1] * bin[1]) >> 12;
}

void mel_energies(const struct mel_bands* bands, const int32_t* spectrum, uint64_t* energy) {
  for (int32_t b = 0; b < bands->count; ++b) energy[b] = 0;
  for (int32_t piece = 0; piece <= bands->count; ++piece) {
    uint64_t up = 0;
    uint64_t all = 0;
    for (int32_t k = bands->edges[piece]; k < bands->edges[piece + 1]; ++k) {
      const uint64_t bin = power(spectrum + 2 * k);
      up += bin * bands->rising[k - bands->edges[0]];
      all += bin << 12;
    }
    if (piece < bands->count) energy[piece] += up;
    if (piece > 0) energy[piece - 1] += all - up;
  }
}

/* `factor` in Q20, which is 2^20 at most. */
static int32_t scaled(int32_t value, int32_t factor) {
  return (int32_t)(((int64_t)value * factor + (1 << 19)) >> 20);
}

static int32_t factor_of(const struct mel_bands* bands, const uint16_t* gain, int32_t piece,
                         int32_t bin) {
  if (piece == 0) return gain[0] << 12;
  if (piece == bands->count) return gain[bands->count - 1] << 12;
  const int32_t rising = bands->rising[bin - bands->edges[0]];
  return gain[piece] * rising + gain[piece - 1] * (4096 - rising);
}

void mel_apply_gains(const struct mel_bands* bands, const uint16_t* gain, int32_t* spectrum,
                     int log2_n) {
  const int32_t bins = (int32_t)1 << (log2_n - 1);
  int32_t piece = 0;
  spectrum[0] = scaled(spectrum[0], gain[0] << 12);
  spectrum[1] = scaled(spectrum[1], gain[bands->count - 1] << 12);
  for (int32_t k = 1; k < bins; ++k) {
    while (piece < bands->count && k >= bands->edges[piece + 1]) ++piece;
    const int32_t factor = factor_of(bands, gain, piece, k);
    spectrum[2 * k] = scaled(spectrum[2 * k], factor);
    spectrum[2 * k + 1] = scaled(spectrum[2 * k + 1], factor);
  }
}
