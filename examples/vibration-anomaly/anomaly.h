/* From a spectrum and what the network made of it to a score: their mean squared difference, and the mean of that over the
 * last windows, so that one knock is no alarm. */
#ifndef VIBRATION_ANOMALY_H
#define VIBRATION_ANOMALY_H

#include <stdint.h>

#include "vibration_tables.h"

struct anomaly {
  int32_t in_step; /* the scales of the network's input and output, in Q16 */
  int32_t in_zero;
  int32_t out_step;
  int32_t out_zero;
  int32_t last[VIBRATION_SMOOTHED]; /* a ring; 0 before its first round is full */
  int32_t next;
};

void anomaly_start(struct anomaly* anomaly, float in_scale, int32_t in_zero, float out_scale,
                   int32_t out_zero);

/* The score in Q16: compare it with VIBRATION_THRESHOLD_Q16. */
int32_t anomaly_take(struct anomaly* anomaly, const int8_t spectrum[VIBRATION_BANDS],
                     const int8_t again[VIBRATION_BANDS]);

#endif
