/* branches: a neural network, compiled ahead of time. Generated file.
 *
 * The caller owns all memory. Fill the inputs, run, read the outputs; an input's bytes may be
 * overwritten by the run, an output stays until an input is written again. Several instances
 * and several models may live in one program; nothing is allocated and nothing is global. */
#ifndef BRANCHES_H
#define BRANCHES_H

#include <stdint.h>

#include "intarsia/contract/placement.h"
#include "intarsia/contract/status.h"
#include "intarsia/contract/version.h"

#if INTARSIA_RUNTIME_VERSION != 4
#error "branches was compiled for version 4 of the Intarsia runtime, and intarsia/contract/version.h is of another: compile all models of a program with one version of Intarsia"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What this was compiled by, for, and from. */
#define BRANCHES_COMPILER "Intarsia 0.1.0"
#define BRANCHES_TARGET "c -mcpu=cortex-m4"

/* Working memory in bytes, one block per memory of the plan; by number too, in the
 * order of struct branches_resources. */
#define BRANCHES_SRAM_BYTES 32
#define BRANCHES_MEMORY_COUNT 1
#define BRANCHES_MEMORY0_BYTES BRANCHES_SRAM_BYTES
#define BRANCHES_ALIGNMENT 16

#define BRANCHES_INPUT_COUNT 2
/* signal: int8_t [1,16], real = 0.5 * (q - 0) */
#define BRANCHES_INPUT0_NAME "signal"
#define BRANCHES_INPUT0_TYPE int8_t
#define BRANCHES_INPUT0_RANK 2
#define BRANCHES_INPUT0_DIMS {1, 16}
#define BRANCHES_INPUT0_DIM0 1
#define BRANCHES_INPUT0_DIM1 16
#define BRANCHES_INPUT0_ELEMENTS 16
#define BRANCHES_INPUT0_BYTES 16
#define BRANCHES_INPUT0_SCALE 0.5f
#define BRANCHES_INPUT0_ZERO_POINT (0)
/* echo: int8_t [1,16], real = 0.5 * (q - 0) */
#define BRANCHES_INPUT1_NAME "echo"
#define BRANCHES_INPUT1_TYPE int8_t
#define BRANCHES_INPUT1_RANK 2
#define BRANCHES_INPUT1_DIMS {1, 16}
#define BRANCHES_INPUT1_DIM0 1
#define BRANCHES_INPUT1_DIM1 16
#define BRANCHES_INPUT1_ELEMENTS 16
#define BRANCHES_INPUT1_BYTES 16
#define BRANCHES_INPUT1_SCALE 0.5f
#define BRANCHES_INPUT1_ZERO_POINT (0)

#define BRANCHES_OUTPUT_COUNT 1
/* sum: int8_t [1,16], real = 1.5 * (q - 4) */
#define BRANCHES_OUTPUT0_NAME "sum"
#define BRANCHES_OUTPUT0_TYPE int8_t
#define BRANCHES_OUTPUT0_RANK 2
#define BRANCHES_OUTPUT0_DIMS {1, 16}
#define BRANCHES_OUTPUT0_DIM0 1
#define BRANCHES_OUTPUT0_DIM1 16
#define BRANCHES_OUTPUT0_ELEMENTS 16
#define BRANCHES_OUTPUT0_BYTES 16
#define BRANCHES_OUTPUT0_SCALE 1.5f
#define BRANCHES_OUTPUT0_ZERO_POINT (4)
#define BRANCHES_OUTPUT0_CLASS_COUNT 16

#ifndef __cplusplus
_Static_assert(BRANCHES_SRAM_BYTES <= 65536, "fits the board's memory");
_Static_assert(BRANCHES_INPUT0_BYTES == BRANCHES_INPUT0_ELEMENTS * sizeof(int8_t),
    "the size follows from the shape");
_Static_assert(BRANCHES_INPUT1_BYTES == BRANCHES_INPUT1_ELEMENTS * sizeof(int8_t),
    "the size follows from the shape");
_Static_assert(BRANCHES_OUTPUT0_BYTES == BRANCHES_OUTPUT0_ELEMENTS * sizeof(int8_t),
    "the size follows from the shape");
#endif

/* What the model works with. Blocks are aligned to BRANCHES_ALIGNMENT. */
struct branches_resources {
  void *sram; /* BRANCHES_SRAM_BYTES */
};

/* Memory for one instance, whatever the board's memories are called: at file scope
 *   BRANCHES_DEFINE_RESOURCES(memory);
 * is the blocks, and `static struct branches_resources memory` that has them. */
#define BRANCHES_DEFINE_RESOURCES(name) \
  INTARSIA_ALIGNED(BRANCHES_ALIGNMENT) static uint8_t \
      name##_sram[BRANCHES_SRAM_BYTES] INTARSIA_IN_MEMORY(sram); \
  static struct branches_resources name = {name##_sram}

/* One instance; its members are the model's own. */
struct branches {
  struct branches_resources resources;
  int32_t ready;
};

/* INTARSIA_OK, which is 0, or a code of intarsia/contract/status.h, which `intarsia
 * explain-error` explains. */
intarsia_status branches_init(struct branches *model, const struct branches_resources *resources);
intarsia_status branches_run(struct branches *model);
/* Null when the index is out of range or the model is not initialised. */
void *branches_input(const struct branches *model, int32_t index);
const void *branches_output(const struct branches *model, int32_t index);

/* The same with types. For a real number, an input holds the nearest step, halves away from
 * zero, within the range of its type. */
static inline int8_t *branches_input0(const struct branches *model) {
  return (int8_t *)branches_input(model, 0);
}
static inline int8_t branches_input0_quantize(float real) {
  const float steps = real / BRANCHES_INPUT0_SCALE;
  int32_t whole;
  float rest;
  if (!(steps > -128.0f)) return -128;
  if (steps >= 127.0f) return 127;
  whole = (int32_t)steps;
  rest = steps - (float)whole;
  if (rest >= 0.5f) ++whole;
  if (rest <= -0.5f) --whole;
  return (int8_t)(whole + BRANCHES_INPUT0_ZERO_POINT);
}
static inline int8_t *branches_input1(const struct branches *model) {
  return (int8_t *)branches_input(model, 1);
}
static inline int8_t branches_input1_quantize(float real) {
  const float steps = real / BRANCHES_INPUT1_SCALE;
  int32_t whole;
  float rest;
  if (!(steps > -128.0f)) return -128;
  if (steps >= 127.0f) return 127;
  whole = (int32_t)steps;
  rest = steps - (float)whole;
  if (rest >= 0.5f) ++whole;
  if (rest <= -0.5f) --whole;
  return (int8_t)(whole + BRANCHES_INPUT1_ZERO_POINT);
}
static inline const int8_t *branches_output0(const struct branches *model) {
  return (const int8_t *)branches_output(model, 0);
}
static inline float branches_output0_dequantize(int8_t value) {
  return BRANCHES_OUTPUT0_SCALE * (float)(value - BRANCHES_OUTPUT0_ZERO_POINT);
}

#ifdef __cplusplus
}
#endif

#endif
