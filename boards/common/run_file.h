/* The run file: what one start of the firmware is to do, one item per line (boards/README.md).
 * Reading it opens the files it names, so that only handles are kept, not paths. */
#ifndef INTARSIA_BOARD_RUN_FILE_H
#define INTARSIA_BOARD_RUN_FILE_H

#include <stdint.h>

/* Inputs, and outputs, of the model that is linked; who builds a program for one model says how many it has. */
#ifndef INTARSIA_MAX_TENSORS
#define INTARSIA_MAX_TENSORS 16
#endif

enum { INTARSIA_MAX_LINE = 512 };

struct intarsia_run_request {
  int32_t repeat;
  int32_t keep_all; /* 1: every run's outputs are appended, 0: the last run's are written */
  int32_t input_count;
  int32_t output_count;
  int32_t
      joined_inputs; /* 1: one file holds all inputs of a run, in order, and then those of the next run */
  int32_t joined_outputs;                /* 1: the same of outputs */
  int32_t inputs[INTARSIA_MAX_TENSORS];  /* open files */
  int32_t outputs[INTARSIA_MAX_TENSORS]; /* open files */
  int32_t report;                        /* open file, or -1 for none */
  int32_t results;                       /* the same, for each operator's result */
  int32_t package;                       /* the same, for a package that the model is taken from */
};

/* 0, or the exit status after a line on the console that says what is wrong. */
int32_t intarsia_read_run_file(struct intarsia_run_request* request);

#endif
