/* beside_npu: one instance behind the boards' generic main program. Generated file;
 * a program of your own does not need it. */
#include "intarsia/contract/model_descriptor.h"

#include "intarsia/contract/board_devices.h"
#include "beside_npu.h"

BESIDE_NPU_DEFINE_RESOURCES(resources);
static struct beside_npu instance;

static const struct intarsia_tensor_info inputs[] = {
  {"image", 64},
};
static const struct intarsia_tensor_info outputs[] = {
  {"bent", 16},
};

static int32_t descriptor_init(void) {
  resources.device0 = intarsia_board_device(0);
  return beside_npu_init(&instance, &resources);
}

static void *descriptor_input(int32_t index) { return beside_npu_input(&instance, index); }
static const void *descriptor_output(int32_t index) { return beside_npu_output(&instance, index); }
static int32_t descriptor_run(void) { return beside_npu_run(&instance); }

const struct intarsia_model_descriptor intarsia_model = {
  .name = "beside_npu",
  .input_count = BESIDE_NPU_INPUT_COUNT,
  .output_count = BESIDE_NPU_OUTPUT_COUNT,
  .inputs = inputs,
  .outputs = outputs,
  .init = descriptor_init,
  .input = descriptor_input,
  .output = descriptor_output,
  .run = descriptor_run,
};
