/* Watches a motor by the acceleration at its bearing: a network that has learned the spectra of healthy motors repeats
 * what it is shown; what it cannot repeat is no healthy motor. */
#include <stdint.h>
#include <string.h>

#include "anomaly.h"
#include "log_mel.h"
#include "motor.h"
#include "semihosting.h"

_Static_assert(MOTOR_INPUT0_BYTES == VIBRATION_BANDS, "a byte for each band");
_Static_assert(MOTOR_OUTPUT0_BYTES == VIBRATION_BANDS, "and the same of what it repeats");

MOTOR_DEFINE_RESOURCES(memory);
static struct motor network;
static const struct mel_bands bands = {VIBRATION_BANDS, vibration_edges, vibration_rising};
static struct log_mel spectrum;
static struct anomaly anomaly;

static int32_t score_of(const int16_t samples[VIBRATION_WINDOW]) {
  /* The run may write over the input, which is compared afterwards. */
  int8_t shown[VIBRATION_BANDS];
  log_mel_frame(&spectrum, samples, shown);
  memcpy(motor_input0(&network), shown, sizeof shown);
  const intarsia_status status = motor_run(&network);
  if (status != 0) stop("run", (int32_t)status);
  return anomaly_take(&anomaly, shown, motor_output0(&network));
}

static void watch(const char* name) {
  int16_t samples[VIBRATION_WINDOW];
  char path[24] = "";
  int32_t windows = 0;
  int32_t highest = 0;
  strcat(strcat(path, name), ".pcm");
  anomaly_start(&anomaly, MOTOR_INPUT0_SCALE, MOTOR_INPUT0_ZERO_POINT, MOTOR_OUTPUT0_SCALE,
                MOTOR_OUTPUT0_ZERO_POINT);
  const int32_t file = host_open(path);
  if (file < 0) stop(path, file);
  print("recording ");
  print(name);
  print("\n");
  while (host_read(file, samples, (int32_t)sizeof samples) == (int32_t)sizeof samples) {
    const int32_t score = score_of(samples);
    ++windows;
    if (score > VIBRATION_THRESHOLD_Q16 && highest <= VIBRATION_THRESHOLD_Q16) {
      print("  ");
      print_hundredths(windows * VIBRATION_WINDOW * 100 / VIBRATION_SAMPLE_RATE);
      print(" s  alarm\n");
    }
    if (score > highest) highest = score;
  }
  host_close(file);
  print("  ");
  print_number(windows);
  print(" windows, at most ");
  print_number(highest * 100 / VIBRATION_THRESHOLD_Q16);
  print(" % of the threshold\n");
}

int main(void) {
  const intarsia_status status = motor_init(&network, &memory);
  if (status != 0) stop("init", (int32_t)status);
  spectrum = (struct log_mel){&bands,
                              vibration_window,
                              VIBRATION_WINDOW_LOG2,
                              VIBRATION_CENTRE_LOG2,
                              log_mel_step(MOTOR_INPUT0_SCALE, VIBRATION_OCTAVES),
                              MOTOR_INPUT0_ZERO_POINT};
  watch("healthy");
  watch("imbalance");
  watch("outer_race");
  watch("looseness");
  return 0;
}
