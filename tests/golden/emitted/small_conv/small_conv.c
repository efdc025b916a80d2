/* small_conv: operators and schedule. Generated file. */
#include "small_conv.h"

#include <stddef.h>

#include "intarsia/kernels/arithmetic.h"
#include "intarsia/kernels/softmax.h"
#include "small_conv_data.h"

/* Compiled with -DSMALL_CONV_TRACE=function, that function of yours is called with each
 * operator's result when it is there: docs/debugging.md. */
#ifdef SMALL_CONV_TRACE
void SMALL_CONV_TRACE(int32_t index, const char *name, const void *tensor, int32_t bytes);
#else
#define SMALL_CONV_TRACE(index, name, tensor, bytes) ((void)0)
#endif

_Static_assert(SMALL_CONV_SRAM_BYTES == 38, "header and source belong together");
_Static_assert(SMALL_CONV_ALIGNMENT == 16, "header and source belong together");

/* features: conv2d i8[1,3,3,1] -> i8[1,3,3,2]
 * input: sram 0x0000..0x0009
 * output: sram 0x0014..0x0026 */
static void small_conv_features(const int8_t *input, int8_t *restrict output) {
  for (int32_t oy = 0; oy < 3; ++oy) {
    const int32_t y_origin = oy - 1;
    const int32_t y_first = intarsia_max_i32(-y_origin, 0);
    const int32_t y_last = intarsia_min_i32(3 - y_origin, 3);
    for (int32_t ox = 0; ox < 3; ++ox) {
      const int32_t x_origin = ox - 1;
      const int32_t x_first = intarsia_max_i32(-x_origin, 0);
      const int32_t x_last = intarsia_min_i32(3 - x_origin, 3);
      int32_t acc0 = small_conv_features_bias[0];
      int32_t acc1 = small_conv_features_bias[1];
      for (int32_t ky = y_first; ky < y_last; ++ky) {
        for (int32_t i = x_first; i < x_last; ++i) {
          const int32_t x = input[(y_origin + ky) * 3 + (x_origin + i)] + 3;
          acc0 += x * small_conv_features_weights[(ky * 3 + i) * 2];
          acc1 += x * small_conv_features_weights[(ky * 3 + i) * 2 + 1];
        }
      }
      output[(oy * 3 + ox) * 2] = (int8_t)intarsia_clamp_i32(intarsia_requantize_right(acc0,
          1431655765, small_conv_features_shift[0]) - 128, -128, 127);
      output[(oy * 3 + ox) * 2 + 1] = (int8_t)intarsia_clamp_i32(intarsia_requantize_right(acc1,
          1431655765, small_conv_features_shift[1]) - 128, -128, 127);
    }
  }
}

/* scores: softmax i8[1,18] -> i8[1,18]
 * input: sram 0x0014..0x0026
 * output: sram 0x0000..0x0012 */
static void small_conv_scores(const int8_t *input, int8_t *restrict output) {
  intarsia_softmax_s8(input, output, 18, 1610612736, 26, -31);
}

intarsia_status
    small_conv_init(struct small_conv *model, const struct small_conv_resources *resources) {
  if (model == NULL || resources == NULL) return INTARSIA_ERROR_NULL_ARGUMENT;
  model->ready = 0;
  if (intarsia_runtime_version() != INTARSIA_RUNTIME_VERSION) return INTARSIA_ERROR_RUNTIME_VERSION;
  if (resources->sram == NULL) return INTARSIA_ERROR_NULL_ARGUMENT;
  if ((uintptr_t)resources->sram % SMALL_CONV_ALIGNMENT != 0) return INTARSIA_ERROR_MISALIGNED;
  model->resources = *resources;
  model->ready = 1;
  return INTARSIA_OK;
}

void *small_conv_input(const struct small_conv *model, int32_t index) {
  if (model == NULL || !model->ready) return NULL;
  switch (index) {
    case 0: return (uint8_t *)model->resources.sram + 0;
    default: return NULL;
  }
}

const void *small_conv_output(const struct small_conv *model, int32_t index) {
  if (model == NULL || !model->ready) return NULL;
  switch (index) {
    case 0: return (uint8_t *)model->resources.sram + 0;
    default: return NULL;
  }
}

intarsia_status small_conv_run(struct small_conv *model) {
  uint8_t *sram;

  if (model == NULL) return INTARSIA_ERROR_NULL_ARGUMENT;
  if (!model->ready) return INTARSIA_ERROR_NOT_INITIALISED;
  sram = model->resources.sram;

  small_conv_features((const int8_t *)(sram), (int8_t *)(sram + 20));
  SMALL_CONV_TRACE(0, "features", sram + 20, 18);
  small_conv_scores((const int8_t *)(sram + 20), (int8_t *)(sram));
  SMALL_CONV_TRACE(1, "scores", sram, 18);
  return INTARSIA_OK;
}
