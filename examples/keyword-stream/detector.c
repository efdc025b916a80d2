#include "detector.h"

#include <string.h>

void keyword_detector_start(struct keyword_detector* detector) {
  memset(detector, 0, sizeof *detector);
}

static int32_t mean_percent(const struct keyword_detector* detector, int32_t class) {
  int32_t sum = 0;
  for (int32_t i = 0; i < KEYWORD_SMOOTHED; ++i) sum += detector->scores[i][class];
  return sum * 100 / (256 * KEYWORD_SMOOTHED);
}

int32_t keyword_detector_take(struct keyword_detector* detector, const uint8_t scores[KEYWORD_CLASSES],
                              int32_t* percent) {
  memcpy(detector->scores[detector->next], scores, KEYWORD_CLASSES);
  detector->next = (detector->next + 1) % KEYWORD_SMOOTHED;
  int32_t best = KEYWORD_FIRST_KEYWORD;
  for (int32_t class = best + 1; class < KEYWORD_CLASSES; ++class) {
    if (mean_percent(detector, class) > mean_percent(detector, best)) best = class;
  }
  *percent = mean_percent(detector, best);
  if (detector->quiet_runs > 0) --detector->quiet_runs;
  if (*percent < KEYWORD_THRESHOLD_PERCENT || detector->quiet_runs > 0) return -1;
  detector->quiet_runs = KEYWORD_REFRACTORY_RUNS;
  return best;
}
