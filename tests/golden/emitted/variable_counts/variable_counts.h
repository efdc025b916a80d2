/* variable_counts: a neural network, compiled ahead of time. Generated file.
 *
 * The caller owns all memory. Fill the inputs, run, read the outputs; an input's bytes may be
 * overwritten by the run, an output stays until an input is written again. Several instances
 * and several models may live in one program; nothing is allocated and nothing is global. */
#ifndef VARIABLE_COUNTS_H
#define VARIABLE_COUNTS_H

#include <stdint.h>

#include "intarsia/contract/placement.h"
#include "intarsia/contract/status.h"
#include "intarsia/contract/version.h"

#if INTARSIA_RUNTIME_VERSION != 4
#error "variable_counts was compiled for version 4 of the Intarsia runtime, and intarsia/contract/version.h is of another: compile all models of a program with one version of Intarsia"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What this was compiled by, for, and from. */
#define VARIABLE_COUNTS_COMPILER "Intarsia 0.1.0"
#define VARIABLE_COUNTS_TARGET "c"

/* Working memory in bytes, one block per memory of the plan; by number too, in the
 * order of struct variable_counts_resources. */
#define VARIABLE_COUNTS_RAM_BYTES 40
#define VARIABLE_COUNTS_MEMORY_COUNT 1
#define VARIABLE_COUNTS_MEMORY0_BYTES VARIABLE_COUNTS_RAM_BYTES
#define VARIABLE_COUNTS_ALIGNMENT 16

#define VARIABLE_COUNTS_INPUT_COUNT 1
/* t0: float [3], plain numbers */
#define VARIABLE_COUNTS_INPUT0_NAME "t0"
#define VARIABLE_COUNTS_INPUT0_TYPE float
#define VARIABLE_COUNTS_INPUT0_RANK 1
#define VARIABLE_COUNTS_INPUT0_DIMS {3}
#define VARIABLE_COUNTS_INPUT0_DIM0 3
#define VARIABLE_COUNTS_INPUT0_ELEMENTS 3
#define VARIABLE_COUNTS_INPUT0_BYTES 12

#define VARIABLE_COUNTS_OUTPUT_COUNT 1
/* t2: float [3], plain numbers */
#define VARIABLE_COUNTS_OUTPUT0_NAME "t2"
#define VARIABLE_COUNTS_OUTPUT0_TYPE float
#define VARIABLE_COUNTS_OUTPUT0_RANK 1
#define VARIABLE_COUNTS_OUTPUT0_DIMS {3}
#define VARIABLE_COUNTS_OUTPUT0_DIM0 3
#define VARIABLE_COUNTS_OUTPUT0_ELEMENTS 3
#define VARIABLE_COUNTS_OUTPUT0_BYTES 12
#define VARIABLE_COUNTS_OUTPUT0_CLASS_COUNT 3

#ifndef __cplusplus
_Static_assert(VARIABLE_COUNTS_INPUT0_BYTES == VARIABLE_COUNTS_INPUT0_ELEMENTS * sizeof(float),
    "the size follows from the shape");
_Static_assert(VARIABLE_COUNTS_OUTPUT0_BYTES == VARIABLE_COUNTS_OUTPUT0_ELEMENTS * sizeof(float),
    "the size follows from the shape");
#endif

/* What the model works with. Blocks are aligned to VARIABLE_COUNTS_ALIGNMENT. */
struct variable_counts_resources {
  void *ram; /* VARIABLE_COUNTS_RAM_BYTES */
};

/* Memory for one instance, whatever the board's memories are called: at file scope
 *   VARIABLE_COUNTS_DEFINE_RESOURCES(memory);
 * is the blocks, and `static struct variable_counts_resources memory` that has them. */
#define VARIABLE_COUNTS_DEFINE_RESOURCES(name) \
  INTARSIA_ALIGNED(VARIABLE_COUNTS_ALIGNMENT) static uint8_t \
      name##_ram[VARIABLE_COUNTS_RAM_BYTES] INTARSIA_IN_MEMORY(ram); \
  static struct variable_counts_resources name = {name##_ram}

/* One instance; its members are the model's own. */
struct variable_counts {
  struct variable_counts_resources resources;
  int32_t ready;
};

/* INTARSIA_OK, which is 0, or a code of intarsia/contract/status.h, which `intarsia
 * explain-error` explains. */
intarsia_status variable_counts_init(struct variable_counts *model, const struct
    variable_counts_resources *resources);
intarsia_status variable_counts_run(struct variable_counts *model);
/* Forgets what earlier runs have left in the model's state; init does so as well. The state
 * lies in the blocks above, so that an instance with state needs blocks of its own. */
intarsia_status variable_counts_reset(struct variable_counts *model);
/* Null when the index is out of range or the model is not initialised. */
void *variable_counts_input(const struct variable_counts *model, int32_t index);
const void *variable_counts_output(const struct variable_counts *model, int32_t index);

/* The same with types. For a real number, an input holds the nearest step, halves away from
 * zero, within the range of its type. */
static inline float *variable_counts_input0(const struct variable_counts *model) {
  return (float *)variable_counts_input(model, 0);
}
static inline const float *variable_counts_output0(const struct variable_counts *model) {
  return (const float *)variable_counts_output(model, 0);
}

#ifdef __cplusplus
}
#endif

#endif
