/* Listens to recordings for keywords, as it would to a microphone: samples come in blocks, features go into a ring, and
 * the network sees the last second of them every 80 ms. */
#include <stdint.h>
#include <string.h>

#include "detector.h"
#include "features.h"
#include "keyword.h"
#include "semihosting.h"

enum { BLOCK = 160 }; /* samples: 10 ms, as a microphone's DMA would hand them over */

_Static_assert(KEYWORD_INPUT0_BYTES == SPOTTER_FRAMES * SPOTTER_BANDS,
               "the network reads the frames of the ring");
_Static_assert(KEYWORD_OUTPUT0_BYTES == SPOTTER_CLASSES, "a score for each name");

KEYWORD_DEFINE_RESOURCES(memory);
static struct keyword network;

static struct {
  struct spotter_features features;
  struct spotter_detector detector;
  int8_t ring[SPOTTER_FRAMES][SPOTTER_BANDS];
  int32_t
      frames; /* since the recording began; the next one goes to frames % SPOTTER_FRAMES of the ring */
  int32_t runs;
  int32_t found;
} state;

/* The ring from its oldest frame on: two pieces. */
static void fill_input(void) {
  const int32_t oldest = state.frames % SPOTTER_FRAMES;
  const size_t tail = (size_t)(SPOTTER_FRAMES - oldest) * SPOTTER_BANDS;
  int8_t* input = keyword_input0(&network);
  memcpy(input, state.ring[oldest], tail);
  memcpy(input + tail, state.ring[0], (size_t)oldest * SPOTTER_BANDS);
}

/* A score of the network as 0 to 255 for 0 to 1; its scale is 1/256, as softmax's always is. */
static uint8_t as_byte(int8_t score) {
  return (uint8_t)(score - KEYWORD_OUTPUT0_ZERO_POINT);
}

static void report(int32_t word, int32_t percent) {
  /* The time of the last sample that was heard. */
  const int32_t samples = (state.frames - 1) * SPOTTER_HOP + SPOTTER_WINDOW;
  print("  ");
  print_hundredths(samples * 100 / SPOTTER_SAMPLE_RATE);
  print(" s  ");
  print(spotter_names[word]);
  print("  ");
  print_number(percent);
  print(" %\n");
}

static void run_network(void) {
  uint8_t scores[SPOTTER_CLASSES];
  int32_t percent = 0;
  fill_input();
  const intarsia_status status = keyword_run(&network);
  if (status != 0) stop("run", (int32_t)status);
  ++state.runs;
  const int8_t* output = keyword_output0(&network);
  for (int32_t i = 0; i < SPOTTER_CLASSES; ++i) scores[i] = as_byte(output[i]);
  const int32_t word = spotter_detector_take(&state.detector, scores, &percent);
  if (word < 0) return;
  ++state.found;
  report(word, percent);
}

static void take_block(const int16_t* samples, int32_t count) {
  while (count > 0) {
    int complete = 0;
    int8_t* frame = state.ring[state.frames % SPOTTER_FRAMES];
    const int32_t taken = spotter_features_take(&state.features, samples, count, frame, &complete);
    samples += taken;
    count -= taken;
    if (!complete) continue;
    ++state.frames;
    if (state.frames >= SPOTTER_FRAMES &&
        (state.frames - SPOTTER_FRAMES) % SPOTTER_FRAMES_PER_RUN == 0)
      run_network();
  }
}

static void listen(const char* name, const char* path) {
  int16_t block[BLOCK];
  int32_t samples = 0;
  memset(&state, 0, sizeof state);
  spotter_features_start(&state.features, KEYWORD_INPUT0_SCALE, KEYWORD_INPUT0_ZERO_POINT);
  spotter_detector_start(&state.detector);
  const int32_t file = host_open(path);
  if (file < 0) stop(path, file);
  print("recording ");
  print(name);
  print("\n");
  for (;;) {
    const int32_t bytes = host_read(file, block, (int32_t)sizeof block);
    if (bytes < 0) stop(path, bytes);
    if (bytes < (int32_t)sizeof(int16_t)) break;
    take_block(block, bytes / (int32_t)sizeof(int16_t));
    samples += bytes / (int32_t)sizeof(int16_t);
  }
  host_close(file);
  print("  ");
  print_number(samples);
  print(" samples, ");
  print_number(state.frames);
  print(" frames, ");
  print_number(state.runs);
  print(" runs of the network, ");
  print_number(state.found);
  print(" keywords\n");
}

int main(void) {
  const intarsia_status status = keyword_init(&network, &memory);
  if (status != 0) stop("init", (int32_t)status);
  listen("quiet", "quiet.pcm");
  listen("noisy", "noisy.pcm");
  return 0;
}
