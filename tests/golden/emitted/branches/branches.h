/* branches: a neural network, compiled ahead of time. Generated file.
 *
 * The caller owns all memory. Fill the inputs, run, read the outputs; an input's bytes may be
 * overwritten by the run, an output stays until an input is written again. Several instances
 * and several models may live in one program; nothing is allocated and nothing is global. */
#ifndef BRANCHES_H
#define BRANCHES_H

#include <stdint.h>

#include "intarsia/contract/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Working memory in bytes, one block per memory of the plan. */
#define BRANCHES_SRAM_BYTES 48
#define BRANCHES_ALIGNMENT 16

#define BRANCHES_INPUT_COUNT 1
/* signal: int8_t [1,16], real = 0.5 * (q - 0) */
#define BRANCHES_INPUT0_BYTES 16

#define BRANCHES_OUTPUT_COUNT 1
/* sum: int8_t [1,16], real = 1.5 * (q - 4) */
#define BRANCHES_OUTPUT0_BYTES 16

#ifndef __cplusplus
_Static_assert(BRANCHES_SRAM_BYTES <= 65536, "fits the board's memory");
_Static_assert(BRANCHES_INPUT0_BYTES == 16 * sizeof(int8_t), "the size follows from the shape");
_Static_assert(BRANCHES_OUTPUT0_BYTES == 16 * sizeof(int8_t), "the size follows from the shape");
#endif

/* What the model works with. Blocks are aligned to BRANCHES_ALIGNMENT. */
struct branches_resources {
  void *sram; /* BRANCHES_SRAM_BYTES */
};

/* One instance; its members are the model's own. */
struct branches {
  struct branches_resources resources;
  int32_t ready;
};

/* 0 on success, else a code of intarsia/contract/status.h. */
intarsia_status branches_init(struct branches *model, const struct branches_resources *resources);
intarsia_status branches_run(struct branches *model);
/* Null when the index is out of range or the model is not initialised. */
void *branches_input(const struct branches *model, int32_t index);
const void *branches_output(const struct branches *model, int32_t index);

#ifdef __cplusplus
}
#endif

#endif
