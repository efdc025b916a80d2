// C's operators: how they are written, how tightly they bind, where parentheses go.
#pragma once

#include <string>

#include "intarsia/plugin/c_expr.h"
#include "intarsia/plugin/tir.h"

namespace intarsia::emission {

// C's precedences, larger binds tighter.
enum : int {
  kConditional = 1,
  kLogicalOr,
  kLogicalAnd,
  kBitOr,
  kBitXor,
  kBitAnd,
  kEquality,
  kRelational,
  kShift,
  kAdditive,
  kMultiplicative,
  kUnary,
  kPrimary,
};

struct Operator {
  const char* text;
  int precedence;
};

// Of every binary operation but Min and Max, which are calls.
Operator operator_of(tir::BinaryOp op, bool of_bools);

std::string parenthesised_if(bool wanted, const std::string& text);

// The text of an operand below `parent`: parentheses where C needs them and where compilers and
// readers expect them (mixed && and ||, arithmetic below a shift, anything below a bitwise operator
// or %, comparisons of comparisons).
std::string operand(const CExpr& child, const Operator& parent, bool right);

}  // namespace intarsia::emission
