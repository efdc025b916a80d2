#include "intarsia/gpu/kernel_text.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "intarsia/gpu/parallel.h"
#include "intarsia/plugin/c_stmt.h"
#include "intarsia/plugin/c_writer.h"
#include "intarsia/plugin/tir_simplify.h"
#include "intarsia/plugin/tir_walk.h"

namespace intarsia::gpu {
namespace {

using tir::BufferId;
using tir::Stmt;

constexpr const char* kHelpers =
#include "helper_text.inc"
    ;
constexpr std::string_view kDefinition = "static inline";  // what definitions in them begin with

void flatten(const Stmt& stmt, std::vector<Stmt>& statements) {
  if (const auto* sequence = std::get_if<tir::Seq>(&stmt->node))
    for (const Stmt& inner : sequence->statements) flatten(inner, statements);
  else
    statements.push_back(stmt);
}

std::set<int32_t> buffers_in(const tir::Func& func, const Stmt& stmt, bool registers) {
  std::set<int32_t> used;
  const auto note = [&](BufferId id) {
    if ((func.buffer(id).scope == tir::Scope::Register) == registers) used.insert(id.index);
  };
  tir::walk(
      stmt,
      [&](const tir::StmtNode& s) {
        if (const auto* store = std::get_if<tir::Store>(&s.node)) note(store->buffer);
      },
      [&](const tir::ExprNode& e) {
        if (const auto* load = std::get_if<tir::Load>(&e.node)) note(load->buffer);
      });
  return used;
}

// Statements that hand each other nothing in registers may be kernels of their own.
bool separable(const tir::Func& func, const std::vector<Stmt>& statements) {
  std::set<int32_t> seen;
  for (const Stmt& stmt : statements)
    for (const int32_t id : buffers_in(func, stmt, true))
      if (!seen.insert(id).second) return false;
  return true;
}

bool writes(const Stmt& stmt, BufferId id) {
  bool found = false;
  tir::for_each_statement(stmt, [&](const Stmt& inner) {
    const auto* store = std::get_if<tir::Store>(&inner->node);
    found |= store != nullptr && store->buffer == id;
  });
  return found;
}

// Prefixes keep the function's names apart from words of the dialect.
emission::Names names_of(const tir::Func& func) {
  emission::Names names;
  for (const tir::Buffer& buffer : func.buffers) names.buffers.push_back("b_" + buffer.name);
  for (const tir::Var& var : func.vars) names.vars.push_back("v_" + var.name);
  return names;
}

Kernel make_kernel(const Dialect& dialect, const tir::Func& func, const Stmt& stmt, int number) {
  Kernel kernel;
  const ParallelNest nest = parallel_nest(dialect, func, stmt);
  std::copy(nest.extents.begin(), nest.extents.end(), kernel.global.begin());
  const emission::Names names = names_of(func);
  const std::vector<emission::RegisterDeclaration> registers =
      emission::place_registers(func, nest.body);
  for (const int32_t id : buffers_in(func, stmt, false)) kernel.arguments.push_back({id});

  std::string parameters;
  for (size_t i = 0; i < kernel.arguments.size(); ++i)
    parameters += (i == 0 ? "" : ", ") + fmt::format(fmt::runtime(dialect.parameter), i);
  CWriter out;
  if (!func.origin.empty()) out.comment({func.origin});
  out.open(fmt::format("{} k{}({})", dialect.kernel, number, parameters));
  if (dialect.guard != nullptr) out.line(dialect.guard(nest.extents));
  for (size_t i = 0; i < kernel.arguments.size(); ++i) {
    const BufferId id = kernel.arguments[i];
    const std::string type = fmt::format("{}{}{} *", writes(stmt, id) ? "" : "const ",
                                         dialect.global, c_name(func.buffer(id).type));
    out.line(fmt::format("{}const {} = ({}){};", type, names.buffers[id.at()], type,
                         fmt::format(fmt::runtime(dialect.address), i)));
  }
  for (size_t i = 0; i < func.buffers.size(); ++i) {
    if (!registers[i].used || registers[i].first_store != nullptr) continue;
    const tir::Buffer& buffer = func.buffers[i];
    out.line(fmt::format(
        "{} {}{};", c_name(buffer.type), names.buffers[i],
        buffer.extents.empty() ? "" : fmt::format("[{}]", element_count(buffer.extents))));
  }
  UniqueNames taken;
  for (const std::string& name : names.buffers) taken.reserve(name);
  for (const std::string& name : names.vars) taken.reserve(name);
  emission::FreshNames fresh(std::move(taken));
  emission::StmtEmitter(func, names, registers, fresh, {}, out).emit(nest.body);
  out.close();
  kernel.text = out.text();
  return kernel;
}

// In the helpers' headers, what C++ is to know as C is what they declare and do not define.
std::string without_declarations(std::string text) {
  constexpr std::string_view kBegin = "#ifdef __cplusplus\nextern \"C\" {\n#endif\n";
  constexpr std::string_view kEnd = "#ifdef __cplusplus\n}\n#endif\n";
  for (size_t begin = text.find(kBegin); begin != text.npos; begin = text.find(kBegin, begin))
    text.erase(begin, text.find(kEnd, begin) + kEnd.size() - begin);
  return text;
}

}  // namespace

std::vector<Kernel> kernels_of(const Dialect& dialect, const tir::Func& func, int first) {
  const Stmt body = tir::simplify(func.body);
  std::vector<Stmt> statements;
  flatten(body, statements);
  std::vector<Kernel> kernels;
  if (!separable(func, statements)) return {make_kernel(dialect, func, body, first)};
  for (const Stmt& stmt : statements)
    kernels.push_back(make_kernel(dialect, func, stmt, first + static_cast<int>(kernels.size())));
  return kernels;
}

std::string prelude(const Dialect& dialect) {
  std::string text(dialect.types);
  const std::string helpers = dialect.has_declarations ? kHelpers : without_declarations(kHelpers);
  std::string_view rest = helpers;
  for (size_t at = rest.find(kDefinition); at != rest.npos; at = rest.find(kDefinition)) {
    text += rest.substr(0, at);
    text += dialect.helper;
    rest.remove_prefix(at + kDefinition.size());
  }
  return text.append(rest);
}

bool has_helper(const std::string& function) {
  static const std::string text = kHelpers;
  for (size_t at = text.find(function + "("); at != std::string::npos;
       at = text.find(function + "(", at + 1)) {
    const size_t line = text.rfind('\n', at);
    if (text.compare(line + 1, kDefinition.size(), kDefinition) == 0) return true;
  }
  return false;
}

}  // namespace intarsia::gpu
