// Short helpers for writing TIR by hand: what lowering and targets build functions with.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "intarsia/plugin/tir.h"
#include "intarsia/plugin/unique_names.h"

namespace intarsia::tir {

// Expressions fold constants as they are built (x + 0, 2 * 3, min(3, 5), ...), so that emitted C
// does not carry what is known. Operands must have one type (checked).
Expr int_imm(int64_t value, DataType type = DataType::Int32);
Expr float_imm(float value);
Expr cast(DataType type, Expr operand);
Expr select(Expr condition, Expr if_true, Expr if_false);
Expr call(DataType type, std::string function, std::vector<Expr> arguments);
Expr binary(BinaryOp op, Expr lhs, Expr rhs);
Expr unary(UnaryOp op, Expr operand);
Expr min(Expr a, Expr b);
Expr max(Expr a, Expr b);
Expr operator+(Expr a, Expr b);
Expr operator-(Expr a, Expr b);
Expr operator*(Expr a, Expr b);
Expr operator+(Expr a, int64_t b);
Expr operator-(Expr a, int64_t b);
Expr operator*(Expr a, int64_t b);

// One after another. Those that are null are left out, and sequences without a comment become part of it.
Stmt seq(std::vector<Stmt> statements);
// The statement with a line above it, in text and in C.
Stmt with_comment(std::string comment, Stmt statement);

// Builds one Func: declares its buffers and variables and hands out references.
class FuncBuilder {
 public:
  explicit FuncBuilder(std::string name) { func_.name = std::move(name); }

  // Parameters first, before any other buffer (checked).
  BufferId parameter(std::string name, DataType type, Shape extents, Access access,
                     int32_t alignment = 1);
  BufferId constant(std::string name, DataType type, Shape extents, ConstantId id);
  BufferId local(std::string name, DataType type, Shape extents, int32_t alignment = 1);
  BufferId register_(std::string name, DataType type, Shape extents = {});

  // An index for each extent of the buffer.
  Expr load(BufferId buffer, std::vector<Expr> indices = {}) const;
  Stmt store(BufferId buffer, std::vector<Expr> indices, Expr value) const;

  // A loop over 0 .. extent-1 (or lo .. hi-1); the body is made by a function of the variable.
  // An extent of 1 makes no loop.
  template <typename Body>
  Stmt loop(const std::string& name, int64_t extent, Body&& body) {
    if (extent == 1) return body(int_imm(0));
    return loop(name, int_imm(0), int_imm(extent), std::forward<Body>(body));
  }
  template <typename Body>
  Stmt loop(const std::string& name, Expr lo, Expr hi, Body&& body) {
    const VarId var = declare(name, DataType::Int32);
    Stmt inner = body(ref(var));
    return std::make_shared<StmtNode>(StmtNode{For{var, std::move(lo), std::move(hi), inner}, {}});
  }
  // const type name = value; in the body, which is made by a function of the variable. A value that
  // is already a constant or a variable makes no variable.
  template <typename Body>
  Stmt let(const std::string& name, Expr value, Body&& body) {
    if (std::holds_alternative<IntImm>(value->node) || std::holds_alternative<VarRef>(value->node))
      return body(value);
    const VarId var = declare(name, value->type);
    Stmt inner = body(ref(var));
    return std::make_shared<StmtNode>(StmtNode{Let{var, std::move(value), inner}, {}});
  }

  // The function as it is until now.
  Func& func() { return func_; }
  const Func& func_view() const { return func_; }
  // The function with this body. Once, after everything else.
  Func finish(Stmt body);

 private:
  BufferId add(Buffer buffer);
  VarId declare(const std::string& name, DataType type);  // makes the name unique
  Expr ref(VarId var) const;
  std::string unique(const std::string& hint);

  Func func_;
  UniqueNames names_;  // of the first buffers and variables of func_
  size_t named_buffers_ = 0, named_vars_ = 0;
};

// `else_body` may be null.
Stmt if_then(Expr condition, Stmt then_body, Stmt else_body = nullptr);
// A call of a C function or a command of an accelerator, its operands in order.
Stmt intrinsic(std::string name, std::vector<std::variant<BufferRun, Expr>> operands);
// `offsets` of a tiled function: one per argument, or none.
Stmt call_func(std::string function, std::vector<BufferId> arguments,
               std::vector<Expr> offsets = {});

}  // namespace intarsia::tir
