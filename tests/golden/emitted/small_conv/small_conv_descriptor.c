/* small_conv: one instance behind the boards' generic main program. Generated file;
 * a program of your own does not need it. */
#include "intarsia/contract/model_descriptor.h"

#include "small_conv.h"

SMALL_CONV_DEFINE_RESOURCES(resources);
static struct small_conv instance;

static const struct intarsia_tensor_info inputs[] = {
  {"image", 9},
};
static const struct intarsia_tensor_info outputs[] = {
  {"scores", 18},
};

static int32_t descriptor_init(void) {
  return small_conv_init(&instance, &resources);
}

static void *descriptor_input(int32_t index) { return small_conv_input(&instance, index); }
static const void *descriptor_output(int32_t index) { return small_conv_output(&instance, index); }
static int32_t descriptor_run(void) { return small_conv_run(&instance); }

const struct intarsia_model_descriptor intarsia_model = {
  .name = "small_conv",
  .input_count = SMALL_CONV_INPUT_COUNT,
  .output_count = SMALL_CONV_OUTPUT_COUNT,
  .inputs = inputs,
  .outputs = outputs,
  .init = descriptor_init,
  .input = descriptor_input,
  .output = descriptor_output,
  .run = descriptor_run,
};
