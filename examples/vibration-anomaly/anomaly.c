#include "anomaly.h"

#include <string.h>

static int32_t q16(float scale) {
  return (int32_t)(scale * 65536.0f + 0.5f);
}

void anomaly_start(struct anomaly* anomaly, float in_scale, int32_t in_zero, float out_scale,
                   int32_t out_zero) {
  memset(anomaly, 0, sizeof *anomaly);
  anomaly->in_step = q16(in_scale);
  anomaly->in_zero = in_zero;
  anomaly->out_step = q16(out_scale);
  anomaly->out_zero = out_zero;
}

static int32_t mean_square_q16(const struct anomaly* anomaly, const int8_t* spectrum,
                               const int8_t* again) {
  int64_t sum = 0;
  for (int32_t b = 0; b < VIBRATION_BANDS; ++b) {
    const int64_t difference = (spectrum[b] - anomaly->in_zero) * anomaly->in_step -
                               (again[b] - anomaly->out_zero) * anomaly->out_step;
    sum += difference * difference;
  }
  return (int32_t)((sum / VIBRATION_BANDS) >> 16);
}

int32_t anomaly_take(struct anomaly* anomaly, const int8_t spectrum[VIBRATION_BANDS],
                     const int8_t again[VIBRATION_BANDS]) {
  int64_t sum = 0;
  anomaly->last[anomaly->next] = mean_square_q16(anomaly, spectrum, again);
  anomaly->next = (anomaly->next + 1) % VIBRATION_SMOOTHED;
  for (int32_t i = 0; i < VIBRATION_SMOOTHED; ++i) sum += anomaly->last[i];
  return (int32_t)(sum / VIBRATION_SMOOTHED);
}
