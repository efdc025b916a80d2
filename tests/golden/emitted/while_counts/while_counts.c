/* while_counts: operators and schedule. Generated file. */
#include "while_counts.h"

#include <stddef.h>

#include "while_counts_data.h"

/* Compiled with -DWHILE_COUNTS_TRACE=function, that function of yours is called with each
 * operator's result when it is there: docs/debugging.md. */
#ifdef WHILE_COUNTS_TRACE
void WHILE_COUNTS_TRACE(int32_t index, const char *name, const void *tensor, int32_t bytes);
#else
#define WHILE_COUNTS_TRACE(index, name, tensor, bytes) ((void)0)
#endif

_Static_assert(WHILE_COUNTS_RAM_BYTES == 36, "header and source belong together");
_Static_assert(WHILE_COUNTS_ALIGNMENT == 16, "header and source belong together");

/* t1_begin0: copy of i32[1]
 * output: ram 0x0020..0x0024 */
static void while_counts_t1_begin0(int32_t *restrict output) {
  output[0] = while_counts_t1_begin0_a[0];
}

/* t1_begin1: copy of f32[2]
 * input: ram 0x0010..0x0018
 * output: ram 0x0000..0x0008 */
static void while_counts_t1_begin1(const float *input, float *restrict output) {
  for (int32_t i = 0; i < 2; ++i) {
    output[i] = input[i];
  }
}

/* t2: add i32[1] -> i32[1]
 * input: ram 0x0020..0x0024
 * output: ram 0x0010..0x0014 */
static void while_counts_t2(const int32_t *input, int32_t *output) {
  output[0] = (int32_t)((uint32_t)input[0] + (uint32_t)while_counts_t2_weights[0]);
}

/* t3: add f32[2], f32[2] -> f32[2]
 * input_a: ram 0x0000..0x0008
 * output: ram 0x0008..0x0010 */
static void while_counts_t3(const float *input_a, float *output) {
  for (int32_t i = 0; i < 2; ++i) {
    output[i] = input_a[i] + input_a[i];
  }
}

/* t1_next0: copy of i32[1]
 * input: ram 0x0010..0x0014
 * output: ram 0x0020..0x0024 */
static void while_counts_t1_next0(const int32_t *input, int32_t *restrict output) {
  output[0] = input[0];
}

/* t1_next1: copy of f32[2]
 * input: ram 0x0008..0x0010
 * output: ram 0x0000..0x0008 */
static void while_counts_t1_next1(const float *input, float *restrict output) {
  for (int32_t i = 0; i < 2; ++i) {
    output[i] = input[i];
  }
}

intarsia_status
    while_counts_init(struct while_counts *model, const struct while_counts_resources *resources) {
  if (model == NULL || resources == NULL) return INTARSIA_ERROR_NULL_ARGUMENT;
  model->ready = 0;
  if (intarsia_runtime_version() != INTARSIA_RUNTIME_VERSION) return INTARSIA_ERROR_RUNTIME_VERSION;
  if (resources->ram == NULL) return INTARSIA_ERROR_NULL_ARGUMENT;
  if ((uintptr_t)resources->ram % WHILE_COUNTS_ALIGNMENT != 0) return INTARSIA_ERROR_MISALIGNED;
  model->resources = *resources;
  model->ready = 1;
  return INTARSIA_OK;
}

void *while_counts_input(const struct while_counts *model, int32_t index) {
  if (model == NULL || !model->ready) return NULL;
  switch (index) {
    case 0: return (uint8_t *)model->resources.ram + 16;
    default: return NULL;
  }
}

const void *while_counts_output(const struct while_counts *model, int32_t index) {
  if (model == NULL || !model->ready) return NULL;
  switch (index) {
    case 0: return (uint8_t *)model->resources.ram + 0;
    case 1: return (uint8_t *)model->resources.ram + 32;
    default: return NULL;
  }
}

intarsia_status while_counts_run(struct while_counts *model) {
  uint8_t *ram;

  if (model == NULL) return INTARSIA_ERROR_NULL_ARGUMENT;
  if (!model->ready) return INTARSIA_ERROR_NOT_INITIALISED;
  ram = model->resources.ram;

  while_counts_t1_begin0((int32_t *)(ram + 32));
  WHILE_COUNTS_TRACE(0, "t1_begin0", ram + 32, 4);
  while_counts_t1_begin1((const float *)(ram + 16), (float *)(ram));
  WHILE_COUNTS_TRACE(1, "t1_begin1", ram, 8);
  for (int32_t iteration0 = 0; iteration0 < 5; ++iteration0) {
    while_counts_t2((const int32_t *)(ram + 32), (int32_t *)(ram + 16));
    WHILE_COUNTS_TRACE(2, "t2", ram + 16, 4);
    while_counts_t3((const float *)(ram), (float *)(ram + 8));
    WHILE_COUNTS_TRACE(3, "t3", ram + 8, 8);
    while_counts_t1_next0((const int32_t *)(ram + 16), (int32_t *)(ram + 32));
    WHILE_COUNTS_TRACE(4, "t1_next0", ram + 32, 4);
    while_counts_t1_next1((const float *)(ram + 8), (float *)(ram));
    WHILE_COUNTS_TRACE(5, "t1_next1", ram, 8);
  }
  return INTARSIA_OK;
}
