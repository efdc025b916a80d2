/* Times inferences of the linked model on the input that standard input holds: argv[1] batches of argv[2] inferences. Prints the
 * microseconds of an inference in the fastest batch, in processor time, and the bytes of the first output. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "model.h"

MODEL_DEFINE_RESOURCES(memory);

static double microseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

int main(int count, char** words) {
  static struct model model;
  static unsigned char input[MODEL_INPUT0_BYTES];
  const int batches = count > 1 ? atoi(words[1]) : 1;
  const int inferences = count > 2 ? atoi(words[2]) : 1;
  double best = 0;
  if (model_init(&model, &memory) != 0) return 1;
  if (fread(input, 1, sizeof input, stdin) != sizeof input) return 1;
  for (int batch = 0; batch < batches; ++batch) {
    double taken = 0;
    for (int i = 0; i < inferences; ++i) {
      /* An input's memory may hold something else after a run. */
      unsigned char* place = model_input(&model, 0);
      for (size_t byte = 0; byte < sizeof input; ++byte) place[byte] = input[byte];
      const double begin = microseconds();
      if (model_run(&model) != 0) return 1;
      taken += microseconds() - begin;
    }
    if (batch == 0 || taken < best) best = taken;
  }
  printf("%.2f\n", best / inferences);
  const unsigned char* output = model_output(&model, 0);
  for (size_t byte = 0; byte < MODEL_OUTPUT0_BYTES; ++byte) printf("%02x", output[byte]);
  printf("\n");
  return 0;
}
