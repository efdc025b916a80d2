/* while_counts: a neural network, compiled ahead of time. Generated file.
 *
 * The caller owns all memory. Fill the inputs, run, read the outputs; an input's bytes may be
 * overwritten by the run, an output stays until an input is written again. Several instances
 * and several models may live in one program; nothing is allocated and nothing is global. */
#ifndef WHILE_COUNTS_H
#define WHILE_COUNTS_H

#include <stdint.h>

#include "intarsia/contract/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Working memory in bytes, one block per memory of the plan. */
#define WHILE_COUNTS_RAM_BYTES 36
#define WHILE_COUNTS_ALIGNMENT 16

#define WHILE_COUNTS_INPUT_COUNT 1
/* t0: float [2], plain numbers */
#define WHILE_COUNTS_INPUT0_BYTES 8

#define WHILE_COUNTS_OUTPUT_COUNT 2
/* t2: float [2], plain numbers */
#define WHILE_COUNTS_OUTPUT0_BYTES 8
/* t1: int32_t [1], plain numbers */
#define WHILE_COUNTS_OUTPUT1_BYTES 4

#ifndef __cplusplus
_Static_assert(WHILE_COUNTS_INPUT0_BYTES == 2 * sizeof(float), "the size follows from the shape");
_Static_assert(WHILE_COUNTS_OUTPUT0_BYTES == 2 * sizeof(float), "the size follows from the shape");
_Static_assert(WHILE_COUNTS_OUTPUT1_BYTES == 1 * sizeof(int32_t),
    "the size follows from the shape");
#endif

/* What the model works with. Blocks are aligned to WHILE_COUNTS_ALIGNMENT. */
struct while_counts_resources {
  void *ram; /* WHILE_COUNTS_RAM_BYTES */
};

/* One instance; its members are the model's own. */
struct while_counts {
  struct while_counts_resources resources;
  int32_t ready;
};

/* 0 on success, else a code of intarsia/contract/status.h. */
intarsia_status
    while_counts_init(struct while_counts *model, const struct while_counts_resources *resources);
intarsia_status while_counts_run(struct while_counts *model);
/* Null when the index is out of range or the model is not initialised. */
void *while_counts_input(const struct while_counts *model, int32_t index);
const void *while_counts_output(const struct while_counts *model, int32_t index);

#ifdef __cplusplus
}
#endif

#endif
