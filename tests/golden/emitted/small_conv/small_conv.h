/* small_conv: a neural network, compiled ahead of time. Generated file.
 *
 * The caller owns all memory. Fill the inputs, run, read the outputs; an input's bytes may be
 * overwritten by the run, an output stays until an input is written again. Several instances
 * and several models may live in one program; nothing is allocated and nothing is global. */
#ifndef SMALL_CONV_H
#define SMALL_CONV_H

#include <stdint.h>

#include "intarsia/contract/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Working memory in bytes, one block per memory of the plan. */
#define SMALL_CONV_SRAM_BYTES 38
#define SMALL_CONV_ALIGNMENT 16

#define SMALL_CONV_INPUT_COUNT 1
/* image: int8_t [1,3,3,1], real = 0.5 * (q + 3) */
#define SMALL_CONV_INPUT0_BYTES 9

#define SMALL_CONV_OUTPUT_COUNT 1
/* scores: int8_t [1,18], real = 0.00390625 * (q + 128) */
#define SMALL_CONV_OUTPUT0_BYTES 18

#ifndef __cplusplus
_Static_assert(SMALL_CONV_SRAM_BYTES <= 65536, "fits the board's memory");
_Static_assert(SMALL_CONV_INPUT0_BYTES == 9 * sizeof(int8_t), "the size follows from the shape");
_Static_assert(SMALL_CONV_OUTPUT0_BYTES == 18 * sizeof(int8_t), "the size follows from the shape");
#endif

/* What the model works with. Blocks are aligned to SMALL_CONV_ALIGNMENT. */
struct small_conv_resources {
  void *sram; /* SMALL_CONV_SRAM_BYTES */
};

/* One instance; its members are the model's own. */
struct small_conv {
  struct small_conv_resources resources;
  int32_t ready;
};

/* 0 on success, else a code of intarsia/contract/status.h. */
intarsia_status
    small_conv_init(struct small_conv *model, const struct small_conv_resources *resources);
intarsia_status small_conv_run(struct small_conv *model);
/* Null when the index is out of range or the model is not initialised. */
void *small_conv_input(const struct small_conv *model, int32_t index);
const void *small_conv_output(const struct small_conv *model, int32_t index);

#ifdef __cplusplus
}
#endif

#endif
