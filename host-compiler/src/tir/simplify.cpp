#include "intarsia/plugin/tir_simplify.h"

#include "intarsia/plugin/tir_build.h"
#include "intarsia/plugin/tir_walk.h"

namespace intarsia::tir {

namespace {

bool does_nothing(const Stmt& stmt) {
  const auto* inner = stmt != nullptr ? std::get_if<Seq>(&stmt->node) : nullptr;
  return stmt == nullptr || (inner != nullptr && inner->statements.empty());
}

bool reads(const Stmt& stmt, VarId var) {
  bool found = false;
  walk(
      stmt, [](const StmtNode&) {},
      [&](const ExprNode& expr) {
        const auto* ref = std::get_if<VarRef>(&expr.node);
        found |= ref != nullptr && ref->var == var;
      });
  return found;
}

template <typename Node>
Stmt with(const Stmt& old, Node node) {
  return std::make_shared<const StmtNode>(StmtNode{std::move(node), old->comment});
}

}  // namespace

Stmt simplify(const Stmt& stmt) {
  return std::visit(
      overloaded{[&](const Seq& n) {
                   std::vector<Stmt> kept;
                   for (const Stmt& inner : n.statements) {
                     Stmt simple = simplify(inner);
                     if (!does_nothing(simple)) kept.push_back(std::move(simple));
                   }
                   if (kept.empty()) return seq({});
                   return kept == n.statements ? stmt : with(stmt, Seq{std::move(kept)});
                 },
                 [&](const For& n) {
                   const Stmt body = simplify(n.body);
                   if (does_nothing(body)) return seq({});
                   return body == n.body ? stmt : with(stmt, For{n.var, n.lo, n.hi, body});
                 },
                 [&](const If& n) {
                   const Stmt yes = simplify(n.then_body);
                   const Stmt no = n.else_body != nullptr ? simplify(n.else_body) : nullptr;
                   if (does_nothing(yes) && does_nothing(no)) return seq({});
                   if (does_nothing(yes))
                     return with(stmt, If{unary(UnaryOp::Not, n.condition), no, nullptr});
                   return with(stmt, If{n.condition, yes, does_nothing(no) ? nullptr : no});
                 },
                 [&](const Let& n) {
                   const Stmt body = simplify(n.body);
                   if (!reads(body, n.var)) return body;
                   return body == n.body ? stmt : with(stmt, Let{n.var, n.value, body});
                 },
                 [&](const Store& n) {
                   const auto* old = std::get_if<Load>(&n.value->node);
                   const bool itself =
                       old != nullptr && old->buffer == n.buffer && equal(old->indices, n.indices);
                   return itself ? seq({}) : stmt;
                 },
                 [&](const Call&) { return stmt; }, [&](const Intrinsic&) { return stmt; }},
      stmt->node);
}

}  // namespace intarsia::tir
