/* beside_npu: operators and schedule. Generated file. */
#include "beside_npu.h"

#include <stddef.h>

#include "beside_npu_data.h"
#include "beside_npu_package.h"

/* Compiled with -DBESIDE_NPU_TRACE=function, that function of yours is called with each
 * operator's result when it is there: docs/debugging.md. */
#ifdef BESIDE_NPU_TRACE
void BESIDE_NPU_TRACE(int32_t index, const char *name, const void *tensor, int32_t bytes);
#else
#define BESIDE_NPU_TRACE(index, name, tensor, bytes) ((void)0)
#endif

_Static_assert(BESIDE_NPU_SRAM_BYTES == 80, "header and source belong together");
_Static_assert(BESIDE_NPU_ALIGNMENT == 16, "header and source belong together");

/* bent: tanh i8[1,1,1,16] -> i8[1,1,1,16]
 * input: sram 0x0000..0x0010
 * output: sram 0x0000..0x0010 */
static void beside_npu_bent(const int8_t *input, int8_t *output) {
  for (int32_t i = 0; i < 16; ++i) {
    output[i] = beside_npu_bent_table[input[i] + 128];
  }
}

intarsia_status
    beside_npu_init(struct beside_npu *model, const struct beside_npu_resources *resources) {
  static const uint32_t pool_bytes[] = {BESIDE_NPU_SRAM_BYTES};
  static const struct intarsia_package_contract contract =
      {0x8619bb30u, 1u, pool_bytes, BESIDE_NPU_ALIGNMENT};
  intarsia_status status;

  if (model == NULL || resources == NULL) return INTARSIA_ERROR_NULL_ARGUMENT;
  model->ready = 0;
  if (intarsia_runtime_version() != INTARSIA_RUNTIME_VERSION) return INTARSIA_ERROR_RUNTIME_VERSION;
  if (resources->sram == NULL) return INTARSIA_ERROR_NULL_ARGUMENT;
  if ((uintptr_t)resources->sram % BESIDE_NPU_ALIGNMENT != 0) return INTARSIA_ERROR_MISALIGNED;
  if (resources->device0 == NULL) return INTARSIA_ERROR_NULL_ARGUMENT;
  status = intarsia_package_open(&model->package, beside_npu_package, BESIDE_NPU_PACKAGE_BYTES);
  if (status == INTARSIA_OK) status = intarsia_package_check(&model->package, &contract);
  if (status != INTARSIA_OK) return status;
  model->resources = *resources;
  model->ready = 1;
  return INTARSIA_OK;
}

void *beside_npu_input(const struct beside_npu *model, int32_t index) {
  if (model == NULL || !model->ready) return NULL;
  switch (index) {
    case 0: return (uint8_t *)model->resources.sram + 0;
    default: return NULL;
  }
}

const void *beside_npu_output(const struct beside_npu *model, int32_t index) {
  if (model == NULL || !model->ready) return NULL;
  switch (index) {
    case 0: return (uint8_t *)model->resources.sram + 0;
    default: return NULL;
  }
}

intarsia_status beside_npu_run(struct beside_npu *model) {
  uint8_t *sram;
  void *pools[1];
  intarsia_status status;

  if (model == NULL) return INTARSIA_ERROR_NULL_ARGUMENT;
  if (!model->ready) return INTARSIA_ERROR_NOT_INITIALISED;
  sram = model->resources.sram;
  pools[0] = model->resources.sram;

  /* main_example_npu_0: 2 operators on example-npu on example-npu */
  status = intarsia_package_run(&model->package, 0u, pools, 1u, model->resources.device0);
  if (status != INTARSIA_OK) return status;
  BESIDE_NPU_TRACE(0, "moved", (uint8_t *)model->resources.sram, 16);
  beside_npu_bent((const int8_t *)(sram), (int8_t *)(sram));
  BESIDE_NPU_TRACE(1, "bent", sram, 16);
  return INTARSIA_OK;
}
