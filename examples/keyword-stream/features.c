#include "features.h"

#include <string.h>

static const struct mel_bands bands = {SPOTTER_BANDS, spotter_mel_edges, spotter_mel_rising};

void spotter_features_start(struct spotter_features* features, float scale, int32_t zero_point) {
  features->missing = SPOTTER_WINDOW;
  features->frame = (struct log_mel){&bands,
                                     spotter_window,
                                     SPOTTER_WINDOW_LOG2,
                                     SPOTTER_CENTRE_LOG2,
                                     log_mel_step(scale, SPOTTER_OCTAVES),
                                     zero_point};
}

int32_t spotter_features_take(struct spotter_features* features, const int16_t* samples,
                              int32_t count, int8_t frame[SPOTTER_BANDS], int* complete) {
  const int32_t taken = count < features->missing ? count : features->missing;
  memcpy(features->samples + (SPOTTER_WINDOW - features->missing), samples,
         (size_t)taken * sizeof *samples);
  features->missing -= taken;
  *complete = features->missing == 0;
  if (*complete) {
    log_mel_frame(&features->frame, features->samples, frame);
    memmove(features->samples, features->samples + SPOTTER_HOP,
            (SPOTTER_WINDOW - SPOTTER_HOP) * sizeof *features->samples);
    features->missing = SPOTTER_HOP;
  }
  return taken;
}
