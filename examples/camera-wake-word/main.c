/* Looks at frames of a camera for a person: each is cropped, scaled and quantised straight into the network's input. */
#include <stdint.h>

#include "camera.h"
#include "person.h"
#include "semihosting.h"

enum { WAKE_PERCENT = 80, PERSON = 1 };

_Static_assert(PERSON_INPUT0_BYTES == CAMERA_SIDE * CAMERA_SIDE,
               "the network reads the scaled square");

PERSON_DEFINE_RESOURCES(memory);
static struct person network;
static uint16_t frame[CAMERA_WIDTH * CAMERA_HEIGHT];

static const char* const names[] = {"0_nobody", "1_person", "2_nobody", "3_person",
                                    "4_person", "5_nobody", "6_person", "7_nobody"};

/* In the place of a camera's driver. */
static void capture(const char* name) {
  char path[40] = "frames/";
  int32_t at = 7;
  for (const char* from = name; *from != '\0'; ++from) path[at++] = *from;
  for (const char* from = ".rgb565"; *from != '\0'; ++from) path[at++] = *from;
  const int32_t file = host_open(path);
  if (file < 0) stop(path, file);
  const int32_t bytes = host_read(file, frame, (int32_t)sizeof frame);
  if (bytes != (int32_t)sizeof frame) stop(path, bytes);
  host_close(file);
}

/* In hundredths. The scale of the scores is 1/256, as softmax's always is. */
static int32_t percent_person(void) {
  camera_to_input(frame, person_input0(&network), PERSON_INPUT0_SCALE, PERSON_INPUT0_ZERO_POINT);
  const intarsia_status status = person_run(&network);
  if (status != 0) stop("run", (int32_t)status);
  const int8_t* scores = person_output0(&network);
  return (scores[PERSON] - PERSON_OUTPUT0_ZERO_POINT) * 100 / 256;
}

int main(void) {
  const int32_t count = (int32_t)(sizeof names / sizeof *names);
  const intarsia_status status = person_init(&network, &memory);
  int32_t woken = 0;
  if (status != 0) stop("init", (int32_t)status);
  for (int32_t i = 0; i < count; ++i) {
    capture(names[i]);
    const int32_t percent = percent_person();
    const int wake = percent >= WAKE_PERCENT;
    woken += wake;
    print(names[i]);
    print(".rgb565: person ");
    print_number(percent);
    print(wake ? " %, wake\n" : " %, sleep on\n");
  }
  print_number(count);
  print(" frames, woken by ");
  print_number(woken);
  print("\n");
  return 0;
}
