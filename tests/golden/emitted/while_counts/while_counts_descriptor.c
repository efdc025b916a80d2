/* while_counts: one instance behind the boards' generic main program. Generated file;
 * a program of your own does not need it. */
#include "intarsia/contract/model_descriptor.h"

#include "while_counts.h"

WHILE_COUNTS_DEFINE_RESOURCES(resources);
static struct while_counts instance;

static const struct intarsia_tensor_info inputs[] = {
  {"t0", 8},
};
static const struct intarsia_tensor_info outputs[] = {
  {"t2", 8},
  {"t1", 4},
};

static int32_t descriptor_init(void) {
  return while_counts_init(&instance, &resources);
}

static void *descriptor_input(int32_t index) { return while_counts_input(&instance, index); }
static const void *descriptor_output(int32_t index)
    { return while_counts_output(&instance, index); }
static int32_t descriptor_run(void) { return while_counts_run(&instance); }

const struct intarsia_model_descriptor intarsia_model = {
  .name = "while_counts",
  .input_count = WHILE_COUNTS_INPUT_COUNT,
  .output_count = WHILE_COUNTS_OUTPUT_COUNT,
  .inputs = inputs,
  .outputs = outputs,
  .init = descriptor_init,
  .input = descriptor_input,
  .output = descriptor_output,
  .run = descriptor_run,
};
