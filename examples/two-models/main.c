/* A doorbell: it listens for a keyword, and when somebody says one, it looks who is there. Two networks in one image that
 * never run at the same time, so that both work in the same memory. */
#include <stdint.h>
#include <string.h>

#include "../camera-wake-word/camera.h"
#include "../keyword-stream/detector.h"
#include "../keyword-stream/features.h"
#include "keyword.h"
#include "person.h"
#include "semihosting.h"

enum { BLOCK = 160, OPEN_PERCENT = 80, PERSON = 1, FRAMES_OF_CAMERA = 8 };
#define LARGER(a, b) ((a) > (b) ? (a) : (b))

_Static_assert(KEYWORD_MEMORY_COUNT == 1 && PERSON_MEMORY_COUNT == 1, "one block each");
_Static_assert(KEYWORD_INPUT0_BYTES == SPOTTER_FRAMES * SPOTTER_BANDS, "the frames of the ring");
_Static_assert(KEYWORD_OUTPUT0_BYTES == SPOTTER_CLASSES, "a score for each name");
_Static_assert(PERSON_INPUT0_BYTES == CAMERA_SIDE * CAMERA_SIDE, "the scaled square");

/* A network without state needs its block from the moment its input is written until its output is read, and no longer. */
static _Alignas(LARGER(KEYWORD_ALIGNMENT, PERSON_ALIGNMENT))
    uint8_t memory[LARGER(KEYWORD_MEMORY0_BYTES, PERSON_MEMORY0_BYTES)];
static const struct keyword_resources listening = {memory};
static const struct person_resources looking = {memory};
static struct keyword keyword_network;
static struct person person_network;

static struct {
  struct spotter_features features;
  struct spotter_detector detector;
  int8_t ring[SPOTTER_FRAMES][SPOTTER_BANDS];
  int32_t frames;
} sound;
static uint16_t picture[CAMERA_WIDTH * CAMERA_HEIGHT];
static int32_t pictures;

/* In the place of a camera's driver: the recorded frames, one after another. */
static const char* capture(void) {
  static const char* const names[FRAMES_OF_CAMERA] = {"0_nobody", "1_person", "2_nobody",
                                                      "3_person", "4_person", "5_nobody",
                                                      "6_person", "7_nobody"};
  const char* name = names[pictures++ % FRAMES_OF_CAMERA];
  char path[60] = "../camera-wake-word/frames/";
  strcat(strcat(path, name), ".rgb565");
  const int32_t file = host_open(path);
  if (file < 0) stop(path, file);
  const int32_t bytes = host_read(file, picture, (int32_t)sizeof picture);
  if (bytes != (int32_t)sizeof picture) stop(path, bytes);
  host_close(file);
  return name;
}

static void look(void) {
  const char* name = capture();
  camera_to_input(picture, person_input0(&person_network), PERSON_INPUT0_SCALE,
                  PERSON_INPUT0_ZERO_POINT);
  const intarsia_status status = person_run(&person_network);
  if (status != 0) stop("run", (int32_t)status);
  /* The scale of the scores is 1/256, as softmax's always is. */
  const int32_t percent =
      (person_output0(&person_network)[PERSON] - PERSON_OUTPUT0_ZERO_POINT) * 100 / 256;
  print(": ");
  print(name);
  print(".rgb565: person ");
  print_number(percent);
  print(percent >= OPEN_PERCENT ? " %, open\n" : " %, stay shut\n");
}

static void listen_once(void) {
  uint8_t scores[SPOTTER_CLASSES];
  int32_t percent = 0;
  const int32_t oldest = sound.frames % SPOTTER_FRAMES;
  const size_t tail = (size_t)(SPOTTER_FRAMES - oldest) * SPOTTER_BANDS;
  int8_t* input = keyword_input0(&keyword_network);
  memcpy(input, sound.ring[oldest], tail);
  memcpy(input + tail, sound.ring[0], (size_t)oldest * SPOTTER_BANDS);
  const intarsia_status status = keyword_run(&keyword_network);
  if (status != 0) stop("run", (int32_t)status);
  const int8_t* output = keyword_output0(&keyword_network);
  for (int32_t i = 0; i < SPOTTER_CLASSES; ++i)
    scores[i] = (uint8_t)(output[i] - KEYWORD_OUTPUT0_ZERO_POINT);
  const int32_t word = spotter_detector_take(&sound.detector, scores, &percent);
  if (word < 0) return;
  print("  ");
  print_hundredths(((sound.frames - 1) * SPOTTER_HOP + SPOTTER_WINDOW) * 100 / SPOTTER_SAMPLE_RATE);
  print(" s  ");
  print(spotter_names[word]);
  look();
}

static void take_block(const int16_t* samples, int32_t count) {
  while (count > 0) {
    int complete = 0;
    int8_t* frame = sound.ring[sound.frames % SPOTTER_FRAMES];
    const int32_t taken = spotter_features_take(&sound.features, samples, count, frame, &complete);
    samples += taken;
    count -= taken;
    if (!complete) continue;
    ++sound.frames;
    if (sound.frames >= SPOTTER_FRAMES &&
        (sound.frames - SPOTTER_FRAMES) % SPOTTER_FRAMES_PER_RUN == 0)
      listen_once();
  }
}

static void listen(const char* name, const char* path) {
  int16_t block[BLOCK];
  memset(&sound, 0, sizeof sound);
  spotter_features_start(&sound.features, KEYWORD_INPUT0_SCALE, KEYWORD_INPUT0_ZERO_POINT);
  spotter_detector_start(&sound.detector);
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
  }
  host_close(file);
}

int main(void) {
  intarsia_status status = keyword_init(&keyword_network, &listening);
  if (status != 0) stop("init", (int32_t)status);
  status = person_init(&person_network, &looking);
  if (status != 0) stop("init", (int32_t)status);
  listen("quiet", "../keyword-stream/quiet.pcm");
  listen("noisy", "../keyword-stream/noisy.pcm");
  print_number((int32_t)sizeof memory);
  print(" bytes of memory for both networks, ");
  print_number(KEYWORD_MEMORY0_BYTES + PERSON_MEMORY0_BYTES);
  print(" if each had its own\n");
  return 0;
}
