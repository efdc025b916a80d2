/* Times inferences of the linked model, overlapped when it has parts: argv[1] of them, nanoseconds each on
 * standard output. Inputs stay as they are: what is computed does not depend on them. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "intarsia/contract/model_descriptor.h"
#include "intarsia/contract/status.h"

static int run_overlapped(long count) {
  long given = 0;
  long taken = 0;
  while (taken < count) {
    int status = given < count ? intarsia_model.submit() : INTARSIA_PENDING;
    if (status == INTARSIA_OK) {
      ++given;
      continue;
    }
    if (status != INTARSIA_PENDING) return status;
    status = intarsia_model.collect();
    if (status == INTARSIA_OK) ++taken;
    if (status != INTARSIA_OK && status != INTARSIA_PENDING) return status;
  }
  return 0;
}

static int run_in_turn(long count) {
  int status = 0;
  for (long i = 0; i < count && status == 0; ++i) status = intarsia_model.run();
  return status;
}

int main(int argc, char** argv) {
  const long count = argc == 2 ? strtol(argv[1], NULL, 10) : 0;
  struct timespec begin;
  struct timespec end;
  int status;
  if (count < 1 || intarsia_model.init() != 0) return 1;
  (void)clock_gettime(CLOCK_MONOTONIC, &begin);
  status = intarsia_model.submit != NULL ? run_overlapped(count) : run_in_turn(count);
  (void)clock_gettime(CLOCK_MONOTONIC, &end);
  if (status != 0) return 2;
  printf("%.0f\n",
         ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) /
             (double)count);
  return 0;
}
