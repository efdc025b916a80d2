#include <algorithm>
#include <cstring>

#include "intarsia/plugin/tir_walk.h"

namespace intarsia::tir {

namespace {

// Floats are compared by their bits: -0.0 is not 0.0, and a NaN equals itself.
bool same_bits(float a, float b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

// Compares two variants that hold the same alternative.
template <typename Variant, typename F>
bool same_alternative(const Variant& a, const Variant& b, F&& f) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&](const auto& x) { return f(x, *std::get_if<std::decay_t<decltype(x)>>(&b)); }, a);
}

template <typename T, typename F>
bool all_equal(const std::vector<T>& a, const std::vector<T>& b, F&& f) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), f);
}

bool same_run(const BufferRun& a, const BufferRun& b) {
  return a.buffer == b.buffer && equal(a.start, b.start) && a.count == b.count &&
         a.access == b.access;
}

bool same_operands(const Intrinsic& a, const Intrinsic& b) {
  return all_equal(a.operands, b.operands, [](const auto& x, const auto& y) {
    return same_alternative(
        x, y,
        overloaded{[](const BufferRun& p, const BufferRun& q) { return same_run(p, q); },
                   [](const Expr& p, const Expr& q) { return equal(p, q); }});
  });
}

}  // namespace

bool equal(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  return all_equal(a, b, [](const Expr& x, const Expr& y) { return equal(x, y); });
}

bool equal(const Expr& a, const Expr& b) {
  if (a == b) return true;
  if (a->type != b->type) return false;
  return same_alternative(
      a->node, b->node,
      overloaded{[](const IntImm& x, const IntImm& y) { return x.value == y.value; },
                 [](const FloatImm& x, const FloatImm& y) { return same_bits(x.value, y.value); },
                 [](const VarRef& x, const VarRef& y) { return x.var == y.var; },
                 [](const Load& x, const Load& y) {
                   return x.buffer == y.buffer && equal(x.indices, y.indices);
                 },
                 [](const Unary& x, const Unary& y) {
                   return x.op == y.op && equal(x.operand, y.operand);
                 },
                 [](const Binary& x, const Binary& y) {
                   return x.op == y.op && equal(x.lhs, y.lhs) && equal(x.rhs, y.rhs);
                 },
                 [](const Cast& x, const Cast& y) { return equal(x.operand, y.operand); },
                 [](const Select& x, const Select& y) {
                   return equal(x.condition, y.condition) && equal(x.if_true, y.if_true) &&
                          equal(x.if_false, y.if_false);
                 },
                 [](const ExprCall& x, const ExprCall& y) {
                   return x.function == y.function && equal(x.arguments, y.arguments);
                 }});
}

bool equal(const Stmt& a, const Stmt& b) {
  if (a == b) return true;
  if (a == nullptr || b == nullptr || a->comment != b->comment) return false;
  return same_alternative(
      a->node, b->node,
      overloaded{[](const Seq& x, const Seq& y) {
                   return all_equal(x.statements, y.statements,
                                    [](const Stmt& p, const Stmt& q) { return equal(p, q); });
                 },
                 [](const For& x, const For& y) {
                   return x.var == y.var && equal(x.lo, y.lo) && equal(x.hi, y.hi) &&
                          equal(x.body, y.body);
                 },
                 [](const If& x, const If& y) {
                   return equal(x.condition, y.condition) && equal(x.then_body, y.then_body) &&
                          equal(x.else_body, y.else_body);
                 },
                 [](const Let& x, const Let& y) {
                   return x.var == y.var && equal(x.value, y.value) && equal(x.body, y.body);
                 },
                 [](const Store& x, const Store& y) {
                   return x.buffer == y.buffer && equal(x.indices, y.indices) &&
                          equal(x.value, y.value);
                 },
                 [](const Call& x, const Call& y) {
                   return x.function == y.function && x.arguments == y.arguments &&
                          equal(x.offsets, y.offsets);
                 },
                 [](const Intrinsic& x, const Intrinsic& y) {
                   return x.name == y.name && same_operands(x, y);
                 }});
}

bool equal(const Func& a, const Func& b) {
  return a.name == b.name && a.target == b.target && a.origin == b.origin &&
         a.parameters == b.parameters && a.buffers == b.buffers && a.vars == b.vars &&
         a.in_place == b.in_place && a.overlaps == b.overlaps && a.stepwise == b.stepwise &&
         a.tiled == b.tiled && equal(a.body, b.body) && a.macs == b.macs && a.node == b.node;
}

bool equal(const Module& a, const Module& b) {
  return a.name == b.name && a.constants == b.constants && a.entry == b.entry &&
         all_equal(a.funcs, b.funcs, [](const Func& x, const Func& y) { return equal(x, y); });
}

}  // namespace intarsia::tir
