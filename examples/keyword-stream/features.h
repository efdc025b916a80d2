/* Log mel energies (log_mel.h) of a stream of samples: a window of 32 ms every 20 ms, 32 bands. */
#ifndef SPOTTER_FEATURES_H
#define SPOTTER_FEATURES_H

#include <stdint.h>

#include "features_tables.h"
#include "log_mel.h"

struct spotter_features {
  int16_t samples[SPOTTER_WINDOW]; /* the last ones of the stream */
  int32_t missing;                 /* how many the next frame waits for */
  struct log_mel frame;
};

/* `scale` and `zero_point` of the network's input: feature = (log2(energy) - 41) / 4 = scale * (q - zero_point). */
void spotter_features_start(struct spotter_features* features, float scale, int32_t zero_point);

/* Takes samples from `samples` up to the end of the next frame and answers how many it took, at most `count`. When they
 * complete a frame, `*complete` is 1 and the frame is in `frame`. */
int32_t spotter_features_take(struct spotter_features* features, const int16_t* samples,
                              int32_t count, int8_t frame[SPOTTER_BANDS], int* complete);

#endif
