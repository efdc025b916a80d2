/* variable_counts: a neural network, compiled ahead of time. Generated file.
 *
 * The caller owns all memory. Fill the inputs, run, read the outputs; an input's bytes may be
 * overwritten by the run, an output stays until an input is written again. Several instances
 * and several models may live in one program; nothing is allocated and nothing is global. */
#ifndef VARIABLE_COUNTS_H
#define VARIABLE_COUNTS_H

#include <stdint.h>

#include "intarsia/contract/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Working memory in bytes, one block per memory of the plan. */
#define VARIABLE_COUNTS_RAM_BYTES 40
#define VARIABLE_COUNTS_ALIGNMENT 16

#define VARIABLE_COUNTS_INPUT_COUNT 1
/* t0: float [3], plain numbers */
#define VARIABLE_COUNTS_INPUT0_BYTES 12

#define VARIABLE_COUNTS_OUTPUT_COUNT 1
/* t2: float [3], plain numbers */
#define VARIABLE_COUNTS_OUTPUT0_BYTES 12

#ifndef __cplusplus
_Static_assert(VARIABLE_COUNTS_INPUT0_BYTES == 3 * sizeof(float),
    "the size follows from the shape");
_Static_assert(VARIABLE_COUNTS_OUTPUT0_BYTES == 3 * sizeof(float),
    "the size follows from the shape");
#endif

/* What the model works with. Blocks are aligned to VARIABLE_COUNTS_ALIGNMENT. */
struct variable_counts_resources {
  void *ram; /* VARIABLE_COUNTS_RAM_BYTES */
};

/* One instance; its members are the model's own. */
struct variable_counts {
  struct variable_counts_resources resources;
  int32_t ready;
};

/* 0 on success, else a code of intarsia/contract/status.h. */
intarsia_status variable_counts_init(struct variable_counts *model, const struct
    variable_counts_resources *resources);
intarsia_status variable_counts_run(struct variable_counts *model);
/* Forgets what earlier runs have left in the model's state; init does so as well. The state
 * lies in the blocks above, so that an instance with state needs blocks of its own. */
intarsia_status variable_counts_reset(struct variable_counts *model);
/* Null when the index is out of range or the model is not initialised. */
void *variable_counts_input(const struct variable_counts *model, int32_t index);
const void *variable_counts_output(const struct variable_counts *model, int32_t index);

#ifdef __cplusplus
}
#endif

#endif
