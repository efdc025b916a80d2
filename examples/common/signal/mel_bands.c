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
