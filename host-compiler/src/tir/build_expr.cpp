// Expression builders. Every rule below holds for each value of the operands in the arithmetic of
// their type; floating point is left as written (rounding, signed zeros, NaN).
#include <cmath>

#include "intarsia/plugin/check.h"
#include "intarsia/plugin/tir_build.h"
#include "intarsia/plugin/tir_walk.h"
#include "tir/fold.h"

namespace intarsia::tir {

namespace {

template <typename Node>
Expr make(DataType type, Node node) {
  return std::make_shared<const ExprNode>(ExprNode{type, std::move(node)});
}

std::optional<int64_t> constant_of(const Expr& expr) {
  if (const auto* imm = std::get_if<IntImm>(&expr->node)) return imm->value;
  return std::nullopt;
}

const Binary* as_binary(const Expr& expr, BinaryOp op) {
  const auto* node = std::get_if<Binary>(&expr->node);
  return node != nullptr && node->op == op ? node : nullptr;
}

bool preserves_value(DataType from, DataType to) {
  return from != DataType::Float32 && to != DataType::Float32 && min_value(to) <= min_value(from) &&
         max_value(from) <= max_value(to);
}

bool commutes(BinaryOp op) {
  switch (op) {
    case BinaryOp::Add:
    case BinaryOp::Mul:
    case BinaryOp::Min:
    case BinaryOp::Max:
    case BinaryOp::And:
    case BinaryOp::Or:
    case BinaryOp::Xor:
    case BinaryOp::Eq:
    case BinaryOp::Ne:
      return true;
    default:
      return false;
  }
}

// c op x as x op' c.
BinaryOp mirrored(BinaryOp op) {
  switch (op) {
    case BinaryOp::Lt:
      return BinaryOp::Gt;
    case BinaryOp::Le:
      return BinaryOp::Ge;
    case BinaryOp::Gt:
      return BinaryOp::Lt;
    case BinaryOp::Ge:
      return BinaryOp::Le;
    default:
      return op;
  }
}

// (x op c1) op c2 -> x op (c1 op c2). When both steps on the left stay in range so does the one on
// the right, provided that the combined constant is representable (fold says so).
bool associates(BinaryOp op) {
  return commutes(op) && op != BinaryOp::Eq && op != BinaryOp::Ne;
}

// x op c where the answer is x or a constant; null when there is no such rule.
Expr identity(BinaryOp op, const Expr& x, int64_t c) {
  const DataType type = x->type;
  const int64_t all_ones = wrap(type, -1);
  switch (op) {
    case BinaryOp::Add:
    case BinaryOp::Sub:
    case BinaryOp::Or:
    case BinaryOp::Xor:
    case BinaryOp::Shl:
    case BinaryOp::Shr:
      if (c == 0) return x;
      return op == BinaryOp::Or && c == all_ones ? int_imm(all_ones, type) : nullptr;
    case BinaryOp::Mul:
      if (c == 1) return x;
      return c == 0 ? int_imm(0, type) : nullptr;
    case BinaryOp::Div:
      return c == 1 ? x : nullptr;
    case BinaryOp::Mod:
      return c == 1 ? int_imm(0, type) : nullptr;
    case BinaryOp::And:
      if (c == all_ones) return x;
      return c == 0 ? int_imm(0, type) : nullptr;
    case BinaryOp::Min:
      if (c == max_value(type)) return x;
      return c == min_value(type) ? int_imm(c, type) : nullptr;
    case BinaryOp::Max:
      if (c == min_value(type)) return x;
      return c == max_value(type) ? int_imm(c, type) : nullptr;
    default:
      return nullptr;
  }
}

// The range of the operand's value as far as types tell.
struct Range {
  int64_t least, most;
};

Range range_of(const Expr& expr) {
  const auto* widened = std::get_if<Cast>(&expr->node);
  const bool keeps = widened != nullptr && preserves_value(widened->operand->type, expr->type);
  const DataType type = keeps ? widened->operand->type : expr->type;
  return {min_value(type), max_value(type)};
}

// x op c where every x gives the same answer; compilers warn of such comparisons.
Expr always(BinaryOp op, const Expr& x, int64_t c) {
  const Range range = range_of(x);
  const auto answer = [](bool value) { return int_imm(value ? 1 : 0, DataType::Bool); };
  const bool below = range.most<c, above = range.least> c;
  switch (op) {
    case BinaryOp::Lt:
      return below || range.least >= c ? answer(below) : nullptr;
    case BinaryOp::Le:
      return above || range.most <= c ? answer(!above) : nullptr;
    case BinaryOp::Gt:
      return above || range.most <= c ? answer(above) : nullptr;
    case BinaryOp::Ge:
      return below || range.least >= c ? answer(!below) : nullptr;
    case BinaryOp::Eq:
      return below || above ? answer(false) : nullptr;
    case BinaryOp::Ne:
      return below || above ? answer(true) : nullptr;
    default:
      return nullptr;
  }
}

// x op x (expressions have no side effects).
Expr same_operands(BinaryOp op, const Expr& x) {
  switch (op) {
    case BinaryOp::Sub:
    case BinaryOp::Xor:
      return int_imm(0, x->type);
    case BinaryOp::Min:
    case BinaryOp::Max:
    case BinaryOp::And:
    case BinaryOp::Or:
      return x;
    case BinaryOp::Le:
    case BinaryOp::Ge:
    case BinaryOp::Eq:
      return int_imm(1, DataType::Bool);
    case BinaryOp::Lt:
    case BinaryOp::Gt:
    case BinaryOp::Ne:
      return int_imm(0, DataType::Bool);
    default:
      return nullptr;
  }
}

// Sums with a constant: one constant at the end, never a negative one.
Expr fold_sum(BinaryOp op, const Expr& x, int64_t c) {
  const DataType type = x->type;
  const auto total = [&](BinaryOp inner, int64_t inner_c) -> std::optional<int64_t> {
    // x (+|-) inner_c (+|-) c as x + total, when representable.
    const std::optional<int64_t> first =
        inner == BinaryOp::Add ? inner_c : fold(BinaryOp::Sub, type, 0, inner_c);
    return first ? fold(op, type, *first, c) : std::nullopt;
  };
  for (const BinaryOp inner : {BinaryOp::Add, BinaryOp::Sub})
    if (const Binary* node = as_binary(x, inner))
      if (const auto inner_c = constant_of(node->rhs))
        if (const auto sum = total(inner, *inner_c))
          return binary(BinaryOp::Add, node->lhs, int_imm(*sum, type));
  if (c < 0 && c != min_value(type)) {
    const BinaryOp opposite = op == BinaryOp::Add ? BinaryOp::Sub : BinaryOp::Add;
    return make(type, Binary{opposite, x, int_imm(-c, type)});
  }
  return nullptr;
}

Expr fold_with_constant(BinaryOp op, const Expr& x, int64_t c) {
  if (is_comparison(op)) return always(op, x, c);
  if (Expr known = identity(op, x, c)) return known;
  if (op == BinaryOp::Add || op == BinaryOp::Sub) return fold_sum(op, x, c);
  if (!associates(op)) return nullptr;
  const Binary* inner = as_binary(x, op);
  if (inner == nullptr) return nullptr;
  const std::optional<int64_t> inner_c = constant_of(inner->rhs);
  if (!inner_c) return nullptr;
  const std::optional<int64_t> combined = fold(op, x->type, *inner_c, c);
  return combined ? binary(op, inner->lhs, int_imm(*combined, x->type)) : nullptr;
}

}  // namespace

Expr int_imm(int64_t value, DataType type) {
  INTARSIA_CHECK(type != DataType::Float32, "an integer literal has an integer type or bool");
  INTARSIA_CHECK(wrap(type, value) == value, "an integer literal is in the range of its type");
  return make(type, IntImm{value});
}

Expr float_imm(float value) {
  return make(DataType::Float32, FloatImm{value});
}

Expr cast(DataType type, Expr operand) {
  if (operand->type == type) return operand;
  if (const std::optional<int64_t> value = constant_of(operand)) {
    if (type != DataType::Float32) return int_imm(wrap(type, *value), type);
    if (std::llabs(*value) <= (int64_t{1} << 24)) return float_imm(static_cast<float>(*value));
  }
  if (const auto* inner = std::get_if<Cast>(&operand->node))
    if (preserves_value(inner->operand->type, operand->type)) return cast(type, inner->operand);
  return make(type, Cast{std::move(operand)});
}

Expr select(Expr condition, Expr if_true, Expr if_false) {
  INTARSIA_CHECK(condition->type == DataType::Bool, "the condition of a select is a bool");
  INTARSIA_CHECK(if_true->type == if_false->type, "the arms of a select have one type");
  if (const std::optional<int64_t> known = constant_of(condition))
    return *known != 0 ? if_true : if_false;
  if (if_true == if_false) return if_true;
  const DataType type = if_true->type;
  return make(type, Select{std::move(condition), std::move(if_true), std::move(if_false)});
}

Expr call(DataType type, std::string function, std::vector<Expr> arguments) {
  return make(type, ExprCall{std::move(function), std::move(arguments)});
}

Expr binary(BinaryOp op, Expr lhs, Expr rhs) {
  INTARSIA_CHECK(lhs->type == rhs->type, "the operands of a binary have one type");
  const DataType type = is_comparison(op) ? DataType::Bool : lhs->type;
  if (lhs->type != DataType::Float32) {
    if (constant_of(lhs) && !constant_of(rhs) && commutes(op)) std::swap(lhs, rhs);
    const std::optional<int64_t> left = constant_of(lhs), right = constant_of(rhs);
    if (left && right) {
      if (const auto value = fold(op, lhs->type, *left, *right)) return int_imm(*value, type);
    } else if (left && is_comparison(op)) {
      return binary(mirrored(op), rhs, lhs);
    } else if (right) {
      if (Expr folded = fold_with_constant(op, lhs, *right)) return folded;
    } else if (equal(lhs, rhs)) {
      if (Expr folded = same_operands(op, lhs)) return folded;
    } else if (left == 0 && op == BinaryOp::Sub) {
      return unary(UnaryOp::Neg, rhs);
    }
  }
  return make(type, Binary{op, std::move(lhs), std::move(rhs)});
}

Expr unary(UnaryOp op, Expr operand) {
  INTARSIA_CHECK(op != UnaryOp::Not || operand->type == DataType::Bool, "not is of a bool");
  const DataType type = operand->type;
  if (const std::optional<int64_t> value = constant_of(operand))
    if (const auto folded = fold(op, type, *value)) return int_imm(*folded, type);
  if (const auto* inner = std::get_if<Unary>(&operand->node); inner != nullptr && inner->op == op)
    return inner->operand;
  return make(type, Unary{op, std::move(operand)});
}

Expr min(Expr a, Expr b) {
  return binary(BinaryOp::Min, std::move(a), std::move(b));
}
Expr max(Expr a, Expr b) {
  return binary(BinaryOp::Max, std::move(a), std::move(b));
}
Expr operator+(Expr a, Expr b) {
  return binary(BinaryOp::Add, std::move(a), std::move(b));
}
Expr operator-(Expr a, Expr b) {
  return binary(BinaryOp::Sub, std::move(a), std::move(b));
}
Expr operator*(Expr a, Expr b) {
  return binary(BinaryOp::Mul, std::move(a), std::move(b));
}
Expr operator+(Expr a, int64_t b) {
  return a + int_imm(b, a->type);
}
Expr operator-(Expr a, int64_t b) {
  return a - int_imm(b, a->type);
}
Expr operator*(Expr a, int64_t b) {
  return a * int_imm(b, a->type);
}

}  // namespace intarsia::tir
