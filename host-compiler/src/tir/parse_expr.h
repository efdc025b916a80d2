// Reads the expressions of one function. Types follow from buffers, variables and literals; what
// does not fit together is left for the verifier.
#pragma once

#include <string>
#include <vector>

#include "intarsia/plugin/tir.h"
#include "support/text_reader.h"

namespace intarsia::tir {

class ExprParser {
 public:
  ExprParser(TextReader& in, const Func& func) : in_(in), func_(func) {}

  Expr expr() { return infix(0); }
  std::vector<Expr> indices();  // [a, b]; none for a scalar
  BufferId buffer();            // %name

 private:
  Expr infix(int least);
  Expr unary();
  Expr primary();
  Expr word();
  Expr typed_literal();  // 5, -5:i64, 1.5:f32, inf:f32
  std::vector<Expr> arguments(size_t count);
  Expr variable();

  TextReader& in_;
  const Func& func_;
  int depth_ = 0;
};

DataType parse_type(TextReader& in);

}  // namespace intarsia::tir
