#include "model_ir.h"

#include <algorithm>
#include <bit>
#include <set>

#include <fmt/format.h>

#include "function_ir.h"
#include "intarsia/targets/llvm/native_names.h"

namespace intarsia::targets::llvm {
namespace {

constexpr int32_t kWordAlignment = 4;  // of constants, as in C

class ModelIr {
 public:
  ModelIr(const tir::Module& module, const Plan& plan, const std::string& device,
          const IrDialect& dialect)
      : module_(module), plan_(plan), device_(device), shared_{module, dialect, module.name + "_"} {
    std::set<int32_t> used;
    for (const Placement& placement : plan.placements) used.insert(placement.pool);
    pools_.assign(used.begin(), used.end());
  }

  Result<std::string> whole_model() {
    INTARSIA_TRY(const std::string kernels, kernel_functions());
    return with_declarations(
        kernels + reset_function() + init_function() + access_function("input", 0, inputs()) +
        access_function("output", inputs(), schedule().parameters.size()) + run_function());
  }

  Result<std::string> kernels_alone() {
    shared_.kernel_linkage = "hidden";
    INTARSIA_TRY(const std::string kernels, kernel_functions());
    return with_declarations(kernels);
  }

 private:
  const tir::Func& schedule() const { return module_.entry_func(); }
  const IrDialect& dialect() const { return shared_.dialect; }
  std::string bytes_type() const { return byte_pointer(dialect()); }
  // Of an instance, and of what it is given: an array of addresses.
  std::string table_type() const { return pointer_type(shared_.dialect, bytes_type()); }
  // An instance without memories has one member all the same.
  size_t members() const { return std::max<size_t>(pools_.size(), 1); }
  size_t inputs() const {
    const auto& parameters = schedule().parameters;
    return static_cast<size_t>(std::count_if(
        parameters.begin(), parameters.end(),
        [](const tir::Parameter& parameter) { return parameter.access != tir::Access::Write; }));
  }
  int64_t number_of(int32_t pool) const {
    return std::find(pools_.begin(), pools_.end(), pool) - pools_.begin();
  }

  Result<std::string> kernel_functions() {
    std::string text;
    for (const tir::Func* func : kernels_of(module_, device_)) {
      INTARSIA_TRY(const std::string kernel, kernel_text(shared_, *func));
      text += "\n" + kernel;
      if (dialect().runs_here) text += native_function(*func);
    }
    return text;
  }

  // Behind what it refers to.
  std::string with_declarations(const std::string& functions) const {
    std::string text = constants();
    for (const auto& [name, declaration] : shared_.helpers) text += "declare " + declaration + "\n";
    return text + functions;
  }

  // As the linker scripts of boards place it: contract/placement.h. Where nobody has named a board, it is where LLVM puts it.
  std::string section_of(ConstantId constant, const std::string& symbol) const {
    if (plan_.memory.open) return "";
    const MemoryPool* memory = plan_.memory_named_by(constant);
    return fmt::format(", section \".intarsia.{}.{}\"",
                       memory == nullptr ? "weights" : "constants." + memory->name, symbol);
  }

  std::string constants() const {
    std::string text;
    for (size_t i = 0; i < module_.constants.size(); ++i) {
      const tir::Constant& constant = module_.constants[i];
      if (constant.use == tir::ConstantUse::Stream) continue;
      const ConstantId id{static_cast<int32_t>(i)};
      const std::string symbol = constant_symbol(shared_, id);
      text += fmt::format("{} = external hidden constant [{} x i8]{}, align {}\n", symbol,
                          constant.bytes.size(), section_of(id, symbol.substr(1)),
                          std::max(kWordAlignment, element_bytes(constant.type)));
    }
    return text;
  }

  // A call of a function of the frame (helpers/frame.h), which is declared with it.
  std::string frame_call(const std::string& type, const std::string& name,
                         const std::vector<std::string>& arguments) {
    std::string types;
    for (const std::string& argument : arguments)
      types += (types.empty() ? "" : ", ") + argument.substr(0, argument.find(' '));
    shared_.helpers["intarsia_frame_" + name] =
        fmt::format("{} @intarsia_frame_{}({})", type, name, types);
    return fmt::format("call {} @intarsia_frame_{}({})", type, name, fmt::join(arguments, ", "));
  }
  std::string instance() const { return table_type() + " %model"; }
  std::string members_argument() const { return fmt::format("i32 {}", members()); }

  std::string function(const std::string& type, const std::string& name,
                       const std::string& parameters, const IrWriter& body) const {
    return fmt::format("\ndefine {} @{}{}({}) nounwind {{\nentry:\n{}}}\n", type, shared_.prefix,
                       name, parameters, body.text());
  }

  // Leaves the function with the status that `call` gives, unless it is 0.
  void leave_unless_ok(IrWriter& out, const std::string& call) const {
    const std::string status = out.define(call);
    const std::string fails = out.define(fmt::format("icmp ne i32 {}, 0", status));
    const std::string leave = out.fresh_label(), go_on = out.fresh_label();
    out.line(fmt::format("br i1 {}, label %{}, label %{}", fails, leave, go_on));
    out.begin_block(leave);
    out.line("ret i32 " + status);
    out.begin_block(go_on);
  }

  std::string pool_address(IrWriter& out, int32_t pool) const {
    const std::string place =
        out.define(fmt::format("getelementptr inbounds {0}, {1} %model, i32 {2}", bytes_type(),
                               table_type(), number_of(pool)));
    return out.define(fmt::format("load {}, {} {}", bytes_type(), table_type(), place));
  }
  std::string address(IrWriter& out, const std::string& pool, int64_t offset) const {
    return out.define(
        fmt::format("getelementptr inbounds i8, {} {}, i32 {}", bytes_type(), pool, offset));
  }

  bool has_state() const {
    return std::any_of(schedule().buffers.begin(), schedule().buffers.end(),
                       [](const tir::Buffer& buffer) { return buffer.initial.has_value(); });
  }

  std::string reset_function() {
    if (!has_state()) return "";
    IrWriter out;
    leave_unless_ok(out, frame_call("i32", "check", {instance(), members_argument()}));
    for (size_t b = 0; b < schedule().buffers.size(); ++b) {
      const tir::Buffer& buffer = schedule().buffers[b];
      const Placement* place = plan_.find(tir::BufferId{static_cast<int32_t>(b)});
      if (!buffer.initial || place == nullptr) continue;
      const std::string to =
          bytes_type() + " " + address(out, pool_address(out, place->pool), place->offset);
      if (buffer.initial_values.valid()) {
        out.line(frame_call("void", "copy",
                            {to, bytes_type() + " " + constant_address(out, buffer.initial_values),
                             fmt::format("i32 {}", buffer.bytes())}));
        continue;
      }
      const int64_t value = buffer.type == DataType::Float32
                                ? std::bit_cast<int32_t>(static_cast<float>(*buffer.initial))
                                : *buffer.initial;
      out.line(frame_call(
          "void", "fill",
          {to, fmt::format("i64 {}", value), fmt::format("i32 {}", element_bytes(buffer.type)),
           fmt::format("i32 {}", element_count(buffer.extents))}));
    }
    out.line("ret i32 0");
    return function("i32", "reset", instance(), out);
  }

  std::string constant_address(IrWriter& out, ConstantId id) const {
    const std::string symbol = constant_symbol(shared_, id);
    if (!shared_.dialect.typed_pointers) return symbol;
    return out.define(
        fmt::format("bitcast [{} x i8]* {} to i8*", module_.constant(id).bytes.size(), symbol));
  }

  std::string init_function() {
    IrWriter out;
    leave_unless_ok(out, frame_call("i32", "init",
                                    {instance(), table_type() + " %resources",
                                     fmt::format("i32 {}", pools_.size()), members_argument(),
                                     fmt::format("i32 {}", plan_.alignment)}));
    if (has_state()) {
      const std::string status =
          out.define(fmt::format("call i32 @{}reset({})", shared_.prefix, instance()));
      out.line("ret i32 " + status);
    } else {
      out.line("ret i32 0");
    }
    return function("i32", "init", instance() + ", " + table_type() + " %resources", out);
  }

  // _input or _output, over a table of places.
  std::string access_function(const std::string& name, size_t first, size_t end) {
    std::vector<std::string> places;
    for (size_t parameter = first; parameter < end; ++parameter) {
      const Placement* place = plan_.find(tir::BufferId{static_cast<int32_t>(parameter)});
      INTARSIA_CHECK(place != nullptr, "inputs and outputs are planned");
      places.push_back(fmt::format("i32 {}", number_of(place->pool)));
      places.push_back(fmt::format("i32 {}", place->offset));
    }
    const std::string table = fmt::format("@{}{}_places", shared_.prefix, name);
    const std::string number = pointer_type(shared_.dialect, "i32");
    IrWriter out;
    const std::string found = out.define(frame_call(
        bytes_type(), "place",
        {instance(), members_argument(), "i32 %index", fmt::format("i32 {}", end - first),
         fmt::format(
             "{} {}", number,
             shared_.dialect.typed_pointers
                 ? out.define(fmt::format("bitcast [{} x i32]* {} to i32*", places.size(), table))
                 : table)}));
    out.line(fmt::format("ret {} {}", bytes_type(), found));
    return fmt::format("\n{} = internal constant [{} x i32] [{}]\n", table, places.size(),
                       fmt::join(places, ", ")) +
           function(bytes_type(), name, instance() + ", i32 %index", out);
  }

  std::string run_function() {
    IrWriter out;
    leave_unless_ok(out, frame_call("i32", "check", {instance(), members_argument()}));
    std::vector<std::string> pools;
    for (const int32_t pool : pools_) pools.push_back(pool_address(out, pool));
    FunctionIr body(shared_, schedule(), out);
    for (size_t b = 0; b < schedule().buffers.size(); ++b) {
      const tir::BufferId id{static_cast<int32_t>(b)};
      if (schedule().buffers[b].scope == tir::Scope::Constant) continue;
      const Placement* place = plan_.find(id);
      if (place == nullptr) continue;  // nobody uses it
      body.place(id,
                 address(out, pools[static_cast<size_t>(number_of(place->pool))], place->offset));
    }
    body.place_own_buffers();
    body.emit(schedule().body);
    out.line("ret i32 0");
    return function("i32", "run", instance(), out);
  }

  // A kernel that takes its buffers from an array: the engine calls it so.
  std::string native_function(const tir::Func& func) const {
    IrWriter out;
    std::string arguments;
    for (size_t i = 0; i < func.parameters.size(); ++i) {
      const std::string place = out.define(fmt::format(
          "getelementptr inbounds {}, {} %buffers, i32 {}", bytes_type(), table_type(), i));
      arguments +=
          fmt::format("{}{} {}", i == 0 ? "" : ", ", bytes_type(),
                      out.define(fmt::format("load {}, {} {}", bytes_type(), table_type(), place)));
    }
    out.line(fmt::format("call void @{}{}({})", shared_.prefix, func.name, arguments));
    out.line("ret void");
    return fmt::format("\ndefine hidden void @{}({} %buffers) nounwind {{\nentry:\n{}}}\n",
                       native_name(module_.name, func.name), table_type(), out.text());
  }

  const tir::Module& module_;
  const Plan& plan_;
  const std::string& device_;
  ModuleIr shared_;
  std::vector<int32_t> pools_;
};

}  // namespace

std::vector<const tir::Func*> kernels_of(const tir::Module& module, const std::string& device) {
  std::vector<const tir::Func*> kernels;
  for (const tir::Func& func : module.funcs)
    if (func.name != module.entry && func.target == device) kernels.push_back(&func);
  return kernels;
}

Result<std::string> model_ir(const tir::Module& module, const Plan& plan, const std::string& device,
                             const IrDialect& dialect) {
  return ModelIr(module, plan, device, dialect).whole_model();
}

Result<std::string> kernels_ir(const tir::Module& module, const Plan& plan,
                               const std::string& device, const IrDialect& dialect) {
  return ModelIr(module, plan, device, dialect).kernels_alone();
}

}  // namespace intarsia::targets::llvm
