#include "executable/image_text.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include <fmt/format.h>

#include "intarsia/plugin/c_writer.h"
#include "support/c_identifier.h"

namespace intarsia::executable {
namespace {

std::string operands_name(const KernelCode& kernel) {
  return fmt::format("operands_{:016x}", kernel.id);
}

// The function with its operands as the executor has them.
void call_function(CWriter& out, const KernelCode& kernel) {
  out.line(
      fmt::format("static const struct intarsia_kernel_operand {}[] = {{", operands_name(kernel)));
  for (const KernelOperand& operand : kernel.operands)
    out.line(fmt::format("  {{{}u, {}u, {}u}},", operand.bytes, operand.is_written ? 1 : 0,
                         std::countr_zero(static_cast<uint32_t>(operand.alignment))));
  out.line("};");
  out.open(fmt::format("static void call_{:016x}(void *const *operands)", kernel.id));
  std::string arguments;
  for (size_t i = 0; i < kernel.operands.size(); ++i)
    arguments += fmt::format("{}({})operands[{}]", i == 0 ? "" : ", ", kernel.operands[i].type, i);
  out.line(fmt::format("{}({});", kernel_symbol(kernel.id), arguments));
  out.close();
  out.blank();
}

void kernel_table(CWriter& out, const Image& image) {
  out.line("static const struct intarsia_kernel kernels[] = {");
  for (const KernelCode& kernel : image.kernels)
    out.line(fmt::format("  {{{:#010x}u, {:#010x}u, {}u, {}, call_{:016x}}},",
                         static_cast<uint32_t>(kernel.id), static_cast<uint32_t>(kernel.id >> 32),
                         kernel.operands.size(), operands_name(kernel), kernel.id));
  out.line("};");
  out.blank();
}

void memories(CWriter& out, const Image& image) {
  for (const MemoryBlock& memory : image.memories)
    out.line(
        fmt::format("INTARSIA_ALIGNED(32) static uint8_t {0}_block[{1}] INTARSIA_IN_MEMORY({0});",
                    memory.name, memory.bytes));
  out.line("static const struct intarsia_executor_memory memories[] = {");
  for (const MemoryBlock& memory : image.memories)
    out.line(fmt::format("  {{\"{0}\", {0}_block, {1}u}},", memory.name, memory.bytes));
  out.line("};");
  out.blank();
}

void package_places(CWriter& out, const Image& image) {
  const MemoryBlock& buffer = image.package_buffer;
  if (buffer.bytes > 0)
    out.line(fmt::format(
        "INTARSIA_ALIGNED(16) static uint8_t package_buffer[{}] INTARSIA_IN_MEMORY({});",
        buffer.bytes, buffer.name));
  out.open("const struct intarsia_package_places *intarsia_package_places(void)");
  out.line("static struct intarsia_package_places places;");
  if (image.kept_bytes > 0) {
    out.line(fmt::format("places.kept = (const uint8_t *)(uintptr_t){:#x}u;", image.kept_at));
    out.line(fmt::format("places.kept_bytes = {}u;", image.kept_bytes));
  }
  if (buffer.bytes > 0) {
    out.line("places.buffer = package_buffer;");
    out.line(fmt::format("places.buffer_bytes = {}u;", buffer.bytes));
  }
  out.line("return &places;");
  out.close();
  out.blank();
}

}  // namespace

Image image_for(const std::vector<ExecutableModel>& models) {
  std::map<uint64_t, KernelCode> kernels;
  std::set<std::string> includes;
  std::map<std::string, int64_t> bytes;
  Image image;
  for (const ExecutableModel& model : models) {
    for (const KernelCode& kernel : model.kernels) kernels.emplace(kernel.id, kernel);
    includes.insert(model.includes.begin(), model.includes.end());
    for (size_t i = 0; i < model.contract.pool_bytes.size(); ++i) {
      if (model.contract.pool_bytes[i] == 0) continue;
      int64_t& most = bytes[model.program.memories[i]];
      most = std::max(most, int64_t{model.contract.pool_bytes[i]});
    }
    for (const std::string& device : model.program.devices)
      if (std::ranges::find(image.devices, device) == image.devices.end())
        image.devices.push_back(device);
  }
  for (auto& [id, kernel] : kernels) image.kernels.push_back(std::move(kernel));
  image.includes = {includes.begin(), includes.end()};
  for (const auto& [name, most] : bytes) image.memories.push_back({name, most});
  return image;
}

std::string image_text(const Image& image) {
  CWriter out;
  out.comment({"Kernels and memory of a firmware that runs packages. Generated file."});
  out.directive("#include <math.h>");
  out.directive("#include <stdbool.h>");
  out.directive("#include <stddef.h>");
  out.directive("#include <stdint.h>");
  out.blank();
  out.directive("#include \"intarsia/contract/board_devices.h\"");
  out.directive("#include \"intarsia/contract/placement.h\"");
  out.directive("#include \"intarsia/executor/executor.h\"");
  out.directive("#include \"intarsia/executor/image.h\"");
  for (const std::string& include : image.includes)
    out.directive(fmt::format("#include \"{}\"", include));
  out.blank();
  out.comment(
      {"Numbers of a package become fields of the kernels' structs, for which they were written."});
  out.directive("#pragma GCC diagnostic ignored \"-Wconversion\"");
  out.blank();
  std::string text = out.text();
  for (const KernelCode& kernel : image.kernels)
    text += fmt::format("/* {} */\n{}\n", kernel.name, kernel.text);

  CWriter tail;
  for (const KernelCode& kernel : image.kernels) call_function(tail, kernel);
  if (!image.kernels.empty()) kernel_table(tail, image);
  if (!image.memories.empty()) memories(tail, image);
  package_places(tail, image);
  tail.open("const struct intarsia_executor_image *intarsia_image(void)");
  if (!image.devices.empty()) {
    tail.line(
        fmt::format("static struct intarsia_executor_device devices[{}];", image.devices.size()));
  }
  tail.line("static const struct intarsia_executor_image image = {");
  tail.line(fmt::format(
      "  {}, {}u, {}, {}u, {}, {}u, {}u,", image.kernels.empty() ? "NULL" : "kernels",
      image.kernels.size(), image.memories.empty() ? "NULL" : "memories", image.memories.size(),
      image.devices.empty() ? "NULL" : "devices", image.devices.size(), image.interface_id));
  tail.line("};");
  for (size_t i = 0; i < image.devices.size(); ++i) {
    tail.line(fmt::format("devices[{}].target = \"{}\";", i, image.devices[i]));
    tail.line(fmt::format("devices[{0}].device = intarsia_board_device({0});", i));
  }
  tail.line("return &image;");
  tail.close();
  return text + "\n" + tail.text();
}

}  // namespace intarsia::executable
