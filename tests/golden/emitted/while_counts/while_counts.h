/* while_counts: a neural network, compiled ahead of time. Generated file.
 *
 * The caller owns all memory. Fill the inputs, run, read the outputs; an input's bytes may be
 * overwritten by the run, an output stays until an input is written again. Several instances
 * and several models may live in one program; nothing is allocated and nothing is global. */
#ifndef WHILE_COUNTS_H
#define WHILE_COUNTS_H

#include <stdint.h>

#include "intarsia/contract/placement.h"
#include "intarsia/contract/status.h"
#include "intarsia/contract/version.h"

#if INTARSIA_RUNTIME_VERSION != 4
#error "while_counts was compiled for version 4 of the Intarsia runtime, and intarsia/contract/version.h is of another: compile all models of a program with one version of Intarsia"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What this was compiled by, for, and from. */
#define WHILE_COUNTS_COMPILER "Intarsia 0.1.0"
#define WHILE_COUNTS_TARGET "c"

/* Working memory in bytes, one block per memory of the plan; by number too, in the
 * order of struct while_counts_resources. */
#define WHILE_COUNTS_RAM_BYTES 36
#define WHILE_COUNTS_MEMORY_COUNT 1
#define WHILE_COUNTS_MEMORY0_BYTES WHILE_COUNTS_RAM_BYTES
#define WHILE_COUNTS_ALIGNMENT 16

#define WHILE_COUNTS_INPUT_COUNT 1
/* t0: float [2], plain numbers */
#define WHILE_COUNTS_INPUT0_NAME "t0"
#define WHILE_COUNTS_INPUT0_TYPE float
#define WHILE_COUNTS_INPUT0_RANK 1
#define WHILE_COUNTS_INPUT0_DIMS {2}
#define WHILE_COUNTS_INPUT0_DIM0 2
#define WHILE_COUNTS_INPUT0_ELEMENTS 2
#define WHILE_COUNTS_INPUT0_BYTES 8

#define WHILE_COUNTS_OUTPUT_COUNT 2
/* t2: float [2], plain numbers */
#define WHILE_COUNTS_OUTPUT0_NAME "t2"
#define WHILE_COUNTS_OUTPUT0_TYPE float
#define WHILE_COUNTS_OUTPUT0_RANK 1
#define WHILE_COUNTS_OUTPUT0_DIMS {2}
#define WHILE_COUNTS_OUTPUT0_DIM0 2
#define WHILE_COUNTS_OUTPUT0_ELEMENTS 2
#define WHILE_COUNTS_OUTPUT0_BYTES 8
#define WHILE_COUNTS_OUTPUT0_CLASS_COUNT 2
/* t1: int32_t [1], plain numbers */
#define WHILE_COUNTS_OUTPUT1_NAME "t1"
#define WHILE_COUNTS_OUTPUT1_TYPE int32_t
#define WHILE_COUNTS_OUTPUT1_RANK 1
#define WHILE_COUNTS_OUTPUT1_DIMS {1}
#define WHILE_COUNTS_OUTPUT1_DIM0 1
#define WHILE_COUNTS_OUTPUT1_ELEMENTS 1
#define WHILE_COUNTS_OUTPUT1_BYTES 4

#ifndef __cplusplus
_Static_assert(WHILE_COUNTS_INPUT0_BYTES == WHILE_COUNTS_INPUT0_ELEMENTS * sizeof(float),
    "the size follows from the shape");
_Static_assert(WHILE_COUNTS_OUTPUT0_BYTES == WHILE_COUNTS_OUTPUT0_ELEMENTS * sizeof(float),
    "the size follows from the shape");
_Static_assert(WHILE_COUNTS_OUTPUT1_BYTES == WHILE_COUNTS_OUTPUT1_ELEMENTS * sizeof(int32_t),
    "the size follows from the shape");
#endif

/* What the model works with. Blocks are aligned to WHILE_COUNTS_ALIGNMENT. */
struct while_counts_resources {
  void *ram; /* WHILE_COUNTS_RAM_BYTES */
};

/* Memory for one instance, whatever the board's memories are called: at file scope
 *   WHILE_COUNTS_DEFINE_RESOURCES(memory);
 * is the blocks, and `static struct while_counts_resources memory` that has them. */
#define WHILE_COUNTS_DEFINE_RESOURCES(name) \
  INTARSIA_ALIGNED(WHILE_COUNTS_ALIGNMENT) static uint8_t \
      name##_ram[WHILE_COUNTS_RAM_BYTES] INTARSIA_IN_MEMORY(ram); \
  static struct while_counts_resources name = {name##_ram}

/* One instance; its members are the model's own. */
struct while_counts {
  struct while_counts_resources resources;
  int32_t ready;
};

/* INTARSIA_OK, which is 0, or a code of intarsia/contract/status.h, which `intarsia
 * explain-error` explains. */
intarsia_status
    while_counts_init(struct while_counts *model, const struct while_counts_resources *resources);
intarsia_status while_counts_run(struct while_counts *model);
/* Null when the index is out of range or the model is not initialised. */
void *while_counts_input(const struct while_counts *model, int32_t index);
const void *while_counts_output(const struct while_counts *model, int32_t index);

/* The same with types. For a real number, an input holds the nearest step, halves away from
 * zero, within the range of its type. */
static inline float *while_counts_input0(const struct while_counts *model) {
  return (float *)while_counts_input(model, 0);
}
static inline const float *while_counts_output0(const struct while_counts *model) {
  return (const float *)while_counts_output(model, 0);
}
static inline const int32_t *while_counts_output1(const struct while_counts *model) {
  return (const int32_t *)while_counts_output(model, 1);
}

#ifdef __cplusplus
}
#endif

#endif
