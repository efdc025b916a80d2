/* From scores to detections: the mean of the last runs, a threshold, and a pause after each detection. */
#ifndef KEYWORD_DETECTOR_H
#define KEYWORD_DETECTOR_H

#include <stdint.h>

#include "features_tables.h"

struct keyword_detector {
  uint8_t scores[KEYWORD_SMOOTHED][KEYWORD_CLASSES]; /* a ring; 0 before its first round is full */
  int32_t next;
  int32_t quiet_runs; /* how many more runs report nothing */
};

void keyword_detector_start(struct keyword_detector* detector);

/* `scores`: one for each class, 0 to 255 for a probability of 0 to 1. The answer is the class of the keyword that was
 * just heard, with its mean score, or -1. */
int32_t keyword_detector_take(struct keyword_detector* detector, const uint8_t scores[KEYWORD_CLASSES],
                              int32_t* percent);

#endif
