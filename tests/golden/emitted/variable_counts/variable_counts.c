/* variable_counts: operators and schedule. Generated file. */
#include "variable_counts.h"

#include <stddef.h>
#include <string.h>

#include "variable_counts_data.h"

/* Compiled with -DVARIABLE_COUNTS_TRACE=function, that function of yours is called with each
 * operator's result when it is there: docs/debugging.md. */
#ifdef VARIABLE_COUNTS_TRACE
void VARIABLE_COUNTS_TRACE(int32_t index, const char *name, const void *tensor, int32_t bytes);
#else
#define VARIABLE_COUNTS_TRACE(index, name, tensor, bytes) ((void)0)
#endif

_Static_assert(VARIABLE_COUNTS_RAM_BYTES == 40, "header and source belong together");
_Static_assert(VARIABLE_COUNTS_ALIGNMENT == 16, "header and source belong together");

/* read_state: read_variable f32[3] -> f32[3]
 * input: ram 0x001c..0x0028
 * output: ram 0x0010..0x001c */
static void variable_counts_read_state(const float *input, float *restrict output) {
  for (int32_t i = 0; i < 3; ++i) {
    output[i] = input[i];
  }
}

/* t2: add f32[3], f32[3] -> f32[3]
 * input_a: ram 0x0010..0x001c
 * input_b: ram 0x0000..0x000c
 * output: ram 0x0010..0x001c */
static void variable_counts_t2(const float *input_a, const float *input_b, float *output) {
  for (int32_t i = 0; i < 3; ++i) {
    output[i] = input_a[i] + input_b[i];
  }
}

/* assign_state: assign_variable f32[3] -> f32[3]
 * input: ram 0x0010..0x001c
 * output: ram 0x001c..0x0028 */
static void variable_counts_assign_state(const float *input, float *restrict output) {
  for (int32_t i = 0; i < 3; ++i) {
    output[i] = input[i];
  }
}

intarsia_status variable_counts_reset(struct variable_counts *model) {
  if (model == NULL) return INTARSIA_ERROR_NULL_ARGUMENT;
  if (!model->ready) return INTARSIA_ERROR_NOT_INITIALISED;
  memcpy((uint8_t *)model->resources.ram + 28, variable_counts_read_state_initial, 12);
  return INTARSIA_OK;
}

intarsia_status variable_counts_init(struct variable_counts *model, const struct
    variable_counts_resources *resources) {
  if (model == NULL || resources == NULL) return INTARSIA_ERROR_NULL_ARGUMENT;
  model->ready = 0;
  if (intarsia_runtime_version() != INTARSIA_RUNTIME_VERSION) return INTARSIA_ERROR_RUNTIME_VERSION;
  if (resources->ram == NULL) return INTARSIA_ERROR_NULL_ARGUMENT;
  if ((uintptr_t)resources->ram % VARIABLE_COUNTS_ALIGNMENT != 0) return INTARSIA_ERROR_MISALIGNED;
  model->resources = *resources;
  model->ready = 1;
  return variable_counts_reset(model);
}

void *variable_counts_input(const struct variable_counts *model, int32_t index) {
  if (model == NULL || !model->ready) return NULL;
  switch (index) {
    case 0: return (uint8_t *)model->resources.ram + 0;
    default: return NULL;
  }
}

const void *variable_counts_output(const struct variable_counts *model, int32_t index) {
  if (model == NULL || !model->ready) return NULL;
  switch (index) {
    case 0: return (uint8_t *)model->resources.ram + 16;
    default: return NULL;
  }
}

intarsia_status variable_counts_run(struct variable_counts *model) {
  uint8_t *ram;

  if (model == NULL) return INTARSIA_ERROR_NULL_ARGUMENT;
  if (!model->ready) return INTARSIA_ERROR_NOT_INITIALISED;
  ram = model->resources.ram;

  variable_counts_read_state((const float *)(ram + 28), (float *)(ram + 16));
  VARIABLE_COUNTS_TRACE(0, "read_state", ram + 16, 12);
  variable_counts_t2((const float *)(ram + 16), (const float *)(ram), (float *)(ram + 16));
  VARIABLE_COUNTS_TRACE(1, "t2", ram + 16, 12);
  variable_counts_assign_state((const float *)(ram + 16), (float *)(ram + 28));
  VARIABLE_COUNTS_TRACE(2, "assign_state", ram + 28, 12);
  return INTARSIA_OK;
}
