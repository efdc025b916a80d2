/* From scores to detections: the mean of the last runs, a threshold, and a pause after each detection. */
#ifndef SPOTTER_DETECTOR_H
#define SPOTTER_DETECTOR_H

#include <stdint.h>

#include "features_tables.h"

struct spotter_detector {
  uint8_t scores[SPOTTER_SMOOTHED][SPOTTER_CLASSES]; /* a ring; 0 before its first round is full */
  int32_t next;
  int32_t quiet_runs; /* how many more runs report nothing */
};

void spotter_detector_start(struct spotter_detector* detector);

/* `scores`: one for each class, 0 to 255 for a probability of 0 to 1. The answer is the class of the keyword that was
 * just heard, with its mean score, or -1. */
int32_t spotter_detector_take(struct spotter_detector* detector,
                              const uint8_t scores[SPOTTER_CLASSES], int32_t* percent);

#endif
