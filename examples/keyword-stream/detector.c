#include "detector.h"

#include <string.h>

void spotter_detector_start(struct spotter_detector* detector) {
  memset(detector, 0, sizeof *detector);
}

static int32_t mean_percent(const struct spotter_detector* detector, int32_t class) {
  int32_t sum = 0;
  for (int32_t i = 0; i < SPOTTER_SMOOTHED; ++i) sum += detector->scores[i][class];
  return sum * 100 / (256 * SPOTTER_SMOOTHED);
}

int32_t spotter_detector_take(struct spotter_detector* detector,
                              const uint8_t scores[SPOTTER_CLASSES], int32_t* percent) {
  memcpy(detector->scores[detector->next], scores, SPOTTER_CLASSES);
  detector->next = (detector->next + 1) % SPOTTER_SMOOTHED;
  int32_t best = SPOTTER_FIRST_KEYWORD;
  for (int32_t class = best + 1; class < SPOTTER_CLASSES; ++class) {
    if (mean_percent(detector, class) > mean_percent(detector, best)) best = class;
  }
  *percent = mean_percent(detector, best);
  if (detector->quiet_runs > 0) --detector->quiet_runs;
  if (*percent < SPOTTER_THRESHOLD_PERCENT || detector->quiet_runs > 0) return -1;
  detector->quiet_runs = SPOTTER_REFRACTORY_RUNS;
  return best;
}
