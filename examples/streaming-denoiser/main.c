/* Takes the noise out of a recording frame by frame, as it would between a microphone and a radio, and holds every
 * frame's work against the time until the next one. */
#include <stdint.h>
#include <string.h>

#include "cycles.h"
#include "denoiser.h"
#include "fixed_log2.h"
#include "noise_filter.h"
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

_Static_assert(DENOISER_INPUT0_BYTES == NOISE_FILTER_BANDS, "a feature for each band");
_Static_assert(DENOISER_OUTPUT0_BYTES == NOISE_FILTER_BANDS, "a gain for each band");

DENOISER_DEFINE_RESOURCES(memory);
static struct denoiser network;
static struct noise_filter filter;

static struct {
  int32_t frames;
  int32_t missed;
  int32_t most_instructions;
  uint64_t voice; /* energies: of the voice alone, and of what differs from it */
  uint64_t difference_before;
  uint64_t difference_after;
} sums;

static void stop(const char* what, int32_t code) {
  print(what);
  print(" failed, code ");
  print_number(code);
  print("\n");
  host_exit(1);
}

/* The work of a frame: all that has to be done before the next one is there. */
static void denoise(const int16_t* in, int16_t* out) {
  uint16_t gains[NOISE_FILTER_BANDS];
  noise_filter_listen(&filter, in, denoiser_input0(&network));
  const intarsia_status status = denoiser_run(&network);
  if (status != 0) stop("run", (int32_t)status);
  const int8_t* output = denoiser_output0(&network);
  for (int32_t b = 0; b < NOISE_FILTER_BANDS; ++b) {
    gains[b] =
        (uint16_t)(output[b] -
                   DENOISER_OUTPUT0_ZERO_POINT); /* the scale is 1/256, as the logistic's always is */
  }
  noise_filter_restore(&filter, gains, out);
}

static void time_frame(int32_t ticks) {
  const int32_t instructions = ticks * 5 / TICKS_PER_5_INSTRUCTIONS;
  ++sums.frames;
  if (instructions > sums.most_instructions) sums.most_instructions = instructions;
  if (instructions / 4 * DENOISER_CYCLES_PER_4_INSTRUCTIONS > CYCLES_PER_FRAME) ++sums.missed;
}

static void add_energies(const int16_t* voice, const int16_t* before, const int16_t* after) {
  for (int32_t i = 0; i < NOISE_FILTER_HOP; ++i) {
    const int32_t noise = before[i] - voice[i];
    const int32_t left = after[i] - voice[i];
    sums.voice += (uint64_t)((int64_t)voice[i] * voice[i]);
    sums.difference_before += (uint64_t)((int64_t)noise * noise);
    sums.difference_after += (uint64_t)((int64_t)left * left);
  }
}

static int32_t open(const char* path) {
  const int32_t file = host_open(path);
  if (file < 0) stop(path, file);
  return file;
}

/* A whole frame, or 0 at the end. */
static int read_frame(int32_t file, int16_t frame[NOISE_FILTER_HOP]) {
  const int32_t bytes = host_read(file, frame, NOISE_FILTER_HOP * (int32_t)sizeof *frame);
  if (bytes < 0) stop("reading", bytes);
  return bytes == NOISE_FILTER_HOP * (int32_t)sizeof *frame;
}

static void work_through(int32_t noisy, int32_t voice) {
  int16_t now[NOISE_FILTER_HOP];
  int16_t before[NOISE_FILTER_HOP];
  int16_t clean[NOISE_FILTER_HOP];
  int16_t out[NOISE_FILTER_HOP];
  while (read_frame(noisy, now)) {
    cycles_start();
    denoise(now, out);
    time_frame(cycles_since_start());
    /* What comes out is the frame before. */
    if (sums.frames > 1) {
      if (!read_frame(voice, clean)) stop("voice.pcm ended early", 0);
      add_energies(clean, before, out);
    }
    memcpy(before, now, sizeof before);
  }
}

static void print_decibel(const char* before, int32_t hundredths) {
  print(before);
  print_hundredths(hundredths);
  print(" dB");
}

static void report(void) {
  const int32_t first = fixed_centibel(sums.voice, sums.difference_before);
  const int32_t last = fixed_centibel(sums.voice, sums.difference_after);
  print_number(sums.frames);
  print(" frames of 8 ms, ");
  print_number(sums.missed);
  print(" deadlines missed\n");
  print_decibel("signal to noise ", first);
  print_decibel(" before, ", last);
  print_decibel(" after: ", last - first);
  print(" less noise\nlongest frame ");
  print_number(sums.most_instructions);
  print(" instructions; at ");
  print_hundredths(DENOISER_CYCLES_PER_4_INSTRUCTIONS * 25);
  print(" cycles for each, ");
  print_number(sums.most_instructions / 4 * DENOISER_CYCLES_PER_4_INSTRUCTIONS);
  print(" of ");
  print_number(CYCLES_PER_FRAME);
  print(" cycles\n");
}

int main(void) {
  const intarsia_status status = denoiser_init(&network, &memory);
  if (status != 0) stop("init", (int32_t)status);
  noise_filter_start(&filter, DENOISER_INPUT0_SCALE, DENOISER_INPUT0_ZERO_POINT);
  work_through(open("noisy.pcm"), open("voice.pcm"));
  report();
  return 0;
}
