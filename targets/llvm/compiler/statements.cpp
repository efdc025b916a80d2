#include <algorithm>

#include <fmt/format.h>

#include "function_ir.h"
#include "intarsia/plugin/tir_build.h"
#include "intarsia/plugin/tir_simplify.h"
#include "intarsia/plugin/tir_walk.h"

namespace intarsia::targets::llvm {

std::string constant_symbol(const ModuleIr& shared, ConstantId id) {
  return "@" + shared.prefix + shared.module.constant(id).name;
}

void FunctionIr::place(tir::BufferId buffer, const std::string& address) {
  bytes_[buffer.at()] = elements_[buffer.at()] = address;
  const std::string memory = memory_type(func_.buffer(buffer).type);
  if (shared_.dialect.typed_pointers && memory != "i8")
    elements_[buffer.at()] = out_.define(fmt::format("bitcast i8* {} to {}*", address, memory));
}

void FunctionIr::place_own_buffers() {
  const bool typed = shared_.dialect.typed_pointers;
  place_vector_sums();
  for (size_t i = 0; i < func_.buffers.size(); ++i) {
    const tir::Buffer& buffer = func_.buffers[i];
    const tir::BufferId id{static_cast<int32_t>(i)};
    if (buffer.scope == tir::Scope::Constant) {
      const std::string symbol = constant_symbol(shared_, buffer.constant);
      const size_t bytes = shared_.module.constant(buffer.constant).bytes.size();
      place(id, typed ? out_.define(fmt::format("bitcast [{} x i8]* {} to i8*", bytes, symbol))
                      : symbol);
    } else if (buffer.scope == tir::Scope::Register && bytes_[i].empty()) {
      const std::string memory = memory_type(buffer.type);
      elements_[i] = bytes_[i] = out_.define(
          fmt::format("alloca {}, i32 {}, align {}", memory, element_count(buffer.extents),
                      std::max(buffer.alignment, element_bytes(buffer.type))));
      if (typed && memory != "i8")
        bytes_[i] = out_.define(fmt::format("bitcast {}* {} to i8*", memory, elements_[i]));
    }
  }
}

// ---- addresses ----------------------------------------------------------------------------------

std::string FunctionIr::offset_address(tir::BufferId buffer, const tir::Expr& element) {
  const auto* known = std::get_if<tir::IntImm>(&element->node);
  if (known != nullptr && known->value == 0) return elements_[buffer.at()];
  std::string index = value(element), type = value_type(element->type);
  if (known == nullptr && shared_.dialect.pointer_bits == 64) {
    index = out_.define(fmt::format("sext {} {} to i64", type, index));
    type = "i64";
  }
  const std::string memory = memory_type(func_.buffer(buffer).type);
  return out_.define(fmt::format("getelementptr inbounds {}, {} {}, {} {}", memory,
                                 pointer_type(shared_.dialect, memory), elements_[buffer.at()],
                                 type, index));
}

std::string FunctionIr::element_address(tir::BufferId buffer,
                                        const std::vector<tir::Expr>& indices) {
  const Shape& extents = func_.buffer(buffer).extents;
  tir::Expr flat = tir::int_imm(0);
  for (size_t d = 0; d < indices.size(); ++d) flat = flat * extents[d] + indices[d];
  return offset_address(buffer, flat);
}

std::string FunctionIr::byte_address(tir::BufferId buffer, const tir::Expr& element) {
  const std::string address = offset_address(buffer, element);
  const std::string memory = memory_type(func_.buffer(buffer).type);
  if (address == elements_[buffer.at()]) return bytes_[buffer.at()];
  if (!shared_.dialect.typed_pointers || memory == "i8") return address;
  return out_.define(fmt::format("bitcast {}* {} to i8*", memory, address));
}

// ---- statements ---------------------------------------------------------------------------------

void FunctionIr::emit(const tir::Stmt& stmt) {
  std::visit([&](const auto& node) { emit(node); }, stmt->node);
}

void FunctionIr::emit(const tir::Seq& node) {
  for (const tir::Stmt& inner : node.statements) emit(inner);
}

// A loop that is asked once before it begins, and then behind its body: the form in which LLVM looks for loops to unroll
// and to vectorise.
void FunctionIr::emit(const tir::For& node) {
  if (emit_vector_sums(node)) return;
  const std::string lo = value(node.lo), hi = value(node.hi);
  const std::string type = value_type(func_.var(node.var).type);
  const std::string body = out_.fresh_label(), next = out_.fresh_label(), end = out_.fresh_label();
  const auto* first = std::get_if<tir::IntImm>(&node.lo->node);
  const auto* last = std::get_if<tir::IntImm>(&node.hi->node);
  if (first != nullptr && last != nullptr) {
    if (first->value >= last->value) return;
    out_.line("br label %" + body);
  } else {
    const std::string runs = out_.define(fmt::format("icmp slt {} {}, {}", type, lo, hi));
    out_.line(fmt::format("br i1 {}, label %{}, label %{}", runs, body, end));
  }
  const std::string before = out_.block();
  out_.begin_block(body);
  const std::string variable =
      out_.define(fmt::format("phi {0} [ {1}, %{2} ], [ %{3}.i, %{3} ]", type, lo, before, next));
  vars_[node.var.at()] = variable;
  emit(node.body);
  out_.line("br label %" + next);
  out_.begin_block(next);
  out_.line(fmt::format("%{}.i = add nsw {} {}, 1", next, type, variable));
  const std::string again = out_.define(fmt::format("icmp slt {} %{}.i, {}", type, next, hi));
  out_.line(fmt::format("br i1 {}, label %{}, label %{}", again, body, end));
  out_.begin_block(end);
}

void FunctionIr::emit(const tir::If& node) {
  const std::string condition = value(node.condition);
  const std::string yes = out_.fresh_label(), no = out_.fresh_label(), end = out_.fresh_label();
  out_.line(fmt::format("br i1 {}, label %{}, label %{}", condition, yes, no));
  out_.begin_block(yes);
  emit(node.then_body);
  out_.line("br label %" + end);
  out_.begin_block(no);
  if (node.else_body != nullptr) emit(node.else_body);
  out_.line("br label %" + end);
  out_.begin_block(end);
}

void FunctionIr::emit(const tir::Let& node) {
  vars_[node.var.at()] = value(node.value);
  emit(node.body);
}

void FunctionIr::emit(const tir::Store& node) {
  const DataType type = func_.buffer(node.buffer).type;
  std::string stored = value(node.value);
  if (type == DataType::Bool) stored = out_.define(fmt::format("zext i1 {} to i8", stored));
  const std::string memory = memory_type(type);
  const std::string address = element_address(node.buffer, node.indices);
  out_.line(fmt::format("store {} {}, {} {}, align {}", memory, stored,
                        pointer_type(shared_.dialect, memory), address, element_bytes(type)));
}

void FunctionIr::emit(const tir::Call& node) {
  std::string arguments;
  for (size_t i = 0; i < node.arguments.size(); ++i) {
    const std::string address = node.offsets.empty()
                                    ? bytes_[node.arguments[i].at()]
                                    : byte_address(node.arguments[i], node.offsets[i]);
    arguments += fmt::format("{}{} {}", i == 0 ? "" : ", ", byte_pointer(shared_.dialect), address);
  }
  out_.line(fmt::format("call void @{}{}({})", shared_.prefix, node.function, arguments));
}

void FunctionIr::emit(const tir::Intrinsic& node) {
  std::string arguments, types;
  for (const auto& operand : node.operands) {
    std::string given;
    if (const auto* run = std::get_if<tir::BufferRun>(&operand)) {
      tir::Expr flat = tir::int_imm(0);
      const Shape& extents = func_.buffer(run->buffer).extents;
      for (size_t d = 0; d < run->start.size(); ++d) flat = flat * extents[d] + run->start[d];
      given = byte_pointer(shared_.dialect) + " " + byte_address(run->buffer, flat);
    } else {
      given = helper_argument(std::get<tir::Expr>(operand));
    }
    arguments += (arguments.empty() ? "" : ", ") + given;
    types += (types.empty() ? "" : ", ") + given.substr(0, given.find(' '));
  }
  shared_.helpers[node.name] = fmt::format("void @{}({})", node.name, types);
  out_.line(fmt::format("call void @{}({})", node.name, arguments));
}

// ---- kernels ------------------------------------------------------------------------------------

namespace {

Diagnostics what_has_no_ir(const tir::Func& func) {
  Diagnostics problems;
  const std::string where = "function '" + func.name + "'";
  const auto check_element = [&](tir::BufferId id) {
    const tir::Buffer& buffer = func.buffer(id);
    if (buffer.type == DataType::Int4)
      problems.add(where, "reads or writes single i4 elements of '" + buffer.name + "'",
                   "unpack the buffer to i8 first, or pass it to a kernel");
  };
  tir::walk(
      func.body,
      [&](const tir::StmtNode& s) {
        if (const auto* n = std::get_if<tir::Store>(&s.node)) check_element(n->buffer);
        const auto* n = std::get_if<tir::Intrinsic>(&s.node);
        if (n != nullptr && n->name.find('.') != std::string::npos)
          problems.add(where, "'" + n->name + "' is a command of an accelerator, not a function");
      },
      [&](const tir::ExprNode& e) {
        if (const auto* n = std::get_if<tir::Load>(&e.node)) check_element(n->buffer);
      });
  for (const tir::Buffer& buffer : func.buffers)
    if (buffer.scope == tir::Scope::Local)
      problems.add(where, "has a buffer '" + buffer.name + "' that no memory plan knows");
  return problems;
}

// Two buffers do not overlap but for the pairs that say so.
bool may_overlap(const tir::Func& func, int32_t parameter) {
  const auto names = [&](const auto& pair) {
    return pair.input == parameter || pair.output == parameter;
  };
  return std::any_of(func.in_place.begin(), func.in_place.end(), names) ||
         std::any_of(func.overlaps.begin(), func.overlaps.end(), names);
}

}  // namespace

Result<std::string> kernel_text(ModuleIr& shared, const tir::Func& func) {
  if (Diagnostics problems = what_has_no_ir(func); !problems.empty()) return problems;
  std::string parameters;
  for (size_t i = 0; i < func.parameters.size(); ++i) {
    const tir::Buffer& buffer = func.buffers[i];
    parameters += fmt::format("{}{} nocapture {}{}align {} %p{}", i == 0 ? "" : ", ",
                              byte_pointer(shared.dialect),
                              may_overlap(func, static_cast<int32_t>(i)) ? "" : "noalias ",
                              func.parameters[i].access == tir::Access::Read ? "readonly " : "",
                              element_bytes(buffer.type), i);
  }
  IrWriter out;
  FunctionIr body(shared, func, out);
  for (size_t i = 0; i < func.parameters.size(); ++i)
    body.place({static_cast<int32_t>(i)}, fmt::format("%p{}", i));
  const tir::Stmt statements = tir::simplify(func.body);
  body.find_vector_sums(statements);
  body.place_own_buffers();
  body.emit(statements);
  return fmt::format("define {} void @{}{}({}) noinline nounwind {{\nentry:\n{}  ret void\n}}\n",
                     shared.kernel_linkage, shared.prefix, func.name, parameters, out.text());
}

}  // namespace intarsia::targets::llvm
