/* Takes the noise out of a recording frame by frame, as it would between a microphone and a radio, and holds every
 * frame's work against the time until the next one. */
#include <stdint.h>

#include "cycles.h"
#include "denoise.h"
#include "recording.h"
#include "semihosting.h"

/* QEMU says how many instructions a frame takes, not how many cycles. A Cortex-M4 takes one cycle for most of them, and
 * two or more for loads, taken branches and divisions: this is the assumption for their mean, times 4. Measure it on the
 * board, where cycles_since_start answers in cycles. */
#ifndef DENOISER_CYCLES_PER_4_INSTRUCTIONS
#define DENOISER_CYCLES_PER_4_INSTRUCTIONS 6
#endif

enum {
  CYCLES_PER_FRAME = CYCLES_PER_SECOND / 1000 * NOISE_FILTER_HOP / (NOISE_FILTER_SAMPLE_RATE / 1000)
};

DENOISER_DEFINE_RESOURCES(memory);
static struct denoiser network;
static struct noise_filter filter;

static int32_t missed;
static int32_t most_instructions;

static void time_frame(int32_t ticks) {
  const int32_t instructions = ticks * 5 / TICKS_PER_5_INSTRUCTIONS;
  if (instructions > most_instructions) most_instructions = instructions;
  if (instructions / 4 * DENOISER_CYCLES_PER_4_INSTRUCTIONS > CYCLES_PER_FRAME) ++missed;
}

static void work_through(void) {
  int16_t frame[NOISE_FILTER_HOP];
  int16_t out[NOISE_FILTER_HOP];
  while (recording_next(frame)) {
    cycles_start();
    const intarsia_status status = denoise(&network, &filter, frame, out);
    time_frame(cycles_since_start());
    if (status != INTARSIA_OK) stop("run", (int32_t)status);
    recording_compare(out);
  }
}

static void report(void) {
  print_number(recording_frames());
  print(" frames of 8 ms, ");
  print_number(missed);
  print(" deadlines missed\n");
  recording_report();
  print("longest frame ");
  print_number(most_instructions);
  print(" instructions; at ");
  print_hundredths(DENOISER_CYCLES_PER_4_INSTRUCTIONS * 25);
  print(" cycles for each, ");
  print_number(most_instructions / 4 * DENOISER_CYCLES_PER_4_INSTRUCTIONS);
  print(" of ");
  print_number(CYCLES_PER_FRAME);
  print(" cycles\n");
}

int main(void) {
  const intarsia_status status = denoiser_init(&network, &memory);
  if (status != 0) stop("init", (int32_t)status);
  noise_filter_start(&filter, DENOISER_INPUT0_SCALE, DENOISER_INPUT0_ZERO_POINT);
  recording_open("");
  work_through();
  report();
  return 0;
}
