// Visiting and rewriting the tensor IR: the caller names the nodes it cares for, the rest recurses.
#pragma once

#include <functional>
#include <string_view>

#include "intarsia/plugin/overloaded.h"
#include "intarsia/plugin/tir.h"

namespace intarsia::tir {

// The operands of one expression, in order.
template <typename F>
void for_each_operand(const ExprNode& expr, F&& f) {
  std::visit(
      overloaded{[](const IntImm&) {}, [](const FloatImm&) {}, [](const VarRef&) {},
                 [&](const Load& n) {
                   for (const Expr& index : n.indices) f(index);
                 },
                 [&](const Unary& n) { f(n.operand); },
                 [&](const Binary& n) { f(n.lhs), f(n.rhs); }, [&](const Cast& n) { f(n.operand); },
                 [&](const Select& n) { f(n.condition), f(n.if_true), f(n.if_false); },
                 [&](const ExprCall& n) {
                   for (const Expr& argument : n.arguments) f(argument);
                 }},
      expr.node);
}

// The expressions that a statement itself evaluates (not those of statements inside it).
template <typename F>
void for_each_own_expr(const StmtNode& stmt, F&& f) {
  std::visit(overloaded{[](const Seq&) {}, [&](const For& n) { f(n.lo), f(n.hi); },
                        [&](const If& n) { f(n.condition); }, [&](const Let& n) { f(n.value); },
                        [&](const Store& n) {
                          for (const Expr& index : n.indices) f(index);
                          f(n.value);
                        },
                        [&](const Call& n) {
                          for (const Expr& offset : n.offsets) f(offset);
                        },
                        [&](const Intrinsic& n) {
                          for (const auto& operand : n.operands) {
                            if (const auto* expr = std::get_if<Expr>(&operand)) f(*expr);
                            if (const auto* run = std::get_if<BufferRun>(&operand))
                              for (const Expr& index : run->start) f(index);
                          }
                        }},
             stmt.node);
}

// The statements directly inside a statement, in order; never null.
template <typename F>
void for_each_inner_stmt(const StmtNode& stmt, F&& f) {
  std::visit(overloaded{[&](const Seq& n) {
                          for (const Stmt& inner : n.statements) f(inner);
                        },
                        [&](const For& n) { f(n.body); },
                        [&](const If& n) {
                          f(n.then_body);
                          if (n.else_body != nullptr) f(n.else_body);
                        },
                        [&](const Let& n) { f(n.body); }, [](const Store&) {}, [](const Call&) {},
                        [](const Intrinsic&) {}},
             stmt.node);
}

// Calls f for `expr` and everything inside it, outermost first.
template <typename F>
void walk(const Expr& expr, F&& f) {
  f(*expr);
  for_each_operand(*expr, [&](const Expr& operand) { walk(operand, f); });
}

// Calls on_stmt for `stmt` and every statement inside it, and on_expr for every expression of
// those, in the order of the text.
template <typename OnStmt, typename OnExpr>
void walk(const Stmt& stmt, OnStmt&& on_stmt, OnExpr&& on_expr) {
  on_stmt(*stmt);
  for_each_own_expr(*stmt, [&](const Expr& expr) { walk(expr, on_expr); });
  for_each_inner_stmt(*stmt, [&](const Stmt& inner) { walk(inner, on_stmt, on_expr); });
}

// Calls f for `stmt` and every statement inside it, in the order of the text.
template <typename F>
void for_each_statement(const Stmt& stmt, F&& f) {
  f(stmt);
  for_each_inner_stmt(*stmt, [&](const Stmt& inner) { for_each_statement(inner, f); });
}

// `change` sees every expression after its operands were rewritten and returns what to put in its
// place (itself to keep it). Parts that do not change stay shared. Nothing is folded.
using ExprChange = std::function<Expr(const Expr&)>;
Expr rewrite(const Expr& expr, const ExprChange& change);
Stmt rewrite(const Stmt& stmt, const ExprChange& change);

// The same for statements, after those inside them were rewritten; expressions stay.
using StmtChange = std::function<Stmt(const Stmt&)>;
Stmt rewrite_statements(const Stmt& stmt, const StmtChange& change);

// Buffer i becomes new_ids[i] wherever it is named; an invalid new id keeps it.
Stmt rename_buffers(const Stmt& stmt, const std::vector<BufferId>& new_ids);

// Structural equality; comments of statements count, identity of nodes does not.
bool equal(const Expr& a, const Expr& b);
bool equal(const std::vector<Expr>& a, const std::vector<Expr>& b);
bool equal(const Stmt& a, const Stmt& b);  // either may be null
bool equal(const Func& a, const Func& b);

}  // namespace intarsia::tir
