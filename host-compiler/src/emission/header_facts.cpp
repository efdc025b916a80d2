#include "emission/header_facts.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "intarsia/contract/version.h"
#include "intarsia/plugin/c_expr.h"
#include "support/c_identifier.h"
#include "support/shown_text.h"

namespace intarsia::emission {
namespace {

// Inputs and outputs are spoken of alike.
struct Role {
  const char* upper;
  const char* lower;
  const std::vector<TensorInfo>& tensors;
};
std::vector<Role> roles_of(const EmittedModel& model) {
  return {{"INPUT", "input", model.inputs}, {"OUTPUT", "output", model.outputs}};
}

std::string quantization_text(const graph::Quantization& q) {
  if (!q.present()) return "plain numbers";
  if (q.per_channel()) return fmt::format("{} scales along axis {}", q.scale.size(), q.axis);
  const int64_t zero = q.zero_point[0];
  return fmt::format("real = {:.9g} * (q {} {})", q.scale[0], zero < 0 ? '+' : '-', std::abs(zero));
}

bool has_one_scale(const TensorInfo& tensor) {
  return tensor.quantization.present() && !tensor.quantization.per_channel();
}

// Types whose every value a float holds, and a difference of two of them.
bool converts(const TensorInfo& tensor) {
  return has_one_scale(tensor) &&
         (tensor.type == DataType::Int8 || tensor.type == DataType::UInt8 ||
          tensor.type == DataType::Int16);
}

void tensor_macros(CWriter& out, const std::string& name, const TensorInfo& tensor) {
  const auto define = [&](std::string_view what, const std::string& value) {
    out.directive(fmt::format("#define {}_{} {}", name, what, value));
  };
  out.comment({fmt::format("{}: {} [{}], {}", code_text(tensor.name), c_name(tensor.type),
                           fmt::join(tensor.shape, ","), quantization_text(tensor.quantization))});
  define("NAME", "\"" + code_text(tensor.name) + "\"");
  define("TYPE", std::string(c_name(tensor.type)));
  define("RANK", std::to_string(tensor.shape.size()));
  if (!tensor.shape.empty()) define("DIMS", fmt::format("{{{}}}", fmt::join(tensor.shape, ", ")));
  for (size_t d = 0; d < tensor.shape.size(); ++d)
    define(fmt::format("DIM{}", d), std::to_string(tensor.shape[d]));
  define("ELEMENTS", std::to_string(element_count(tensor.shape)));
  define("BYTES", std::to_string(tensor.bytes));
  if (!has_one_scale(tensor)) return;
  define("SCALE", c_literal(tensor.quantization.scale[0]));
  define("ZERO_POINT", fmt::format("({})", tensor.quantization.zero_point[0]));
}

void quantize_function(CWriter& out, const std::string& function, const std::string& prefix,
                       const TensorInfo& tensor) {
  const int64_t low = tensor.type == DataType::UInt8 ? 0 : -(int64_t{1} << (bits(tensor.type) - 1));
  const int64_t high = low + (int64_t{1} << bits(tensor.type)) - 1;
  const int64_t zero = tensor.quantization.zero_point[0];
  const std::string_view type = c_name(tensor.type);
  out.open(fmt::format("static inline {} {}_quantize(float real)", type, function));
  out.line(fmt::format("const float steps = real / {}_SCALE;", prefix));
  out.line("int32_t whole;");
  out.line("float rest;");
  // Not a number gives the smallest value.
  out.line(fmt::format("if (!(steps > {}.0f)) return {};", low - zero, low));
  out.line(fmt::format("if (steps >= {}.0f) return {};", high - zero, high));
  out.line("whole = (int32_t)steps;");
  out.line("rest = steps - (float)whole;");
  out.line("if (rest >= 0.5f) ++whole;");
  out.line("if (rest <= -0.5f) --whole;");
  out.line(fmt::format("return ({})(whole + {}_ZERO_POINT);", type, prefix));
  out.close();
}

}  // namespace

void version_check(CWriter& out, const std::string& model) {
  out.directive(fmt::format("#if INTARSIA_RUNTIME_VERSION != {}", INTARSIA_RUNTIME_VERSION));
  out.directive(
      fmt::format("#error \"{} was compiled for version {} of the Intarsia runtime, and "
                  "intarsia/contract/version.h is of another: "
                  "compile all models of a program with one version of Intarsia\"",
                  model, INTARSIA_RUNTIME_VERSION));
  out.directive("#endif");
  out.blank();
}

void origin_macros(CWriter& out, const ModelContext& context) {
  const std::string prefix = upper_case(context.name());
  const auto define = [&](std::string_view what, const std::string& value) {
    if (!value.empty())
      out.directive(fmt::format("#define {}_{} \"{}\"", prefix, what, code_text(value)));
  };
  out.comment({"What this was compiled by, for, and from."});
  define("COMPILER", context.options.compiler);
  define("TARGET", context.target);
  define("BOARD", context.options.board);
  define("MODEL_SHA256", context.options.model_sha256);
  out.blank();
}

void tensor_macros(CWriter& out, const std::string& prefix, const EmittedModel& model) {
  for (const Role& role : roles_of(model)) {
    out.directive(fmt::format("#define {}_{}_COUNT {}", prefix, role.upper, role.tensors.size()));
    for (size_t i = 0; i < role.tensors.size(); ++i) {
      const TensorInfo& tensor = role.tensors[i];
      const std::string name = fmt::format("{}_{}{}", prefix, role.upper, i);
      tensor_macros(out, name, tensor);
      // Scores of a classifier: one vector.
      if (&role.tensors == &model.outputs && !tensor.shape.empty() && tensor.shape.back() > 1 &&
          element_count(tensor.shape) == tensor.shape.back())
        out.directive(fmt::format("#define {}_CLASS_COUNT {}", name, tensor.shape.back()));
    }
    out.blank();
  }
}

void size_assertions(CWriter& out, const std::string& prefix, const EmittedModel& model) {
  for (const Role& role : roles_of(model))
    for (size_t i = 0; i < role.tensors.size(); ++i)
      if (bits(role.tensors[i].type) >= 8)
        out.line(fmt::format(
            "_Static_assert({0}_{1}{2}_BYTES == {0}_{1}{2}_ELEMENTS * sizeof({3}), \"{4}\");",
            prefix, role.upper, i, c_name(role.tensors[i].type),
            "the size follows from the shape"));
}

void memory_macros(CWriter& out, const ModelContext& context) {
  const std::string prefix = upper_case(context.name());
  std::vector<std::string> memories;
  for (const int pool : context.pools)
    memories.push_back(upper_case(context.plan.memory.pools[static_cast<size_t>(pool)].name));
  out.comment({"Working memory in bytes, one block per memory of the plan; by number too, in the",
               fmt::format("order of struct {}_resources.", context.name())});
  for (size_t i = 0; i < memories.size(); ++i)
    out.directive(fmt::format("#define {}_{}_BYTES {}", prefix, memories[i],
                              context.plan.use[static_cast<size_t>(context.pools[i])].peak));
  out.directive(fmt::format("#define {}_MEMORY_COUNT {}", prefix, memories.size()));
  for (size_t i = 0; i < memories.size(); ++i) {
    const std::string number = fmt::format("MEMORY{}", i);
    // A board may have a memory of such a name.
    if (std::find(memories.begin(), memories.end(), number) == memories.end())
      out.directive(
          fmt::format("#define {0}_{1}_BYTES {0}_{2}_BYTES", prefix, number, memories[i]));
  }
}

void resources_macro(CWriter& out, const ModelContext& context) {
  const std::string prefix = upper_case(context.name());
  std::vector<std::string> blocks;
  out.comment({"Memory for one instance, whatever the board's memories are called: at file scope",
               fmt::format("  {}_DEFINE_RESOURCES(memory);", prefix),
               fmt::format("is the blocks, and `static struct {}_resources memory` that has them.",
                           context.name())});
  out.directive(fmt::format("#define {}_DEFINE_RESOURCES(name) \\", prefix));
  for (const int pool : context.pools) {
    const std::string& memory = context.plan.memory.pools[static_cast<size_t>(pool)].name;
    const std::string place =
        section_attribute(context, memory, "", fmt::format("INTARSIA_IN_MEMORY({})", memory));
    out.directive(fmt::format("  INTARSIA_ALIGNED({0}_ALIGNMENT) static uint8_t \\", prefix));
    out.directive(fmt::format("      name##_{0}[{1}_{2}_BYTES] {3}; \\", memory, prefix,
                              upper_case(memory), place));
    blocks.push_back(fmt::format("name##_{}", memory));
  }
  for (size_t i = 0; i < context.model.devices.size(); ++i) blocks.emplace_back("0");
  if (blocks.empty()) blocks.emplace_back("0");
  out.directive(fmt::format("  static struct {}_resources name = {{{}}}", context.name(),
                            fmt::join(blocks, ", ")));
  out.blank();
}

void typed_access(CWriter& out, const std::string& model, const EmittedModel& emitted) {
  const std::string prefix = upper_case(model);
  out.comment(
      {"The same with types. For a real number, an input holds the nearest step, halves away from",
       "zero, within the range of its type."});
  for (const Role& role : roles_of(emitted))
    for (size_t i = 0; i < role.tensors.size(); ++i) {
      const TensorInfo& tensor = role.tensors[i];
      const bool is_input = &role.tensors == &emitted.inputs;
      const std::string function = fmt::format("{}_{}{}", model, role.lower, i);
      const std::string type = fmt::format("{}{} *", is_input ? "" : "const ", c_name(tensor.type));
      out.open(fmt::format("static inline {}{}(const struct {} *model)", type, function, model));
      out.line(fmt::format("return ({}){}_{}(model, {});", type, model, role.lower, i));
      out.close();
      if (!converts(tensor)) continue;
      const std::string macros = fmt::format("{}_{}{}", prefix, role.upper, i);
      if (is_input) {
        quantize_function(out, function, macros, tensor);
      } else {
        out.open(fmt::format("static inline float {}_dequantize({} value)", function,
                             c_name(tensor.type)));
        out.line(fmt::format("return {0}_SCALE * (float)(value - {0}_ZERO_POINT);", macros));
        out.close();
      }
    }
  out.blank();
}

}  // namespace intarsia::emission
