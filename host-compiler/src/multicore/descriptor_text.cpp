#include <algorithm>

#include <fmt/format.h>

#include "intarsia/compiled_model.h"
#include "intarsia/plugin/c_writer.h"
#include "multicore/c_names.h"
#include "multicore/multicore.h"
#include "support/c_identifier.h"

namespace intarsia {
namespace {

using multicore::blocks_of;
using multicore::part_name;
using multicore::PoolBlock;

void tensor_table(CWriter& out, const char* array, const graph::Function& entry,
                  const std::vector<graph::TensorId>& ids) {
  for (size_t i = 0; i < ids.size(); ++i)
    out.line(fmt::format("static _Alignas(16) uint8_t {}{}[{}];", array, i,
                         entry.tensor(ids[i]).bytes()));
  out.open(fmt::format("static const struct intarsia_tensor_info {}_infos[] =", array));
  for (size_t i = 0; i < ids.size(); ++i)
    out.line(fmt::format("{{\"{}{}\", {}}},", array, i, entry.tensor(ids[i]).bytes()));
  out.close(";");
  if (ids.empty()) return;
  std::string places;
  for (size_t i = 0; i < ids.size(); ++i)
    places += fmt::format("{}{}{}", i == 0 ? "" : ", ", array, i);
  out.line(fmt::format("static void *const {}s[] = {{{}}};", array, places));
  out.blank();
}

void part_objects(CWriter& out, const CompiledModel& model, size_t index, const std::string& cpu) {
  const std::string name = part_name(model, cpu), prefix = upper_case(name);
  for (const PoolBlock& block : blocks_of(model, cpu))
    out.line(
        fmt::format("static _Alignas({0}_ALIGNMENT) uint8_t part{1}_{2}[{0}_{3}_BYTES] "
                    "INTARSIA_IN_MEMORY({4});",
                    prefix, index, block.name, upper_case(block.name), block.pool));
  out.line(fmt::format("static struct {} part{};", name, index));
  out.blank();
}

// Core 0 takes part 0 along while it waits; the other cores do nothing else than theirs.
void core_main(CWriter& out, const CompiledModel& model, size_t index, const std::string& cpu) {
  out.open(fmt::format("static void run_part{}(void)", index));
  out.line("intarsia_status status;");
  out.open("do");
  out.line(fmt::format("status = {}_step(&part{});", part_name(model, cpu), index));
  out.line("if (status == INTARSIA_PENDING) intarsia_board_idle();");
  out.close(" while (status == INTARSIA_OK || status == INTARSIA_PENDING);");
  out.close();
  out.blank();
}

void part_init_function(CWriter& out, const CompiledModel& model, size_t index,
                        const std::string& cpu) {
  const std::string name = part_name(model, cpu);
  out.open(fmt::format("static intarsia_status init_part{}(void)", index));
  out.line(fmt::format("struct {}_resources resources;", name));
  for (const PoolBlock& block : blocks_of(model, cpu))
    out.line(fmt::format("resources.{1} = part{0}_{1};", index, block.name));
  const std::vector<std::string> all = devices_of(model);
  for (const std::string& device : multicore::devices_of(model, cpu))
    out.line(fmt::format("resources.{} = intarsia_board_device({});",
                         multicore::device_name(device),
                         std::find(all.begin(), all.end(), device) - all.begin()));
  out.line(fmt::format("return {}_init(&part{}, &resources, &mailbox);", name, index));
  out.close();
  out.blank();
}

void init_function(CWriter& out, const CompiledModel& model) {
  const size_t count = model.multicore.cpus.size();
  out.open("static int32_t descriptor_init(void)");
  out.line("intarsia_status status;");
  out.line(fmt::format("{}_mailbox_init(&mailbox);", model.multicore.name));
  for (size_t i = 0; i < count; ++i)
    out.line(fmt::format("if ((status = init_part{}()) != INTARSIA_OK) return status;", i));
  for (size_t i = 1; i < count; ++i)
    out.line(
        fmt::format("if (intarsia_board_start_core({0}, run_part{0}) != 0) return "
                    "INTARSIA_ERROR_DEVICE_ABSENT;",
                    i));
  out.line("return INTARSIA_OK;");
  out.close();
  out.blank();
}

}  // namespace

std::vector<std::string> devices_of(const CompiledModel& model) {
  std::vector<std::string> devices;
  for (const std::string& cpu : model.multicore.cpus)
    for (std::string& device : multicore::devices_of(model, cpu))
      devices.push_back(std::move(device));
  return devices;
}

SourceFile multicore_descriptor(const CompiledModel& model) {
  const std::string& name = model.multicore.name;
  const std::vector<std::string>& cpus = model.multicore.cpus;
  const graph::Function& entry = model.partitioned.module.entry_function();
  CWriter out;
  out.comment({fmt::format("{}: all parts in one program, behind the boards' generic main. "
                           "Generated file; programs of",
                           name),
               "your own do not need it."});
  out.directive("#include \"intarsia/contract/model_descriptor.h\"");
  out.blank();
  out.directive("#include <stddef.h>");
  out.blank();
  out.directive("#include \"intarsia/contract/board_cores.h\"");
  if (!devices_of(model).empty()) out.directive("#include \"intarsia/contract/board_devices.h\"");
  out.directive("#include \"intarsia/contract/placement.h\"");
  for (const std::string& cpu : cpus)
    out.directive(fmt::format("#include \"{}.h\"", part_name(model, cpu)));
  out.blank();
  out.line(fmt::format("static struct {}_mailbox mailbox;", name));
  out.blank();
  for (size_t i = 0; i < cpus.size(); ++i) part_objects(out, model, i, cpus[i]);
  tensor_table(out, "input", entry, entry.inputs);
  tensor_table(out, "output", entry, entry.outputs);
  for (size_t i = 1; i < cpus.size(); ++i) core_main(out, model, i, cpus[i]);
  for (size_t i = 0; i < cpus.size(); ++i) part_init_function(out, model, i, cpus[i]);
  init_function(out, model);
  const bool has_inputs = !entry.inputs.empty();
  out.line(has_inputs
               ? "static void *descriptor_input(int32_t index) { return inputs[index]; }"
               : "static void *descriptor_input(int32_t index) { return (void)index, NULL; }");
  out.line("static const void *descriptor_output(int32_t index) { return outputs[index]; }");
  out.blank();
  out.open("static int32_t descriptor_submit(void)");
  if (has_inputs) {
    out.line("const void *given[sizeof inputs / sizeof inputs[0]];");
    out.line("size_t i;");
    out.line("for (i = 0; i < sizeof inputs / sizeof inputs[0]; ++i) given[i] = inputs[i];");
  }
  out.line(fmt::format("return {}_submit(&mailbox, {});", name, has_inputs ? "given" : "NULL"));
  out.close();
  out.blank();
  out.comment(
      {"Steps this core's part until an inference is done, or there is nothing for it to do."});
  out.open("static int32_t descriptor_collect(void)");
  out.line("intarsia_status status;");
  out.open("do");
  out.line(fmt::format("status = {}_collect(&mailbox, outputs);", name));
  out.line("if (status != INTARSIA_PENDING) return status;");
  out.line(fmt::format("status = {}_step(&part0);", part_name(model, cpus[0])));
  out.close(" while (status == INTARSIA_OK);");
  out.line("if (status == INTARSIA_PENDING) intarsia_board_idle();");
  out.line("return status;");
  out.close();
  out.blank();
  out.open("static int32_t descriptor_run(void)");
  out.line("intarsia_status status = descriptor_submit();");
  out.line("if (status != INTARSIA_OK) return status;");
  out.open("do");
  out.line("status = descriptor_collect();");
  out.close(" while (status == INTARSIA_PENDING);");
  out.line("return status;");
  out.close();
  out.blank();
  out.open("const struct intarsia_model_descriptor intarsia_model =");
  out.line(fmt::format(".name = \"{}\",", name));
  out.line(fmt::format(".input_count = {},", entry.inputs.size()));
  out.line(fmt::format(".output_count = {},", entry.outputs.size()));
  out.line(".inputs = input_infos,");
  out.line(".outputs = output_infos,");
  out.line(".init = descriptor_init,");
  out.line(".input = descriptor_input,");
  out.line(".output = descriptor_output,");
  out.line(".run = descriptor_run,");
  out.line(".submit = descriptor_submit,");
  out.line(".collect = descriptor_collect,");
  out.close(";");
  return {name + "_descriptor.c", out.text()};
}

}  // namespace intarsia
