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
#include "intarsia/contract/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Working memory in bytes, one block per memory of the plan. */
#define BESIDE_NPU_SRAM_BYTES 80
#define BESIDE_NPU_ALIGNMENT 16

#define BESIDE_NPU_INPUT_COUNT 1
/* image: int8_t [1,2,2,16], real = 0.5 * (q + 3) */
#define BESIDE_NPU_INPUT0_BYTES 64

#define BESIDE_NPU_OUTPUT_COUNT 1
/* bent: int8_t [1,1,1,16], real = 0.0078125 * (q - 0) */
#define BESIDE_NPU_OUTPUT0_BYTES 16

#ifndef __cplusplus
_Static_assert(BESIDE_NPU_SRAM_BYTES <= 4096, "fits the board's memory");
_Static_assert(BESIDE_NPU_INPUT0_BYTES == 64 * sizeof(int8_t), "the size follows from the shape");
_Static_assert(BESIDE_NPU_OUTPUT0_BYTES == 16 * sizeof(int8_t), "the size follows from the shape");
#endif

/* What the model works with. Blocks are aligned to BESIDE_NPU_ALIGNMENT. */
struct beside_npu_resources {
  void *sram; /* BESIDE_NPU_SRAM_BYTES */
  struct intarsia_device *device0; /* example-npu */
};

/* One instance; its members are the model's own. */
struct beside_npu {
  struct beside_npu_resources resources;
  struct intarsia_package package;
  int32_t ready;
};

/* 0 on success, else a code of intarsia/contract/status.h. */
intarsia_status
    beside_npu_init(struct beside_npu *model, const struct beside_npu_resources *resources);
intarsia_status beside_npu_run(struct beside_npu *model);
/* Null when the index is out of range or the model is not initialised. */
void *beside_npu_input(const struct beside_npu *model, int32_t index);
const void *beside_npu_output(const struct beside_npu *model, int32_t index);

#ifdef __cplusplus
}
#endif

#endif
