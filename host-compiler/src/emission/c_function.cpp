#include "intarsia/plugin/c_function.h"

#include <fmt/format.h>

#include "intarsia/plugin/c_stmt.h"
#include "intarsia/plugin/c_writer.h"
#include "intarsia/plugin/tir_simplify.h"
#include "intarsia/plugin/tir_walk.h"
#include "tir/identifiers.h"

namespace intarsia::emission {

namespace {

bool is_pointer(const tir::Buffer& buffer) {
  return buffer.scope == tir::Scope::Parameter || buffer.scope == tir::Scope::Local;
}

// Constants have their global names; whatever is local gives way to those, to what the function
// calls, and to C's keywords.
Names make_names(const tir::Module& module, const tir::Func& func, const tir::Stmt& body,
                 const CFunctionOptions& options, UniqueNames& taken) {
  Names names{std::vector<std::string>(func.buffers.size()),
              std::vector<std::string>(func.vars.size())};
  taken.reserve(options.symbol_prefix + func.name);
  for (size_t i = 0; i < func.buffers.size(); ++i) {
    if (func.buffers[i].scope != tir::Scope::Constant) continue;
    names.buffers[i] = options.symbol_prefix + module.constant(func.buffers[i].constant).name;
    taken.reserve(names.buffers[i]);
  }
  tir::walk(
      body,
      [&](const tir::StmtNode& s) {
        if (const auto* n = std::get_if<tir::Intrinsic>(&s.node)) taken.reserve(n->name);
        if (const auto* n = std::get_if<tir::Call>(&s.node))
          taken.reserve(options.symbol_prefix + n->function);
      },
      [&](const tir::ExprNode& e) {
        if (const auto* n = std::get_if<tir::ExprCall>(&e.node)) taken.reserve(n->function);
      });
  const auto local = [&](const std::string& wanted) {
    return taken.take(wanted, tir::is_reserved_in_c);
  };
  for (size_t i = 0; i < func.buffers.size(); ++i)
    if (names.buffers[i].empty()) names.buffers[i] = local(func.buffers[i].name);
  for (size_t i = 0; i < func.vars.size(); ++i) names.vars[i] = local(func.vars[i].name);
  return names;
}

Diagnostics what_has_no_c_form(const tir::Func& func, const tir::Stmt& body) {
  Diagnostics problems;
  const std::string where = "function '" + func.name + "'";
  const auto check_element = [&](tir::BufferId id) {
    const tir::Buffer& buffer = func.buffer(id);
    if (buffer.type == DataType::Int4)
      problems.add(where, "reads or writes single i4 elements of '" + buffer.name + "'",
                   "unpack the buffer to i8 first, or pass it to a kernel");
  };
  tir::walk(
      body,
      [&](const tir::StmtNode& s) {
        if (const auto* n = std::get_if<tir::Store>(&s.node)) check_element(n->buffer);
        if (const auto* n = std::get_if<tir::Call>(&s.node); n != nullptr && !func.tiled)
          problems.add(where, "calls '" + n->function + "': it is a schedule, not a kernel");
        const auto* n = std::get_if<tir::Intrinsic>(&s.node);
        if (n != nullptr && !tir::is_identifier(n->name))
          problems.add(where, "'" + n->name + "' is a command of an accelerator, not a C function");
      },
      [&](const tir::ExprNode& e) {
        if (const auto* n = std::get_if<tir::Load>(&e.node)) check_element(n->buffer);
      });
  return problems;
}

std::string parameter_list(const tir::Func& func, const Names& names) {
  std::string list;
  for (size_t i = 0; i < func.buffers.size(); ++i) {
    const tir::Buffer& buffer = func.buffers[i];
    if (!is_pointer(buffer)) continue;
    const bool read_only =
        i < func.parameters.size() && func.parameters[i].access == tir::Access::Read;
    bool shared = false;
    for (const tir::InPlace& pair : func.in_place)
      shared |= pair.input == static_cast<int32_t>(i) || pair.output == static_cast<int32_t>(i);
    for (const tir::Overlap& overlap : func.overlaps)
      shared |=
          overlap.input == static_cast<int32_t>(i) || overlap.output == static_cast<int32_t>(i);
    if (!list.empty()) list += ", ";
    list += fmt::format("{}{} *{}{}", read_only ? "const " : "", c_name(buffer.type),
                        read_only || shared ? "" : "restrict ", names.buffers[i]);
  }
  return list.empty() ? "void" : list;
}

std::vector<bool> used_buffers(const tir::Func& func, const tir::Stmt& body) {
  std::vector<bool> used(func.buffers.size());
  tir::walk(
      body,
      [&](const tir::StmtNode& s) {
        if (const auto* n = std::get_if<tir::Store>(&s.node)) used[n->buffer.at()] = true;
        if (const auto* n = std::get_if<tir::Intrinsic>(&s.node))
          for (const auto& operand : n->operands)
            if (const auto* run = std::get_if<tir::BufferRun>(&operand))
              used[run->buffer.at()] = true;
        if (const auto* n = std::get_if<tir::Call>(&s.node))
          for (const tir::BufferId id : n->arguments) used[id.at()] = true;
      },
      [&](const tir::ExprNode& e) {
        if (const auto* n = std::get_if<tir::Load>(&e.node)) used[n->buffer.at()] = true;
      });
  return used;
}

void declare_registers(const tir::Func& func, const Names& names,
                       const std::vector<RegisterDeclaration>& registers, CWriter& out) {
  for (size_t i = 0; i < func.buffers.size(); ++i) {
    if (!registers[i].used || registers[i].first_store != nullptr) continue;
    const tir::Buffer& buffer = func.buffers[i];
    const std::string alignment = buffer.alignment > (bits(buffer.type) + 7) / 8
                                      ? fmt::format("_Alignas({}) ", buffer.alignment)
                                      : "";
    const std::string extent =
        buffer.extents.empty() ? "" : fmt::format("[{}]", element_count(buffer.extents));
    out.line(fmt::format("{}{} {}{};", alignment, c_name(buffer.type), names.buffers[i], extent));
    if (!registers[i].loaded) out.line(fmt::format("(void){};", names.buffers[i]));
  }
}

}  // namespace

Result<std::string> emit_c_function(const tir::Module& module, const tir::Func& func,
                                    const CFunctionOptions& options) {
  const tir::Stmt body = tir::simplify(func.body);
  if (Diagnostics problems = what_has_no_c_form(func, body); !problems.empty()) return problems;

  UniqueNames taken;
  const Names names = make_names(module, func, body, options, taken);
  const std::vector<RegisterDeclaration> registers = place_registers(func, body);
  const std::vector<bool> used = used_buffers(func, body);

  CWriter out;
  std::vector<std::string> comment = options.comment_lines;
  if (!func.origin.empty()) comment.insert(comment.begin(), func.origin);
  out.comment(comment);
  out.open(fmt::format("static void {}({})", options.symbol_prefix + func.name,
                       parameter_list(func, names)));
  for (size_t i = 0; i < func.buffers.size(); ++i)
    if (is_pointer(func.buffers[i]) && !used[i]) out.line("(void)" + names.buffers[i] + ";");
  declare_registers(func, names, registers, out);
  FreshNames fresh(taken);
  StmtEmitter(func, names, registers, fresh, options, out).emit(body);
  out.close();
  return out.text();
}

}  // namespace intarsia::emission
