/* small_conv: a neural network, compiled ahead of time. Generated file.
 *
 * The caller owns all memory. Fill the inputs, run, read the outputs; an input's bytes may be
 * overwritten by the run, an output stays until an input is written again. Several instances
 * and several models may live in one program; nothing is allocated and nothing is global. */
#ifndef SMALL_CONV_H
#define SMALL_CONV_H

#include <stdint.h>

#include "intarsia/contract/placement.h"
#include "intarsia/contract/status.h"
#include "intarsia/contract/version.h"

#if INTARSIA_RUNTIME_VERSION != 4
#error "small_conv was compiled for version 4 of the Intarsia runtime, and intarsia/contract/version.h is of another: compile all models of a program with one version of Intarsia"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What this was compiled by, for, and from. */
#define SMALL_CONV_COMPILER "Intarsia 0.1.0"
#define SMALL_CONV_TARGET "c"

/* Working memory in bytes, one block per memory of the plan; by number too, in the
 * order of struct small_conv_resources. */
#define SMALL_CONV_SRAM_BYTES 38
#define SMALL_CONV_MEMORY_COUNT 1
#define SMALL_CONV_MEMORY0_BYTES SMALL_CONV_SRAM_BYTES
#define SMALL_CONV_ALIGNMENT 16

#define SMALL_CONV_INPUT_COUNT 1
/* image: int8_t [1,3,3,1], real = 0.5 * (q + 3) */
#define SMALL_CONV_INPUT0_NAME "image"
#define SMALL_CONV_INPUT0_TYPE int8_t
#define SMALL_CONV_INPUT0_RANK 4
#define SMALL_CONV_INPUT0_DIMS {1, 3, 3, 1}
#define SMALL_CONV_INPUT0_DIM0 1
#define SMALL_CONV_INPUT0_DIM1 3
#define SMALL_CONV_INPUT0_DIM2 3
#define SMALL_CONV_INPUT0_DIM3 1
#define SMALL_CONV_INPUT0_ELEMENTS 9
#define SMALL_CONV_INPUT0_BYTES 9
#define SMALL_CONV_INPUT0_SCALE 0.5f
#define SMALL_CONV_INPUT0_ZERO_POINT (-3)

#define SMALL_CONV_OUTPUT_COUNT 1
/* scores: int8_t [1,18], real = 0.00390625 * (q + 128) */
#define SMALL_CONV_OUTPUT0_NAME "scores"
#define SMALL_CONV_OUTPUT0_TYPE int8_t
#define SMALL_CONV_OUTPUT0_RANK 2
#define SMALL_CONV_OUTPUT0_DIMS {1, 18}
#define SMALL_CONV_OUTPUT0_DIM0 1
#define SMALL_CONV_OUTPUT0_DIM1 18
#define SMALL_CONV_OUTPUT0_ELEMENTS 18
#define SMALL_CONV_OUTPUT0_BYTES 18
#define SMALL_CONV_OUTPUT0_SCALE 0.00390625f
#define SMALL_CONV_OUTPUT0_ZERO_POINT (-128)
#define SMALL_CONV_OUTPUT0_CLASS_COUNT 18

#ifndef __cplusplus
_Static_assert(SMALL_CONV_SRAM_BYTES <= 65536, "fits the board's memory");
_Static_assert(SMALL_CONV_INPUT0_BYTES == SMALL_CONV_INPUT0_ELEMENTS * sizeof(int8_t),
    "the size follows from the shape");
_Static_assert(SMALL_CONV_OUTPUT0_BYTES == SMALL_CONV_OUTPUT0_ELEMENTS * sizeof(int8_t),
    "the size follows from the shape");
#endif

/* What the model works with. Blocks are aligned to SMALL_CONV_ALIGNMENT. */
struct small_conv_resources {
  void *sram; /* SMALL_CONV_SRAM_BYTES */
};

/* Memory for one instance, whatever the board's memories are called: at file scope
 *   SMALL_CONV_DEFINE_RESOURCES(memory);
 * is the blocks, and `static struct small_conv_resources memory` that has them. */
#define SMALL_CONV_DEFINE_RESOURCES(name) \
  INTARSIA_ALIGNED(SMALL_CONV_ALIGNMENT) static uint8_t \
      name##_sram[SMALL_CONV_SRAM_BYTES] INTARSIA_IN_MEMORY(sram); \
  static struct small_conv_resources name = {name##_sram}

/* One instance; its members are the model's own. */
struct small_conv {
  struct small_conv_resources resources;
  int32_t ready;
};

/* INTARSIA_OK, which is 0, or a code of intarsia/contract/status.h, which `intarsia
 * explain-error` explains. */
intarsia_status
    small_conv_init(struct small_conv *model, const struct small_conv_resources *resources);
intarsia_status small_conv_run(struct small_conv *model);
/* Null when the index is out of range or the model is not initialised. */
void *small_conv_input(const struct small_conv *model, int32_t index);
const void *small_conv_output(const struct small_conv *model, int32_t index);

/* The same with types. For a real number, an input holds the nearest step, halves away from
 * zero, within the range of its type. */
static inline int8_t *small_conv_input0(const struct small_conv *model) {
  return (int8_t *)small_conv_input(model, 0);
}
static inline int8_t small_conv_input0_quantize(float real) {
  const float steps = real / SMALL_CONV_INPUT0_SCALE;
  int32_t whole;
  float rest;
  if (!(steps > -125.0f)) return -128;
  if (steps >= 130.0f) return 127;
  whole = (int32_t)steps;
  rest = steps - (float)whole;
  if (rest >= 0.5f) ++whole;
  if (rest <= -0.5f) --whole;
  return (int8_t)(whole + SMALL_CONV_INPUT0_ZERO_POINT);
}
static inline const int8_t *small_conv_output0(const struct small_conv *model) {
  return (const int8_t *)small_conv_output(model, 0);
}
static inline float small_conv_output0_dequantize(int8_t value) {
  return SMALL_CONV_OUTPUT0_SCALE * (float)(value - SMALL_CONV_OUTPUT0_ZERO_POINT);
}

#ifdef __cplusplus
}
#endif

#endif
