// Expressions of the tensor IR as C11 expressions, with the fewest parentheses and casts that leave
// gcc and clang silent under -Wall -Wextra -Wconversion -Wsign-conversion.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "intarsia/plugin/tir.h"

namespace intarsia::emission {

// What the buffers and variables of one function are called in C.
struct Names {
  std::vector<std::string> buffers;  // by BufferId; of constants, the global name
  std::vector<std::string> vars;     // by VarId
};

// One C expression. `type` is what the C compiler takes its value for: it may be narrower than the
// IR's type, whose conversion C then does by itself (int8_t promoted to int32_t).
struct CExpr {
  std::string text;
  int precedence = 0;
  DataType type = DataType::Int32;
  bool literal = false;  // an integer constant: fits wherever the IR puts it
};

// Expressions of one function. It refers to the function and the names.
class ExprEmitter {
 public:
  ExprEmitter(const tir::Func& func, const Names& names) : func_(func), names_(names) {}

  // As the right side of an assignment to, or an argument of, the expression's own type.
  std::string value(const tir::Expr& expr) const;
  // As the condition of a statement or a loop.
  std::string condition(const tir::Expr& expr) const { return emit(expr).text; }
  // "input[(iy * 10 + ix) * 64 + c]"; of a scalar its name.
  std::string element(tir::BufferId buffer, const std::vector<tir::Expr>& indices) const;
  // The address of the first element of a run: "input", "&input[oy * 640]".
  std::string address(const tir::BufferRun& run) const;
  // The same of the element with a number.
  std::string address(tir::BufferId buffer, const tir::Expr& element) const;

 private:
  CExpr emit(const tir::Expr& expr) const;
  CExpr emit(const tir::IntImm& node, DataType type) const;
  CExpr emit(const tir::FloatImm& node, DataType type) const;
  CExpr emit(const tir::VarRef& node, DataType type) const;
  CExpr emit(const tir::Load& node, DataType type) const;
  CExpr emit(const tir::Unary& node, DataType type) const;
  CExpr emit(const tir::Binary& node, DataType type) const;
  CExpr emit(const tir::Cast& node, DataType type) const;
  CExpr emit(const tir::Select& node, DataType type) const;
  CExpr emit(const tir::ExprCall& node, DataType type) const;
  CExpr emit_min_max(const tir::Binary& node, DataType type) const;
  CExpr emit_shift_left(const tir::Binary& node, DataType type) const;
  tir::Expr flat_index(tir::BufferId buffer, const std::vector<tir::Expr>& indices) const;

  const tir::Func& func_;
  const Names& names_;
};

// A constant of that type as C has it.
std::string c_literal(DataType type, int64_t value);
std::string c_literal(float value);

}  // namespace intarsia::emission
