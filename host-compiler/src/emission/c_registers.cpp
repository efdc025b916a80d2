// Finds for every scalar the innermost block that holds all its uses, so that it can be declared
// where it gets its first value, as one would by hand.
#include "intarsia/plugin/c_stmt.h"
#include "intarsia/plugin/tir_walk.h"

namespace intarsia::emission {

using tir::BufferId;
using tir::Stmt;
using tir::StmtNode;

namespace {

bool loads(const tir::Expr& expr, BufferId buffer) {
  bool found = false;
  tir::walk(expr, [&](const tir::ExprNode& e) {
    const auto* load = std::get_if<tir::Load>(&e.node);
    found |= load != nullptr && load->buffer == buffer;
  });
  return found;
}

bool own_exprs_load(const StmtNode& stmt, BufferId buffer) {
  bool found = false;
  tir::for_each_own_expr(stmt, [&](const tir::Expr& expr) { found |= loads(expr, buffer); });
  return found;
}

bool passes(const StmtNode& stmt, BufferId buffer) {
  const auto* intrinsic = std::get_if<tir::Intrinsic>(&stmt.node);
  if (intrinsic == nullptr) return false;
  for (const auto& operand : intrinsic->operands)
    if (const auto* run = std::get_if<tir::BufferRun>(&operand))
      if (run->buffer == buffer) return true;
  return false;
}

bool stores(const StmtNode& stmt, BufferId buffer) {
  const auto* store = std::get_if<tir::Store>(&stmt.node);
  return store != nullptr && store->buffer == buffer;
}

bool uses(const Stmt& stmt, BufferId buffer) {
  bool found = false;
  tir::walk(
      stmt, [&](const StmtNode& s) { found |= stores(s, buffer) || passes(s, buffer); },
      [&](const tir::ExprNode& e) {
        const auto* load = std::get_if<tir::Load>(&e.node);
        found |= load != nullptr && load->buffer == buffer;
      });
  return found;
}

// The store that is the first use of `buffer` in `stmt`, provided that it stands in the same C
// block: a Let opens none.
const StmtNode* first_store_in_block(const Stmt& stmt, BufferId buffer) {
  if (own_exprs_load(*stmt, buffer)) return nullptr;
  if (stores(*stmt, buffer)) return stmt.get();
  if (const auto* let = std::get_if<tir::Let>(&stmt->node))
    return first_store_in_block(let->body, buffer);
  if (const auto* block = std::get_if<tir::Seq>(&stmt->node))
    for (const Stmt& inner : block->statements)
      if (uses(inner, buffer)) return first_store_in_block(inner, buffer);
  return nullptr;
}

// `stmt` holds all uses of `buffer`.
const StmtNode* declaration_site(const Stmt& stmt, BufferId buffer) {
  if (own_exprs_load(*stmt, buffer) || passes(*stmt, buffer)) return nullptr;
  if (stores(*stmt, buffer)) return stmt.get();
  const Stmt* only = nullptr;
  int users = 0;
  tir::for_each_inner_stmt(*stmt, [&](const Stmt& inner) {
    if (!uses(inner, buffer)) return;
    only = &inner;
    ++users;
  });
  if (users == 1) return declaration_site(*only, buffer);
  return std::holds_alternative<tir::Seq>(stmt->node) ? first_store_in_block(stmt, buffer)
                                                      : nullptr;
}

}  // namespace

std::vector<RegisterDeclaration> place_registers(const tir::Func& func, const Stmt& body) {
  std::vector<RegisterDeclaration> found(func.buffers.size());
  for (size_t i = 0; i < func.buffers.size(); ++i) {
    if (func.buffers[i].scope != tir::Scope::Register) continue;
    const BufferId id{static_cast<int32_t>(i)};
    RegisterDeclaration& declaration = found[i];
    tir::for_each_statement(body, [&](const Stmt& stmt) {
      declaration.stores += stores(*stmt, id) ? 1 : 0;
      // A value that only makes its own next value is not read: compilers warn of it.
      declaration.loaded |= own_exprs_load(*stmt, id) && !stores(*stmt, id);
      if (!passes(*stmt, id)) return;
      declaration.stores += 2;
      declaration.loaded = true;
    });
    declaration.used = declaration.loaded || declaration.stores > 0;
    if (declaration.used && func.buffers[i].extents.empty())
      declaration.first_store = declaration_site(body, id);
  }
  return found;
}

}  // namespace intarsia::emission
