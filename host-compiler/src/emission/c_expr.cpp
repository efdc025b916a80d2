#include "intarsia/plugin/c_expr.h"

#include <fmt/format.h>

#include <cmath>

#include "emission/c_operators.h"
#include "intarsia/plugin/tir_build.h"
#include "tir/fold.h"

namespace intarsia::emission {

using tir::BinaryOp;
using tir::UnaryOp;

namespace {

bool is_narrow(DataType type) {
  return type != DataType::Float32 && bits(type) < 32;  // bool too
}

// The type of the operand after C's integer promotions.
DataType promoted(DataType type) {
  return is_narrow(type) ? DataType::Int32 : type;
}

// Every value of `from` is one of `to`: C converts without a warning.
bool holds(DataType to, DataType from) {
  if (to == from) return true;
  if (to == DataType::Float32 || from == DataType::Float32) return false;
  return tir::min_value(to) <= tir::min_value(from) && tir::max_value(from) <= tir::max_value(to);
}

CExpr with_cast(DataType type, const CExpr& e) {
  return {fmt::format("({}){}", c_name(type), parenthesised_if(e.precedence < kUnary, e.text)),
          kUnary, type};
}

// For operators whose result may leave the range of a type narrower than `type`.
bool may_grow(BinaryOp op) {
  return op == BinaryOp::Add || op == BinaryOp::Sub || op == BinaryOp::Mul || op == BinaryOp::Shl;
}

// Makes C compute an operation of `type` on both in a type that gives the same result.
void unify(DataType type, bool exactly, CExpr& a, CExpr& b) {
  if (type == DataType::UInt32) {
    if (a.type != type) a = with_cast(type, a);
    if (b.type != type) b = with_cast(type, b);
  } else if (type == DataType::Int64 && a.type != type && b.type != type) {
    if (exactly || promoted(a.type) != promoted(b.type)) {
      CExpr& chosen = a.literal && !b.literal ? b : a;
      chosen = with_cast(type, chosen);
    }
  }
}

DataType common(const CExpr& a, const CExpr& b) {
  if (a.type == b.type) return promoted(a.type);
  if (a.type == DataType::Int64 || b.type == DataType::Int64) return DataType::Int64;
  return promoted(bits(a.type) >= bits(b.type) ? a.type : b.type);
}

}  // namespace

std::string ExprEmitter::value(const tir::Expr& expr) const {
  const CExpr e = emit(expr);
  if (e.literal || holds(expr->type, e.type)) return e.text;
  return with_cast(expr->type, e).text;
}

tir::Expr ExprEmitter::flat_index(tir::BufferId buffer,
                                  const std::vector<tir::Expr>& indices) const {
  const Shape& extents = func_.buffer(buffer).extents;
  tir::Expr flat = tir::int_imm(0);
  for (size_t d = 0; d < indices.size(); ++d) flat = flat * extents[d] + indices[d];
  return flat;
}

std::string ExprEmitter::element(tir::BufferId buffer,
                                 const std::vector<tir::Expr>& indices) const {
  const std::string& name = names_.buffers[buffer.at()];
  const tir::Buffer& declared = func_.buffer(buffer);
  if (declared.extents.empty())
    return declared.scope == tir::Scope::Register ? name : fmt::format("{}[0]", name);
  return fmt::format("{}[{}]", name, emit(flat_index(buffer, indices)).text);
}

std::string ExprEmitter::address(const tir::BufferRun& run) const {
  const std::string& name = names_.buffers[run.buffer.at()];
  const tir::Buffer& buffer = func_.buffer(run.buffer);
  if (buffer.extents.empty())
    return buffer.scope == tir::Scope::Register ? fmt::format("&{}", name) : name;
  return address(run.buffer, flat_index(run.buffer, run.start));
}

std::string ExprEmitter::address(tir::BufferId buffer, const tir::Expr& element) const {
  const std::string& name = names_.buffers[buffer.at()];
  const auto* known = std::get_if<tir::IntImm>(&element->node);
  if (known != nullptr && known->value == 0) return name;
  return fmt::format("&{}[{}]", name, emit(element).text);
}

CExpr ExprEmitter::emit(const tir::Expr& expr) const {
  return std::visit([&](const auto& node) { return emit(node, expr->type); }, expr->node);
}

CExpr ExprEmitter::emit(const tir::IntImm& node, DataType type) const {
  CExpr e{c_literal(type, node.value), node.value < 0 ? kUnary : kPrimary, type, true};
  const bool needs_64 = node.value < INT32_MIN || node.value > INT32_MAX;
  if (type != DataType::Bool && type != DataType::UInt32 && !needs_64) e.type = DataType::Int32;
  return e;
}

CExpr ExprEmitter::emit(const tir::FloatImm& node, DataType type) const {
  // INFINITY is of math.h, which a compiler without a C library need not have.
  if (std::isinf(node.value))
    return {node.value < 0 ? "-(1.0f / 0.0f)" : "(1.0f / 0.0f)", node.value < 0 ? kUnary : kPrimary,
            type};
  return {c_literal(node.value), std::signbit(node.value) ? kUnary : kPrimary, type};
}

CExpr ExprEmitter::emit(const tir::VarRef& node, DataType type) const {
  return {names_.vars[node.var.at()], kPrimary, type};
}

CExpr ExprEmitter::emit(const tir::Load& node, DataType type) const {
  return {element(node.buffer, node.indices), kPrimary, type};
}

CExpr ExprEmitter::emit(const tir::Unary& node, DataType type) const {
  CExpr e = emit(node.operand);
  if (node.op == UnaryOp::Not)
    return {fmt::format("!{}", parenthesised_if(e.precedence < kUnary, e.text)), kUnary,
            DataType::Bool};
  if (!is_narrow(type) && e.type != type && promoted(e.type) != type) e = with_cast(type, e);
  const bool enclose = e.precedence < kUnary || e.text[0] == '-';
  const CExpr negated{fmt::format("-{}", parenthesised_if(enclose, e.text)), kUnary,
                      promoted(e.type)};
  return is_narrow(type) ? with_cast(type, negated) : negated;
}

CExpr ExprEmitter::emit(const tir::Binary& node, DataType type) const {
  if (node.op == BinaryOp::Min || node.op == BinaryOp::Max) return emit_min_max(node, type);
  if (node.op == BinaryOp::Shl) return emit_shift_left(node, type);
  CExpr lhs = emit(node.lhs), rhs = emit(node.rhs);
  const DataType operands = node.lhs->type;
  const bool of_bools = operands == DataType::Bool;
  const Operator op = operator_of(node.op, of_bools);
  if (node.op == BinaryOp::Shr) {
    if (!is_narrow(type) && promoted(lhs.type) != type) lhs = with_cast(type, lhs);
  } else {
    unify(operands, may_grow(node.op), lhs, rhs);
  }
  CExpr result{operand(lhs, op, false) + " " + op.text + " " + operand(rhs, op, true),
               op.precedence, common(lhs, rhs)};
  if (node.op == BinaryOp::Shr) result.type = promoted(lhs.type);
  if (of_bools || tir::is_comparison(node.op)) result.type = DataType::Bool;
  return may_grow(node.op) && is_narrow(type) ? with_cast(type, result) : result;
}

// Through helpers that evaluate each argument once.
CExpr ExprEmitter::emit_min_max(const tir::Binary& node, DataType type) const {
  const DataType wide = promoted(type);
  return {fmt::format("intarsia_{}_{}({}, {})", node.op == BinaryOp::Min ? "min" : "max",
                      to_string(wide), value(node.lhs), value(node.rhs)),
          kPrimary, wide};
}

// C leaves the left shift of a negative value undefined: a multiplication says the same, and for an
// amount that is not constant the shift is done on the unsigned value.
CExpr ExprEmitter::emit_shift_left(const tir::Binary& node, DataType type) const {
  const auto* amount = std::get_if<tir::IntImm>(&node.rhs->node);
  CExpr lhs = emit(node.lhs);
  if (type != DataType::UInt32 && amount != nullptr && amount->value < bits(type) - 1) {
    const tir::Expr factor = tir::int_imm(int64_t{1} << amount->value, type);
    return emit(tir::Binary{BinaryOp::Mul, node.lhs, factor}, type);
  }
  const CExpr rhs = emit(node.rhs);
  const Operator op = operator_of(BinaryOp::Shl, false);
  if (type == DataType::Int64) {
    const CExpr bits_of_lhs{
        fmt::format("(uint64_t){}", parenthesised_if(lhs.precedence < kUnary, lhs.text)), kUnary,
        DataType::Int64};
    return with_cast(type, {operand(bits_of_lhs, op, false) + " << " + operand(rhs, op, true),
                            kShift, DataType::Int64});
  }
  if (lhs.type != DataType::UInt32) lhs = with_cast(DataType::UInt32, lhs);
  const CExpr shifted{operand(lhs, op, false) + " << " + operand(rhs, op, true), kShift,
                      DataType::UInt32};
  return type == DataType::UInt32 ? shifted : with_cast(type, shifted);
}

CExpr ExprEmitter::emit(const tir::Cast& node, DataType type) const {
  const CExpr e = emit(node.operand);
  if (node.operand->type != DataType::Float32 && holds(type, e.type)) return e;
  return with_cast(type, e);
}

CExpr ExprEmitter::emit(const tir::Select& node, DataType type) const {
  CExpr yes = emit(node.if_true), no = emit(node.if_false);
  const CExpr condition = emit(node.condition);
  unify(type, false, yes, no);
  CExpr result;
  result.text = fmt::format("{} ? {} : {}",
                            parenthesised_if(condition.precedence <= kConditional, condition.text),
                            parenthesised_if(yes.precedence <= kConditional, yes.text), no.text);
  result.precedence = kConditional;
  // Compilers look into the arms: two int8_t, or one and a constant, need no cast to become one.
  const auto fits = [&](const CExpr& arm) { return arm.literal || holds(type, arm.type); };
  result.literal = yes.literal && no.literal;
  if (is_narrow(type) && fits(yes) && fits(no)) {
    result.type = type;
  } else {
    result.type = yes.type == no.type ? yes.type : common(yes, no);
  }
  return result;
}

CExpr ExprEmitter::emit(const tir::ExprCall& node, DataType type) const {
  std::string arguments;
  for (const tir::Expr& argument : node.arguments)
    arguments += (arguments.empty() ? "" : ", ") + value(argument);
  return {fmt::format("{}({})", node.function, arguments), kPrimary, type};
}

}  // namespace intarsia::emission
