// Statement builders, FuncBuilder, and the look-ups of Module.
#include <algorithm>
#include <array>

#include "intarsia/plugin/check.h"
#include "intarsia/plugin/tir_build.h"
#include "tir/identifiers.h"

namespace intarsia::tir {

namespace {

template <typename Node>
Stmt make(Node node) {
  return std::make_shared<const StmtNode>(StmtNode{std::move(node), {}});
}

}  // namespace

Stmt seq(std::vector<Stmt> statements) {
  std::vector<Stmt> flat;
  for (Stmt& statement : statements) {
    if (statement == nullptr) continue;
    const auto* inner = std::get_if<Seq>(&statement->node);
    if (inner != nullptr && statement->comment.empty()) {
      flat.insert(flat.end(), inner->statements.begin(), inner->statements.end());
    } else {
      flat.push_back(std::move(statement));
    }
  }
  if (flat.size() == 1) return flat.front();
  return make(Seq{std::move(flat)});
}

Stmt with_comment(std::string comment, Stmt statement) {
  return std::make_shared<const StmtNode>(StmtNode{statement->node, std::move(comment)});
}

Stmt if_then(Expr condition, Stmt then_body, Stmt else_body) {
  INTARSIA_CHECK(condition->type == DataType::Bool, "the condition of an if is a bool");
  if (const auto* known = std::get_if<IntImm>(&condition->node)) {
    if (known->value != 0) return then_body;
    return else_body != nullptr ? else_body : seq({});
  }
  return make(If{std::move(condition), std::move(then_body), std::move(else_body)});
}

Stmt intrinsic(std::string name, std::vector<std::variant<BufferRun, Expr>> operands) {
  return make(Intrinsic{std::move(name), std::move(operands)});
}

Stmt call_func(std::string function, std::vector<BufferId> arguments, std::vector<Expr> offsets) {
  INTARSIA_CHECK(offsets.empty() || offsets.size() == arguments.size(), "an offset per argument");
  return make(Call{std::move(function), std::move(arguments), std::move(offsets)});
}

// ---- FuncBuilder
// ---------------------------------------------------------------------------------

std::string FuncBuilder::unique(const std::string& hint) {
  // Buffers are also added to func() directly.
  for (; named_buffers_ < func_.buffers.size(); ++named_buffers_)
    names_.reserve(func_.buffers[named_buffers_].name);
  for (; named_vars_ < func_.vars.size(); ++named_vars_)
    names_.reserve(func_.vars[named_vars_].name);
  return names_.take(hint, [](const std::string& name) { return is_reserved_in_c(name); });
}

BufferId FuncBuilder::add(Buffer buffer) {
  INTARSIA_CHECK(is_identifier(buffer.name), "a buffer's name is a C identifier");
  buffer.name = unique(buffer.name);
  buffer.alignment = std::max(buffer.alignment, (bits(buffer.type) + 7) / 8);
  func_.buffers.push_back(std::move(buffer));
  return BufferId{static_cast<int32_t>(func_.buffers.size()) - 1};
}

BufferId FuncBuilder::parameter(std::string name, DataType type, Shape extents, Access access,
                                int32_t alignment) {
  INTARSIA_CHECK(func_.parameters.size() == func_.buffers.size(),
                 "parameters come before all other buffers");
  func_.parameters.push_back({access});
  return add({std::move(name), type, std::move(extents), Scope::Parameter, {}, {}, alignment});
}

BufferId FuncBuilder::constant(std::string name, DataType type, Shape extents, ConstantId id) {
  return add({std::move(name), type, std::move(extents), Scope::Constant, id, {}, 1});
}

BufferId FuncBuilder::local(std::string name, DataType type, Shape extents, int32_t alignment) {
  return add({std::move(name), type, std::move(extents), Scope::Local, {}, {}, alignment});
}

BufferId FuncBuilder::register_(std::string name, DataType type, Shape extents) {
  return add({std::move(name), type, std::move(extents), Scope::Register, {}, {}, 1});
}

Expr FuncBuilder::load(BufferId buffer, std::vector<Expr> indices) const {
  const Buffer& from = func_.buffer(buffer);
  INTARSIA_CHECK(indices.size() == from.extents.size(), "a load has one index per extent");
  return std::make_shared<const ExprNode>(ExprNode{from.type, Load{buffer, std::move(indices)}});
}

Stmt FuncBuilder::store(BufferId buffer, std::vector<Expr> indices, Expr value) const {
  const Buffer& to = func_.buffer(buffer);
  INTARSIA_CHECK(indices.size() == to.extents.size(), "a store has one index per extent");
  INTARSIA_CHECK(value->type == to.type, "a stored value has the buffer's element type");
  return make(Store{buffer, std::move(indices), std::move(value)});
}

VarId FuncBuilder::declare(const std::string& name, DataType type) {
  INTARSIA_CHECK(is_identifier(name), "a variable's name is a C identifier");
  func_.vars.push_back({unique(name), type});
  return VarId{static_cast<int32_t>(func_.vars.size()) - 1};
}

Expr FuncBuilder::ref(VarId var) const {
  return std::make_shared<const ExprNode>(ExprNode{func_.var(var).type, VarRef{var}});
}

Func FuncBuilder::finish(Stmt body) {
  func_.body = body != nullptr ? std::move(body) : seq({});
  return std::move(func_);
}

// ---- Module
// --------------------------------------------------------------------------------------

AliasRoot alias_root(const Func& func, BufferId id) {
  AliasRoot root{id, 0};
  while (func.buffer(root.buffer).alias.valid()) {
    root.offset += func.buffer(root.buffer).alias_offset;
    root.buffer = func.buffer(root.buffer).alias;
  }
  return root;
}

bool is_intrinsics_only(const Func& func) {
  const auto is_intrinsic = [](const Stmt& stmt) {
    return std::holds_alternative<Intrinsic>(stmt->node);
  };
  if (func.body == nullptr) return false;
  const auto* sequence = std::get_if<Seq>(&func.body->node);
  return sequence == nullptr
             ? is_intrinsic(func.body)
             : std::all_of(sequence->statements.begin(), sequence->statements.end(), is_intrinsic);
}

const Func* Module::find(std::string_view func) const {
  const auto found = std::find_if(funcs.begin(), funcs.end(),
                                  [&](const Func& candidate) { return candidate.name == func; });
  return found != funcs.end() ? &*found : nullptr;
}

const Func& Module::entry_func() const {
  const Func* func = find(entry);
  INTARSIA_CHECK(func != nullptr, "the module has its entry function");
  return *func;
}

}  // namespace intarsia::tir
