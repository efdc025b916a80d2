/* branches: operators and schedule. Generated file. */
#include "branches.h"

#include <stddef.h>

#include "intarsia/kernels/arithmetic.h"
#include "intarsia/targets/cortex_m/pool_softmax.h"
#include "intarsia/targets/cortex_m/sum.h"
// Of a model whose kernels use the DSP extension.
#ifndef INTARSIA_CORTEX_M_MADE_FOR_DSP_H_
#define INTARSIA_CORTEX_M_MADE_FOR_DSP_H_

// Included by a model's source. Its kernels serve any flags and give the same results, many times slower where the
// instructions are missing that they were chosen for, which nothing else would say. Silent: -DINTARSIA_ANY_FLAGS.
#ifndef INTARSIA_CORTEX_M_MADE_FOR_H_
#define INTARSIA_CORTEX_M_MADE_FOR_H_

// Flags for an M-profile core, about which something may be said: not those of a machine on which a model is tried out.
#if defined(__ARM_ARCH_PROFILE) && !defined(INTARSIA_ANY_FLAGS)
#if __ARM_ARCH_PROFILE == 'M'
#define INTARSIA_CHECKS_FLAGS 1
#endif
#endif
#ifndef INTARSIA_CHECKS_FLAGS
#define INTARSIA_CHECKS_FLAGS 0
#endif

#if INTARSIA_CHECKS_FLAGS && defined(__GNUC__) && !defined(__OPTIMIZE__)
#warning \
    "compiled without optimisation (-O0): kernels fall back to portable C, many times slower. \
Compile with -Os, -O2 or -O3; -DINTARSIA_ANY_FLAGS silences this."
#endif

#endif  // INTARSIA_CORTEX_M_MADE_FOR_H_

#if INTARSIA_CHECKS_FLAGS && !defined(__ARM_FEATURE_DSP)
#warning \
    "this model was compiled for a core with the DSP extension; these flags have none: kernels fall back to portable C, many times slower. \
Compile with the -mcpu of that core, such as -mcpu=cortex-m4, or compile the model for this core; -DINTARSIA_ANY_FLAGS silences this."
#endif

#endif  // INTARSIA_CORTEX_M_MADE_FOR_DSP_H_
#include "branches_data.h"

/* Compiled with -DBRANCHES_TRACE=function, that function of yours is called with each
 * operator's result when it is there: docs/debugging.md. */
#ifdef BRANCHES_TRACE
void BRANCHES_TRACE(int32_t index, const char *name, const void *tensor, int32_t bytes);
#else
#define BRANCHES_TRACE(index, name, tensor, bytes) ((void)0)
#endif

_Static_assert(BRANCHES_SRAM_BYTES == 32, "header and source belong together");
_Static_assert(BRANCHES_ALIGNMENT == 16, "header and source belong together");

/* louder: add i8[1,16], i8[1,16] -> i8[1,16]
 * input_a: sram 0x0000..0x0010
 * input_b: sram 0x0010..0x0020
 * output: sram 0x0000..0x0010 */
static void branches_louder(const int8_t *input_a, const int8_t *input_b, int8_t *output) {
  static const struct intarsia_sum sum = {
    .count = 16, .a_factor = 2097153, .b_factor = 2097153, .start = 2097151, .shift = 22, .low =
        -128,
    .high = 127,
  };
  intarsia_each_sum_s8(&sum, input_a, input_b, output);
}

/* bent: tanh i8[1,16] -> i8[1,16]
 * input: sram 0x0000..0x0010
 * output: sram 0x0000..0x0010 */
static void branches_bent(const int8_t *input, int8_t *output) {
  intarsia_each_lookup_s8(input, output, branches_bent_table, 16);
}

/* straight: relu i8[1,16] -> i8[1,16]
 * input: sram 0x0010..0x0020
 * output: sram 0x0010..0x0020 */
static void branches_straight(const int8_t *input, int8_t *output) {
  for (int32_t i = 0; i < 16; ++i) {
    output[i] = (int8_t)intarsia_clamp_i32(intarsia_requantize_right(input[i], 1073741824, 0) - 128,
        -128, 127);
  }
}

/* sum: add i8[1,16], i8[1,16] -> i8[1,16]
 * input_a: sram 0x0000..0x0010
 * input_b: sram 0x0010..0x0020
 * output: sram 0x0000..0x0010 */
static void branches_sum(const int8_t *input_a, const int8_t *input_b, int8_t *output) {
  static const struct intarsia_sum sum = {
    .count = 16, .a_factor = 21846, .b_factor = 2796203, .start = 376788415, .shift = 22, .low =
        -128,
    .high = 127,
  };
  intarsia_each_sum_s8(&sum, input_a, input_b, output);
}

intarsia_status branches_init(struct branches *model, const struct branches_resources *resources) {
  if (model == NULL || resources == NULL) return INTARSIA_ERROR_NULL_ARGUMENT;
  model->ready = 0;
  if (intarsia_runtime_version() != INTARSIA_RUNTIME_VERSION) return INTARSIA_ERROR_RUNTIME_VERSION;
  if (resources->sram == NULL) return INTARSIA_ERROR_NULL_ARGUMENT;
  if ((uintptr_t)resources->sram % BRANCHES_ALIGNMENT != 0) return INTARSIA_ERROR_MISALIGNED;
  model->resources = *resources;
  model->ready = 1;
  return INTARSIA_OK;
}

void *branches_input(const struct branches *model, int32_t index) {
  if (model == NULL || !model->ready) return NULL;
  switch (index) {
    case 0: return (uint8_t *)model->resources.sram + 0;
    case 1: return (uint8_t *)model->resources.sram + 16;
    default: return NULL;
  }
}

const void *branches_output(const struct branches *model, int32_t index) {
  if (model == NULL || !model->ready) return NULL;
  switch (index) {
    case 0: return (uint8_t *)model->resources.sram + 0;
    default: return NULL;
  }
}

intarsia_status branches_run(struct branches *model) {
  uint8_t *sram;

  if (model == NULL) return INTARSIA_ERROR_NULL_ARGUMENT;
  if (!model->ready) return INTARSIA_ERROR_NOT_INITIALISED;
  sram = model->resources.sram;

  branches_louder((const int8_t *)(sram), (const int8_t *)(sram + 16), (int8_t *)(sram));
  BRANCHES_TRACE(0, "louder", sram, 16);
  branches_bent((const int8_t *)(sram), (int8_t *)(sram));
  BRANCHES_TRACE(1, "bent", sram, 16);
  branches_straight((const int8_t *)(sram + 16), (int8_t *)(sram + 16));
  BRANCHES_TRACE(2, "straight", sram + 16, 16);
  branches_sum((const int8_t *)(sram), (const int8_t *)(sram + 16), (int8_t *)(sram));
  BRANCHES_TRACE(3, "sum", sram, 16);
  return INTARSIA_OK;
}
