#include "engine/lane_course.h"

#include "intarsia/plugin/tir_walk.h"

namespace intarsia::engine {
namespace {

using Kind = Course::Kind;

// Addresses and loop variables: in these types nothing overflows.
bool counts(DataType type) {
  return type == DataType::Int32 || type == DataType::Int64;
}

Course of_sum(const Course& a, const Course& b, int64_t sign) {
  if (a.kind == Kind::Free || b.kind == Kind::Free) return Course::free();
  return Course::linear(a.step + sign * b.step);
}

Course of_product(const tir::Binary& node, const Course& a, const Course& b) {
  if (a.is_same() && b.is_same()) return {};
  const auto scaled = [](const Course& course, const tir::Expr& factor) {
    const auto* known = std::get_if<tir::IntImm>(&factor->node);
    return known != nullptr && course.kind == Kind::Linear
               ? Course::linear(course.step * known->value)
               : Course::free();
  };
  return a.is_same() ? scaled(b, node.lhs) : b.is_same() ? scaled(a, node.rhs) : Course::free();
}

}  // namespace

Course course_of(const tir::Func& func, const LaneScope& scope, const tir::Expr& expr) {
  const auto of = [&](const tir::Expr& operand) { return course_of(func, scope, operand); };
  if (const auto* variable = std::get_if<tir::VarRef>(&expr->node)) {
    const auto found = scope.variables.find(variable->var);
    return found == scope.variables.end() ? Course{} : found->second;
  }
  if (const auto* load = std::get_if<tir::Load>(&expr->node);
      load != nullptr && scope.registers.contains(load->buffer))
    return Course::free();
  if (const auto* binary = std::get_if<tir::Binary>(&expr->node); counts(expr->type) && binary) {
    if (binary->op == tir::BinaryOp::Add) return of_sum(of(binary->lhs), of(binary->rhs), 1);
    if (binary->op == tir::BinaryOp::Sub) return of_sum(of(binary->lhs), of(binary->rhs), -1);
    if (binary->op == tir::BinaryOp::Mul)
      return of_product(*binary, of(binary->lhs), of(binary->rhs));
  }
  if (const auto* cast = std::get_if<tir::Cast>(&expr->node);
      cast != nullptr && counts(expr->type) && counts(cast->operand->type))
    return of(cast->operand);
  bool same = true;
  tir::for_each_operand(*expr, [&](const tir::Expr& operand) { same &= of(operand).is_same(); });
  return same ? Course{} : Course::free();
}

}  // namespace intarsia::engine
