#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "emission/header_facts.h"
#include "emission/model_text.h"
#include "intarsia/plugin/c_writer.h"
#include "support/c_identifier.h"

namespace intarsia::emission {

namespace {

bool uses_bool(const tir::Module& module) {
  return std::any_of(module.funcs.begin(), module.funcs.end(), [](const tir::Func& func) {
    const auto is_bool = [](const auto& declared) { return declared.type == DataType::Bool; };
    return std::any_of(func.buffers.begin(), func.buffers.end(), is_bool) ||
           std::any_of(func.vars.begin(), func.vars.end(), is_bool);
  });
}

}  // namespace

bool has_state(const ModelContext& context) {
  const std::vector<tir::Buffer>& buffers = context.module.entry_func().buffers;
  return std::any_of(buffers.begin(), buffers.end(),
                     [](const tir::Buffer& buffer) { return buffer.initial.has_value(); });
}

std::string header_text(const ModelContext& context) {
  const std::string& name = context.name();
  const std::string prefix = upper_case(name);
  const bool has_devices = !context.model.devices.empty();
  CWriter out;
  out.comment(
      {fmt::format("{}: a neural network, compiled ahead of time. Generated file.", name), "",
       "The caller owns all memory. Fill the inputs, run, read the outputs; an input's bytes may "
       "be",
       "overwritten by the run, an output stays until an input is written again. Several instances",
       "and several models may live in one program; nothing is allocated and nothing is global."});
  out.directive(fmt::format("#ifndef {}_H", prefix));
  out.directive(fmt::format("#define {}_H", prefix));
  out.blank();
  if (uses_bool(context.module)) out.directive("#include <stdbool.h>");
  out.directive("#include <stdint.h>");
  out.blank();
  if (has_devices) out.directive("#include \"intarsia/contract/device.h\"");
  if (has_devices) out.directive("#include \"intarsia/contract/package.h\"");
  out.directive("#include \"intarsia/contract/placement.h\"");
  out.directive("#include \"intarsia/contract/status.h\"");
  out.directive("#include \"intarsia/contract/version.h\"");
  out.blank();
  version_check(out, name);
  out.directive("#ifdef __cplusplus");
  out.directive("extern \"C\" {");
  out.directive("#endif");
  out.blank();
  origin_macros(out, context);
  memory_macros(out, context);
  out.directive(fmt::format("#define {}_ALIGNMENT {}", prefix, context.plan.alignment));
  out.blank();
  tensor_macros(out, prefix, context.model);
  out.directive("#ifndef __cplusplus");
  for (const int pool : context.pools) {
    const MemoryPool& memory = context.plan.memory.pools[static_cast<size_t>(pool)];
    if (memory.size > 0)
      out.line(fmt::format("_Static_assert({}_{}_BYTES <= {}, \"fits the board's memory\");",
                           prefix, upper_case(memory.name), memory.size));
  }
  size_assertions(out, prefix, context.model);
  out.directive("#endif");
  out.blank();

  out.comment({"What the model works with. Blocks are aligned to " + prefix + "_ALIGNMENT."});
  out.open(fmt::format("struct {}_resources", name));
  for (const int pool : context.pools) {
    const std::string& pool_name = context.plan.memory.pools[static_cast<size_t>(pool)].name;
    out.line(fmt::format("void *{}; /* {}_{}_BYTES */", pool_name, prefix, upper_case(pool_name)));
  }
  if (context.pools.empty() && !has_devices) out.line("void *none;");
  for (size_t i = 0; i < context.model.devices.size(); ++i)
    out.line(
        fmt::format("struct intarsia_device *device{}; /* {} */", i, context.model.devices[i]));
  out.close(";");
  out.blank();
  resources_macro(out, context);
  out.comment({"One instance; its members are the model's own."});
  out.open(fmt::format("struct {}", name));
  out.line(fmt::format("struct {}_resources resources;", name));
  if (has_devices) out.line("struct intarsia_package package;");
  out.line("int32_t ready;");
  out.close(";");
  out.blank();
  out.comment(
      {"INTARSIA_OK, which is 0, or a code of intarsia/contract/status.h, which `intarsia "
       "explain-error` explains."});
  out.line(fmt::format(
      "intarsia_status {0}_init(struct {0} *model, const struct {0}_resources *resources);", name));
  out.line(fmt::format("intarsia_status {0}_run(struct {0} *model);", name));
  if (has_state(context)) {
    out.comment(
        {"Forgets what earlier runs have left in the model's state; init does so as well. The "
         "state",
         "lies in the blocks above, so that an instance with state needs blocks of its own."});
    out.line(fmt::format("intarsia_status {0}_reset(struct {0} *model);", name));
  }
  out.comment({"Null when the index is out of range or the model is not initialised."});
  out.line(fmt::format("void *{0}_input(const struct {0} *model, int32_t index);", name));
  out.line(fmt::format("const void *{0}_output(const struct {0} *model, int32_t index);", name));
  out.blank();
  typed_access(out, name, context.model);
  out.directive("#ifdef __cplusplus");
  out.directive("}");
  out.directive("#endif");
  out.blank();
  out.directive("#endif");
  return out.text();
}

}  // namespace intarsia::emission
