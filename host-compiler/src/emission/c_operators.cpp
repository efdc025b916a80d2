#include "emission/c_operators.h"

#include <fmt/format.h>

namespace intarsia::emission {

using tir::BinaryOp;

Operator operator_of(BinaryOp op, bool of_bools) {
  switch (op) {
    case BinaryOp::Add:
      return {"+", kAdditive};
    case BinaryOp::Sub:
      return {"-", kAdditive};
    case BinaryOp::Mul:
      return {"*", kMultiplicative};
    case BinaryOp::Div:
      return {"/", kMultiplicative};
    case BinaryOp::Mod:
      return {"%", kMultiplicative};
    case BinaryOp::And:
      return of_bools ? Operator{"&&", kLogicalAnd} : Operator{"&", kBitAnd};
    case BinaryOp::Or:
      return of_bools ? Operator{"||", kLogicalOr} : Operator{"|", kBitOr};
    case BinaryOp::Xor:
      return of_bools ? Operator{"!=", kEquality} : Operator{"^", kBitXor};
    case BinaryOp::Shl:
      return {"<<", kShift};
    case BinaryOp::Shr:
      return {">>", kShift};
    case BinaryOp::Lt:
      return {"<", kRelational};
    case BinaryOp::Le:
      return {"<=", kRelational};
    case BinaryOp::Gt:
      return {">", kRelational};
    case BinaryOp::Ge:
      return {">=", kRelational};
    case BinaryOp::Eq:
      return {"==", kEquality};
    case BinaryOp::Ne:
      return {"!=", kEquality};
    case BinaryOp::Min:
    case BinaryOp::Max:
      break;  // calls
  }
  return {"?", kPrimary};
}

std::string parenthesised_if(bool wanted, const std::string& text) {
  return wanted ? fmt::format("({})", text) : text;
}

std::string operand(const CExpr& child, const Operator& parent, bool right) {
  bool needed =
      child.precedence < parent.precedence || (right && child.precedence == parent.precedence);
  const bool compound = child.precedence < kUnary;
  const bool same = child.precedence == parent.precedence && !right;
  switch (parent.precedence) {
    case kShift:
    case kEquality:
    case kRelational:
      needed |= same || (compound && parent.precedence == kShift);
      needed |= child.precedence == kRelational || child.text[0] == '!';
      break;
    case kBitAnd:
    case kBitOr:
    case kBitXor:
      needed |= compound && !same;
      break;
    case kLogicalOr:
      needed |= child.precedence == kLogicalAnd;
      break;
    case kMultiplicative:
      needed |= parent.text[0] == '%' && compound;
      break;
    default:
      break;
  }
  if (right && parent.precedence == kAdditive && child.text[0] == '-') needed = true;
  return parenthesised_if(needed, child.text);
}

}  // namespace intarsia::emission
