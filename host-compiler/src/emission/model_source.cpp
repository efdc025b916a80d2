#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "emission/model_text.h"
#include "emission/package_contract.h"
#include "emission/shown_results.h"
#include "intarsia/plugin/c_writer.h"
#include "intarsia/plugin/tir_walk.h"
#include "support/c_identifier.h"
#include "support/shown_text.h"

namespace intarsia::emission {
namespace {

const std::vector<tir::Buffer>& buffers_of(const ModelContext& context) {
  return context.module.entry_func().buffers;
}

// NAN is of math.h.
bool has_literal_of_math_h(const tir::Func& func) {
  bool found = false;
  if (func.body == nullptr) return found;
  tir::walk(
      func.body, [](const tir::StmtNode&) {},
      [&](const tir::ExprNode& expr) {
        const auto* literal = std::get_if<tir::FloatImm>(&expr.node);
        found |= literal != nullptr && std::isnan(literal->value);
      });
  return found;
}

const std::string& pool_name(const ModelContext& context, int pool) {
  return context.plan.memory.pools[static_cast<size_t>(pool)].name;
}

// "(const int8_t *)(sram + 512)"; constants by their name.
std::string argument_text(const ModelContext& context, const tir::Func& callee, size_t parameter,
                          tir::BufferId id) {
  const tir::Func& schedule = context.module.entry_func();
  const tir::Buffer& buffer = schedule.buffer(id);
  if (buffer.scope == tir::Scope::Constant)
    return context.name() + "_" + context.module.constant(buffer.constant).name;
  const Placement* place = context.plan.find(id);
  INTARSIA_CHECK(place != nullptr, "every buffer of the schedule is planned");
  const bool read_only = callee.parameters[parameter].access == tir::Access::Read;
  const std::string address =
      place->offset == 0 ? pool_name(context, place->pool)
                         : fmt::format("{} + {}", pool_name(context, place->pool), place->offset);
  return fmt::format("({}{} *)({})", read_only ? "const " : "",
                     c_name(callee.buffers[parameter].type), address);
}

// "*(const bool *)(sram + 64)"; constants by their name.
std::string flag_text(const ModelContext& context, tir::BufferId id) {
  const tir::Buffer& buffer = context.module.entry_func().buffer(id);
  if (buffer.scope == tir::Scope::Constant)
    return fmt::format("{}_{}[0]", context.name(), context.module.constant(buffer.constant).name);
  const Placement* place = context.plan.find(id);
  INTARSIA_CHECK(place != nullptr, "every buffer of the schedule is planned");
  return fmt::format("*(const bool *)({} + {})", pool_name(context, place->pool), place->offset);
}

std::set<int> pools_of_steps(const ModelContext& context) {
  std::set<int> used;
  for (const Step& step : context.steps)
    if (step.stream < 0)
      for (const tir::BufferId id : step.arguments)
        if (const Placement* place = context.plan.find(id)) used.insert(place->pool);
  for (const Step& step : context.steps)
    if (const Placement* place =
            step.while_flag.valid() ? context.plan.find(step.while_flag) : nullptr)
      used.insert(place->pool);
  return used;
}

void control_line(CWriter& out, const ModelContext& context, const Step& step) {
  switch (step.what) {
    case Step::What::If:
      return out.open(fmt::format("if ({})", flag_text(context, step.arguments[0])));
    case Step::What::Else:
      return out.reopen("else");
    case Step::What::Loop: {
      const std::string flag =
          step.while_flag.valid() ? " && " + flag_text(context, step.while_flag) : std::string();
      return out.open(fmt::format("for (int32_t {0} = 0; {0} < {1}{2}; ++{0})", step.variable,
                                  step.iterations, flag));
    }
    case Step::What::End:
    case Step::What::Call:
      return out.close();
  }
}

// Shows what the step has computed to the user's function, if there is one.
void trace_lines(CWriter& out, const ModelContext& context, const Step& step, int index) {
  const bool is_stream = step.stream >= 0;
  for (const ShownTensor& shown :
       shown_tensors(context.graph, context.plan, *step.func, step.arguments, is_stream)) {
    const Placement* place = context.plan.find(shown.buffer);
    std::string address = pool_name(context, place->pool);
    if (is_stream) address = "(uint8_t *)model->resources." + address;
    if (place->offset != 0) address += fmt::format(" + {}", place->offset);
    out.line(fmt::format("{}_TRACE({}, {}, {}, {});", upper_case(context.name()), index,
                         "\"" + literal_text(shown.name) + "\"", address,
                         context.module.entry_func().buffer(shown.buffer).bytes()));
  }
}

// Nothing of it is left unless the user asks for it.
void trace_declaration(CWriter& out, const std::string& prefix) {
  out.comment(
      {fmt::format("Compiled with -D{}_TRACE=function, that function of yours is called with "
                   "each",
                   prefix),
       "operator's result when it is there: docs/debugging.md."});
  out.directive(fmt::format("#ifdef {}_TRACE", prefix));
  out.line(fmt::format(
      "void {}_TRACE(int32_t index, const char *name, const void *tensor, int32_t bytes);",
      prefix));
  out.directive("#else");
  out.directive(fmt::format("#define {}_TRACE(index, name, tensor, bytes) ((void)0)", prefix));
  out.directive("#endif");
  out.blank();
}

void run_function(CWriter& out, const ModelContext& context) {
  const std::string& name = context.name();
  const bool has_devices = !context.model.devices.empty();
  out.open(fmt::format("intarsia_status {0}_run(struct {0} *model)", name));
  for (const int pool : pools_of_steps(context))
    out.line(fmt::format("uint8_t *{};", pool_name(context, pool)));
  if (has_devices) {
    out.line(fmt::format("void *pools[{}];", context.plan.memory.pools.size()));
    out.line("intarsia_status status;");
  }
  out.blank();
  out.line("if (model == NULL) return INTARSIA_ERROR_NULL_ARGUMENT;");
  out.line("if (!model->ready) return INTARSIA_ERROR_NOT_INITIALISED;");
  for (const int pool : pools_of_steps(context))
    out.line(fmt::format("{0} = model->resources.{0};", pool_name(context, pool)));
  if (has_devices)
    for (size_t pool = 0; pool < context.plan.memory.pools.size(); ++pool) {
      const bool used = std::find(context.pools.begin(), context.pools.end(),
                                  static_cast<int>(pool)) != context.pools.end();
      out.line(fmt::format(
          "pools[{}] = {};", pool,
          used ? "model->resources." + pool_name(context, static_cast<int>(pool)) : "NULL"));
    }
  out.blank();
  int index = 0;  // of the call, in the order of the text
  for (const Step& step : context.steps) {
    if (step.what != Step::What::Call) {
      control_line(out, context, step);
      continue;
    }
    if (step.stream >= 0) {
      out.comment({fmt::format("{} on {}", step.func->origin,
                               context.model.devices[static_cast<size_t>(step.device)])});
      out.line(
          fmt::format("status = intarsia_package_run(&model->package, {}u, pools, {}u, "
                      "model->resources.device{});",
                      step.stream, context.plan.memory.pools.size(), step.device));
      out.line("if (status != INTARSIA_OK) return status;");
      trace_lines(out, context, step, index++);
      continue;
    }
    std::vector<std::string> arguments;
    for (size_t i = 0; i < step.arguments.size(); ++i)
      arguments.push_back(argument_text(context, *step.func, i, step.arguments[i]));
    out.line(fmt::format("{}_{}({});", name, step.func->name, fmt::join(arguments, ", ")));
    trace_lines(out, context, step, index++);
  }
  out.line("return INTARSIA_OK;");
  out.close();
}

// State as it is before the first run.
void reset_function(CWriter& out, const ModelContext& context) {
  const tir::Func& schedule = context.module.entry_func();
  const std::string& name = context.name();
  out.open(fmt::format("intarsia_status {0}_reset(struct {0} *model)", name));
  const bool counts = std::any_of(
      schedule.buffers.begin(), schedule.buffers.end(),
      [](const tir::Buffer& buffer) { return buffer.initial && !buffer.initial_values.valid(); });
  if (counts) out.line("int32_t i;");
  if (counts) out.blank();
  out.line("if (model == NULL) return INTARSIA_ERROR_NULL_ARGUMENT;");
  out.line("if (!model->ready) return INTARSIA_ERROR_NOT_INITIALISED;");
  for (size_t b = 0; b < schedule.buffers.size(); ++b) {
    const tir::Buffer& buffer = schedule.buffers[b];
    if (!buffer.initial) continue;
    const Placement* place = context.plan.find(tir::BufferId{static_cast<int32_t>(b)});
    if (place == nullptr) continue;  // nobody uses it
    if (buffer.initial_values.valid()) {
      out.line(fmt::format("memcpy((uint8_t *)model->resources.{} + {}, {}_{}, {});",
                           pool_name(context, place->pool), place->offset, name,
                           context.module.constant(buffer.initial_values).name, buffer.bytes()));
      continue;
    }
    const bool is_float = buffer.type == DataType::Float32;
    out.line(fmt::format(
        "for (i = 0; i < {}; ++i) (({} *)((uint8_t *)model->resources.{} + {}))[i] = {};",
        element_count(buffer.extents), c_name(buffer.type), pool_name(context, place->pool),
        place->offset,
        is_float ? fmt::format("{}.0f", *buffer.initial) : fmt::format("{}", *buffer.initial)));
  }
  out.line("return INTARSIA_OK;");
  out.close();
}

// What the package is compared with: it may come from a later compilation than this source.
void package_contract(CWriter& out, const ModelContext& context) {
  const std::string prefix = upper_case(context.name());
  const PackageNeeds needs = package_needs(context.module, context.plan, context.model);
  std::vector<std::string> bytes;
  for (size_t pool = 0; pool < needs.pool_bytes.size(); ++pool) {
    const bool used = std::find(context.pools.begin(), context.pools.end(),
                                static_cast<int>(pool)) != context.pools.end();
    bytes.push_back(used ? fmt::format("{}_{}_BYTES", prefix,
                                       upper_case(pool_name(context, static_cast<int>(pool))))
                         : "0");
  }
  out.line(fmt::format("static const uint32_t pool_bytes[] = {{{}}};", fmt::join(bytes, ", ")));
  out.line(fmt::format(
      "static const struct intarsia_package_contract contract = {{{:#010x}u, {}u, pool_bytes, "
      "{}_ALIGNMENT}};",
      needs.model_id, needs.pool_bytes.size(), prefix));
}

void init_function(CWriter& out, const ModelContext& context) {
  const std::string& name = context.name();
  const std::string prefix = upper_case(name);
  out.open(fmt::format(
      "intarsia_status {0}_init(struct {0} *model, const struct {0}_resources *resources)", name));
  if (!context.model.devices.empty()) {
    package_contract(out, context);
    out.line("intarsia_status status;");
    out.blank();
  }
  out.line("if (model == NULL || resources == NULL) return INTARSIA_ERROR_NULL_ARGUMENT;");
  out.line("model->ready = 0;");
  out.line(
      "if (intarsia_runtime_version() != INTARSIA_RUNTIME_VERSION) return "
      "INTARSIA_ERROR_RUNTIME_VERSION;");
  for (const int pool : context.pools) {
    out.line(fmt::format("if (resources->{} == NULL) return INTARSIA_ERROR_NULL_ARGUMENT;",
                         pool_name(context, pool)));
    out.line(fmt::format(
        "if ((uintptr_t)resources->{} % {}_ALIGNMENT != 0) return INTARSIA_ERROR_MISALIGNED;",
        pool_name(context, pool), prefix));
  }
  for (size_t i = 0; i < context.model.devices.size(); ++i)
    out.line(
        fmt::format("if (resources->device{} == NULL) return INTARSIA_ERROR_NULL_ARGUMENT;", i));
  if (!context.model.devices.empty()) {
    out.line(fmt::format(
        "status = intarsia_package_open(&model->package, {}_package, {}_PACKAGE_BYTES);", name,
        prefix));
    out.line(
        "if (status == INTARSIA_OK) status = intarsia_package_check(&model->package, &contract);");
    out.line("if (status != INTARSIA_OK) return status;");
  }
  out.line("model->resources = *resources;");
  out.line("model->ready = 1;");
  out.line(has_state(context) ? fmt::format("return {}_reset(model);", name)
                              : std::string("return INTARSIA_OK;"));
  out.close();
}

// _input or _output: a switch over the planned places.
void access_function(CWriter& out, const ModelContext& context, bool input) {
  const std::string& name = context.name();
  const size_t count = input ? context.model.inputs.size() : context.model.outputs.size();
  out.open(fmt::format("{0}void *{1}_{2}(const struct {1} *model, int32_t index)",
                       input ? "" : "const ", name, input ? "input" : "output"));
  out.line("if (model == NULL || !model->ready) return NULL;");
  out.open("switch (index)");
  for (size_t i = 0; i < count; ++i) {
    const size_t parameter = input ? i : context.model.inputs.size() + i;
    const Placement* place = context.plan.find(tir::BufferId{static_cast<int32_t>(parameter)});
    INTARSIA_CHECK(place != nullptr, "inputs and outputs are planned");
    out.line(fmt::format("case {}: return (uint8_t *)model->resources.{} + {};", i,
                         pool_name(context, place->pool), place->offset));
  }
  out.line("default: return NULL;");
  out.close();
  out.close();
}

}  // namespace

std::string source_text(const ModelContext& context, const std::vector<std::string>& includes,
                        const std::vector<std::string>& functions) {
  const std::string& name = context.name();
  const std::string prefix = upper_case(name);
  CWriter out;
  out.comment({fmt::format("{}: operators and schedule. Generated file.", name)});
  out.directive(fmt::format("#include \"{}.h\"", name));
  out.blank();
  if (std::any_of(context.module.funcs.begin(), context.module.funcs.end(),
                  [](const tir::Func& func) { return has_literal_of_math_h(func); }))
    out.directive("#include <math.h>");
  out.directive("#include <stddef.h>");
  if (std::any_of(buffers_of(context).begin(), buffers_of(context).end(),
                  [](const tir::Buffer& buffer) { return buffer.initial_values.valid(); }))
    out.directive("#include <string.h>");
  out.blank();
  for (const std::string& include : includes)
    out.directive(fmt::format("#include \"{}\"", include));
  out.directive(fmt::format("#include \"{}_data.h\"", name));
  if (!context.model.devices.empty()) out.directive(fmt::format("#include \"{}_package.h\"", name));
  out.blank();
  trace_declaration(out, prefix);
  for (const int pool : context.pools)
    out.line(fmt::format(
        "_Static_assert({0}_{1}_BYTES == {2}, \"header and source belong together\");", prefix,
        upper_case(pool_name(context, pool)), context.plan.use[static_cast<size_t>(pool)].peak));
  out.line(
      fmt::format("_Static_assert({0}_ALIGNMENT == {1}, \"header and source belong together\");",
                  prefix, context.plan.alignment));
  out.blank();
  std::string text = out.text();
  for (const std::string& function : functions) text += "\n" + function;

  CWriter tail;
  if (has_state(context)) {
    reset_function(tail, context);
    tail.blank();
  }
  init_function(tail, context);
  tail.blank();
  access_function(tail, context, true);
  tail.blank();
  access_function(tail, context, false);
  tail.blank();
  run_function(tail, context);
  return text + "\n" + tail.text();
}

}  // namespace intarsia::emission
