/* branches: one instance behind the boards' generic main program. Generated file;
 * a program of your own does not need it. */
#include "intarsia/contract/model_descriptor.h"

#include "branches.h"

BRANCHES_DEFINE_RESOURCES(resources);
static struct branches instance;

static const struct intarsia_tensor_info inputs[] = {
  {"signal", 16},
};
static const struct intarsia_tensor_info outputs[] = {
  {"sum", 16},
};

static int32_t descriptor_init(void) {
  return branches_init(&instance, &resources);
}

static void *descriptor_input(int32_t index) { return branches_input(&instance, index); }
static const void *descriptor_output(int32_t index) { return branches_output(&instance, index); }
static int32_t descriptor_run(void) { return branches_run(&instance); }

const struct intarsia_model_descriptor intarsia_model = {
  .name = "branches",
  .input_count = BRANCHES_INPUT_COUNT,
  .output_count = BRANCHES_OUTPUT_COUNT,
  .inputs = inputs,
  .outputs = outputs,
  .init = descriptor_init,
  .input = descriptor_input,
  .output = descriptor_output,
  .run = descriptor_run,
};
