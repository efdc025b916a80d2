#include "build/model_descriptor.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "support/c_identifier.h"
#include "support/shown_text.h"

namespace intarsia::build {
namespace {

std::string tensor_table(const char* array, const std::vector<TensorInfo>& tensors) {
  std::string text = fmt::format("static const struct intarsia_tensor_info {}[] = {{\n", array);
  for (const TensorInfo& tensor : tensors)
    text += fmt::format("  {{\"{}\", {}}},\n", literal_text(tensor.name), tensor.bytes);
  return text + "};\n";
}

}  // namespace

std::string descriptor_text(const PackageManifest& manifest) {
  std::string devices;
  for (size_t i = 0; i < manifest.devices.size(); ++i)
    devices += fmt::format("  resources.device{0} = intarsia_board_device({0});\n", i);
  return fmt::format(
      R"(#include "intarsia/contract/model_descriptor.h"

{board_devices}#include "{model}.h"

{prefix}_DEFINE_RESOURCES(resources);
static struct {model} instance;

{inputs}{outputs}
static int32_t descriptor_init(void) {{
{devices}  return {model}_init(&instance, &resources);
}}
static void *descriptor_input(int32_t index) {{ return {model}_input(&instance, index); }}
static const void *descriptor_output(int32_t index) {{ return {model}_output(&instance, index); }}
static int32_t descriptor_run(void) {{ return {model}_run(&instance); }}

const struct intarsia_model_descriptor intarsia_model = {{
  .name = "{model}",
  .input_count = {prefix}_INPUT_COUNT,
  .output_count = {prefix}_OUTPUT_COUNT,
  .inputs = inputs,
  .outputs = outputs,
  .init = descriptor_init,
  .input = descriptor_input,
  .output = descriptor_output,
  .run = descriptor_run,
}};
)",
      fmt::arg("model", manifest.model), fmt::arg("prefix", upper_case(manifest.model)),
      fmt::arg("board_devices",
               manifest.devices.empty() ? "" : "#include \"intarsia/contract/board_devices.h\"\n"),
      fmt::arg("inputs", tensor_table("inputs", manifest.inputs)),
      fmt::arg("outputs", tensor_table("outputs", manifest.outputs)), fmt::arg("devices", devices));
}

}  // namespace intarsia::build
