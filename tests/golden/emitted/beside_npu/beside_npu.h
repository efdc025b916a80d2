/* beside_npu: a neural network, compiled ahead of time. Generated file.
 *
 * The caller owns all memory. Fill the inputs, run, read the outputs; an input's bytes may be
 * overwritten by the run, an output stays until an input is written again. Several instances
 * and several models may live in one program; nothing is allocated and nothing is global. */
#ifndef BESIDE_NPU_H
#define BESIDE_NPU_H

#include <stdint.h>

#include "intarsia/contract/device.h"
#include "intarsia/contract/package.h"
#include "intarsia/contract/placement.h"
#include "intarsia/contract/status.h"
#include "intarsia/contract/version.h"

#if INTARSIA_RUNTIME_VERSION != 4
#error "beside_npu was compiled for version 4 of the Intarsia runtime, and intarsia/contract/version.h is of another: compile all models of a program with one version of Intarsia"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What this was compiled by, for, and from. */
#define BESIDE_NPU_COMPILER "Intarsia 0.1.0"
#define BESIDE_NPU_TARGET "c + example-npu"

/* Working memory in bytes, one block per memory of the plan; by number too, in the
 * order of struct beside_npu_resources. */
#define BESIDE_NPU_SRAM_BYTES 80
#define BESIDE_NPU_MEMORY_COUNT 1
#define BESIDE_NPU_MEMORY0_BYTES BESIDE_NPU_SRAM_BYTES
#define BESIDE_NPU_ALIGNMENT 16

#define BESIDE_NPU_INPUT_COUNT 1
/* image: int8_t [1,2,2,16], real = 0.5 * (q + 3) */
#define BESIDE_NPU_INPUT0_NAME "image"
#define BESIDE_NPU_INPUT0_TYPE int8_t
#define BESIDE_NPU_INPUT0_RANK 4
#define BESIDE_NPU_INPUT0_DIMS {1, 2, 2, 16}
#define BESIDE_NPU_INPUT0_DIM0 1
#define BESIDE_NPU_INPUT0_DIM1 2
#define BESIDE_NPU_INPUT0_DIM2 2
#define BESIDE_NPU_INPUT0_DIM3 16
#define BESIDE_NPU_INPUT0_ELEMENTS 64
#define BESIDE_NPU_INPUT0_BYTES 64
#define BESIDE_NPU_INPUT0_SCALE 0.5f
#define BESIDE_NPU_INPUT0_ZERO_POINT (-3)

#define BESIDE_NPU_OUTPUT_COUNT 1
/* bent: int8_t [1,1,1,16], real = 0.0078125 * (q - 0) */
#define BESIDE_NPU_OUTPUT0_NAME "bent"
#define BESIDE_NPU_OUTPUT0_TYPE int8_t
#define BESIDE_NPU_OUTPUT0_RANK 4
#define BESIDE_NPU_OUTPUT0_DIMS {1, 1, 1, 16}
#define BESIDE_NPU_OUTPUT0_DIM0 1
#define BESIDE_NPU_OUTPUT0_DIM1 1
#define BESIDE_NPU_OUTPUT0_DIM2 1
#define BESIDE_NPU_OUTPUT0_DIM3 16
#define BESIDE_NPU_OUTPUT0_ELEMENTS 16
#define BESIDE_NPU_OUTPUT0_BYTES 16
#define BESIDE_NPU_OUTPUT0_SCALE 0.0078125f
#define BESIDE_NPU_OUTPUT0_ZERO_POINT (0)
#define BESIDE_NPU_OUTPUT0_CLASS_COUNT 16

#ifndef __cplusplus
_Static_assert(BESIDE_NPU_SRAM_BYTES <= 4096, "fits the board's memory");
_Static_assert(BESIDE_NPU_INPUT0_BYTES == BESIDE_NPU_INPUT0_ELEMENTS * sizeof(int8_t),
    "the size follows from the shape");
_Static_assert(BESIDE_NPU_OUTPUT0_BYTES == BESIDE_NPU_OUTPUT0_ELEMENTS * sizeof(int8_t),
    "the size follows from the shape");
#endif

/* What the model works with. Blocks are aligned to BESIDE_NPU_ALIGNMENT. */
struct beside_npu_resources {
  void *sram; /* BESIDE_NPU_SRAM_BYTES */
  struct intarsia_device *device0; /* example-npu */
};

/* Memory for one instance, whatever the board's memories are called: at file scope
 *   BESIDE_NPU_DEFINE_RESOURCES(memory);
 * is the blocks, and `static struct beside_npu_resources memory` that has them. */
#define BESIDE_NPU_DEFINE_RESOURCES(name) \
  INTARSIA_ALIGNED(BESIDE_NPU_ALIGNMENT) static uint8_t \
      name##_sram[BESIDE_NPU_SRAM_BYTES] INTARSIA_IN_MEMORY(sram); \
  static struct beside_npu_resources name = {name##_sram, 0}

/* One instance; its members are the model's own. */
struct beside_npu {
  struct beside_npu_resources resources;
  struct intarsia_package package;
  int32_t ready;
};

/* INTARSIA_OK, which is 0, or a code of intarsia/contract/status.h, which `intarsia
 * explain-error` explains. */
intarsia_status
    beside_npu_init(struct beside_npu *model, const struct beside_npu_resources *resources);
intarsia_status beside_npu_run(struct beside_npu *model);
/* Null when the index is out of range or the model is not initialised. */
void *beside_npu_input(const struct beside_npu *model, int32_t index);
const void *beside_npu_output(const struct beside_npu *model, int32_t index);

/* The same with types. For a real number, an input holds the nearest step, halves away from
 * zero, within the range of its type. */
static inline int8_t *beside_npu_input0(const struct beside_npu *model) {
  return (int8_t *)beside_npu_input(model, 0);
}
static inline int8_t beside_npu_input0_quantize(float real) {
  const float steps = real / BESIDE_NPU_INPUT0_SCALE;
  int32_t whole;
  float rest;
  if (!(steps > -125.0f)) return -128;
  if (steps >= 130.0f) return 127;
  whole = (int32_t)steps;
  rest = steps - (float)whole;
  if (rest >= 0.5f) ++whole;
  if (rest <= -0.5f) --whole;
  return (int8_t)(whole + BESIDE_NPU_INPUT0_ZERO_POINT);
}
static inline const int8_t *beside_npu_output0(const struct beside_npu *model) {
  return (const int8_t *)beside_npu_output(model, 0);
}
static inline float beside_npu_output0_dequantize(int8_t value) {
  return BESIDE_NPU_OUTPUT0_SCALE * (float)(value - BESIDE_NPU_OUTPUT0_ZERO_POINT);
}

#ifdef __cplusplus
}
#endif

#endif
