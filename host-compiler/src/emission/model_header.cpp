#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "emission/model_text.h"
#include "intarsia/plugin/c_writer.h"
#include "support/c_identifier.h"

namespace intarsia::emission {

namespace {

std::string quantization_text(const graph::Quantization& q) {
  if (!q.present()) return "plain numbers";
  if (q.per_channel()) return fmt::format("{} scales along axis {}", q.scale.size(), q.axis);
  const int64_t zero = q.zero_point[0];
  return fmt::format("real = {:.9g} * (q {} {})", q.scale[0], zero < 0 ? '+' : '-', std::abs(zero));
}

// A name may hold anything, and this goes into a comment.
std::string comment_safe(std::string text) {
  for (char& c : text)
    if (!std::isprint(static_cast<unsigned char>(c)) || c == '*' || c == '/' || c == '\\') c = '_';
  return text;
}

// What the constants above claim, where the compiler can see it.
void size_assertions(CWriter& out, const std::string& prefix, const char* role,
                     const std::vector<TensorInfo>& tensors) {
  for (size_t i = 0; i < tensors.size(); ++i)
    if (bits(tensors[i].type) >= 8)
      out.line(fmt::format("_Static_assert({}_{}{}_BYTES == {} * sizeof({}), \"{}\");", prefix,
                           role, i, element_count(tensors[i].shape), c_name(tensors[i].type),
                           "the size follows from the shape"));
}

void tensor_constants(CWriter& out, const std::string& prefix, const char* role,
                      const std::vector<TensorInfo>& tensors) {
  out.directive(fmt::format("#define {}_{}_COUNT {}", prefix, role, tensors.size()));
  for (size_t i = 0; i < tensors.size(); ++i) {
    const TensorInfo& tensor = tensors[i];
    out.comment(
        {fmt::format("{}: {} [{}], {}", comment_safe(tensor.name), c_name(tensor.type),
                     fmt::join(tensor.shape, ","), quantization_text(tensor.quantization))});
    out.directive(fmt::format("#define {}_{}{}_BYTES {}", prefix, role, i, tensor.bytes));
  }
  out.blank();
}

}  // namespace

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
  if (has_devices) out.directive("#include \"intarsia_contract/device.h\"");
  if (has_devices) out.directive("#include \"intarsia_contract/package.h\"");
  out.directive("#include \"intarsia_contract/status.h\"");
  out.blank();
  out.directive("#ifdef __cplusplus");
  out.directive("extern \"C\" {");
  out.directive("#endif");
  out.blank();
  out.comment({"Working memory in bytes, one block per memory of the plan."});
  for (const int pool : context.pools) {
    const std::string pool_name =
        upper_case(context.plan.memory.pools[static_cast<size_t>(pool)].name);
    out.directive(fmt::format("#define {}_{}_BYTES {}", prefix, pool_name,
                              context.plan.use[static_cast<size_t>(pool)].peak));
  }
  out.directive(fmt::format("#define {}_ALIGNMENT {}", prefix, context.plan.alignment));
  out.blank();
  tensor_constants(out, prefix, "INPUT", context.model.inputs);
  tensor_constants(out, prefix, "OUTPUT", context.model.outputs);

  out.directive("#ifndef __cplusplus");
  for (const int pool : context.pools) {
    const MemoryPool& memory = context.plan.memory.pools[static_cast<size_t>(pool)];
    if (memory.size > 0)
      out.line(fmt::format("_Static_assert({}_{}_BYTES <= {}, \"fits the board's memory\");",
                           prefix, upper_case(memory.name), memory.size));
  }
  size_assertions(out, prefix, "INPUT", context.model.inputs);
  size_assertions(out, prefix, "OUTPUT", context.model.outputs);
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
  out.comment({"One instance; its members are the model's own."});
  out.open(fmt::format("struct {}", name));
  out.line(fmt::format("struct {}_resources resources;", name));
  if (has_devices) out.line("struct intarsia_package package;");
  out.line("int32_t ready;");
  out.close(";");
  out.blank();
  out.comment({"0 on success, else a code of intarsia_contract/status.h."});
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
  out.directive("#ifdef __cplusplus");
  out.directive("}");
  out.directive("#endif");
  out.blank();
  out.directive("#endif");
  return out.text();
}

}  // namespace intarsia::emission
