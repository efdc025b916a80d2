#include <fmt/format.h>

#include "intarsia/plugin/tir_walk.h"
#include "tir/fold.h"
#include "tir/identifiers.h"
#include "tir/verify_steps.h"

namespace intarsia::tir {

namespace {

bool is_arithmetic(DataType type) {
  return type != DataType::Bool;
}

class TypeVerifier {
 public:
  TypeVerifier(const Func& func, Diagnostics& problems)
      : func_(func), problems_(problems), defined_(func.vars.size()), in_scope_(func.vars.size()) {}

  void stmt(const Stmt& s) {
    if (s == nullptr) return fail("a statement is missing");
    comment(s->comment);
    std::visit([&](const auto& node) { check(node); }, s->node);
  }

 private:
  void fail(std::string what) { problems_.add(place(func_), std::move(what)); }

  // The text form gives a comment one line of its own.
  void comment(const std::string& text) {
    const bool bad = text.find('\n') != std::string::npos || text.find('\r') != std::string::npos ||
                     (!text.empty() && (text.front() == ' ' || text.back() == ' ' ||
                                        text.front() == '\t' || text.back() == '\t'));
    if (bad) fail("a comment is more than one line or begins or ends with a blank");
  }

  bool is_buffer(BufferId id) {
    if (id.valid() && id.at() < func_.buffers.size()) return true;
    fail(fmt::format("buffer {} does not exist", id.index));
    return false;
  }

  bool expect(const Expr& e, DataType type, std::string_view what) {
    if (!expr(e)) return false;
    if (e->type == type) return true;
    fail(fmt::format("{} has type {} instead of {}", what, to_string(e->type), to_string(type)));
    return false;
  }

  void indices(BufferId id, const std::vector<Expr>& list) {
    if (!is_buffer(id)) return;
    const Buffer& buffer = func_.buffer(id);
    if (list.size() != buffer.extents.size())
      fail(fmt::format("an access to '{}' has {} indices for {} extents", buffer.name, list.size(),
                       buffer.extents.size()));
    for (const Expr& index : list)
      expect(index, DataType::Int32, fmt::format("an index of '{}'", buffer.name));
  }

  bool define(VarId var, DataType type) {
    if (!var.valid() || var.at() >= func_.vars.size()) {
      fail(fmt::format("variable {} does not exist", var.index));
      return false;
    }
    const Var& declared = func_.var(var);
    if (defined_[var.at()]) fail(fmt::format("variable '{}' is defined twice", declared.name));
    if (declared.type != type)
      fail(fmt::format("variable '{}' has type {} but holds {}", declared.name,
                       to_string(declared.type), to_string(type)));
    defined_[var.at()] = true;
    return true;
  }

  void body(VarId var, const Stmt& s) {
    in_scope_[var.at()] = true;
    stmt(s);
    in_scope_[var.at()] = false;
  }

  // ---- statements ----

  void check(const Seq& n) {
    for (const Stmt& s : n.statements) stmt(s);
  }
  void check(const For& n) {
    expect(n.lo, DataType::Int32, "a loop's first value");
    expect(n.hi, DataType::Int32, "a loop's end");
    if (define(n.var, DataType::Int32)) body(n.var, n.body);
  }
  void check(const If& n) {
    expect(n.condition, DataType::Bool, "the condition of an if");
    stmt(n.then_body);
    if (n.else_body != nullptr) stmt(n.else_body);
  }
  void check(const Let& n) {
    if (expr(n.value) && define(n.var, n.value->type)) body(n.var, n.body);
  }
  void check(const Store& n) {
    indices(n.buffer, n.indices);
    if (n.buffer.valid() && n.buffer.at() < func_.buffers.size())
      expect(n.value, func_.buffer(n.buffer).type,
             fmt::format("a value stored to '{}'", func_.buffer(n.buffer).name));
  }
  void check(const Call& n) {
    for (const BufferId id : n.arguments) is_buffer(id);
    if (!n.offsets.empty() && n.offsets.size() != n.arguments.size())
      fail(fmt::format("a call of '{}' has {} offsets for {} arguments", n.function,
                       n.offsets.size(), n.arguments.size()));
    for (const Expr& offset : n.offsets)
      expect(offset, DataType::Int32, "an offset of an argument");
  }
  void check(const Intrinsic& n) {
    if (n.name.empty()) fail("an intrinsic has no name");
    for (const auto& operand : n.operands) {
      const auto* run = std::get_if<BufferRun>(&operand);
      if (run == nullptr) {
        expr(std::get<Expr>(operand));
        continue;
      }
      indices(run->buffer, run->start);
      if (run->count < 1) fail(fmt::format("a run of {} has {} elements", n.name, run->count));
    }
  }

  // ---- expressions: true when the node can be looked at further ----

  bool expr(const Expr& e) {
    if (e == nullptr) {
      fail("an expression is missing");
      return false;
    }
    const size_t before = problems_.items().size();
    std::visit([&](const auto& node) { check(node, e->type); }, e->node);
    return problems_.items().size() == before;
  }

  void check(const IntImm& n, DataType type) {
    if (type == DataType::Float32) return fail("an integer literal has type f32");
    if (wrap(type, n.value) != n.value)
      fail(fmt::format("literal {} is out of the range of {}", n.value, to_string(type)));
  }
  void check(const FloatImm&, DataType type) {
    if (type != DataType::Float32) fail("a float literal is not of type f32");
  }
  void check(const VarRef& n, DataType type) {
    if (!n.var.valid() || n.var.at() >= func_.vars.size())
      return fail(fmt::format("variable {} does not exist", n.var.index));
    const Var& var = func_.var(n.var);
    if (!in_scope_[n.var.at()])
      fail(fmt::format("variable '{}' is used outside its scope", var.name));
    if (var.type != type)
      fail(fmt::format("variable '{}' of type {} is used as {}", var.name, to_string(var.type),
                       to_string(type)));
  }
  void check(const Load& n, DataType type) {
    indices(n.buffer, n.indices);
    if (n.buffer.valid() && n.buffer.at() < func_.buffers.size() &&
        func_.buffer(n.buffer).type != type)
      fail(fmt::format("a load of '{}' is taken for {}", func_.buffer(n.buffer).name,
                       to_string(type)));
  }
  void check(const Unary& n, DataType type) {
    const bool fits = n.op == UnaryOp::Not ? type == DataType::Bool : is_arithmetic(type);
    if (!fits) fail(fmt::format("a unary operation has type {}", to_string(type)));
    expect(n.operand, type, "the operand of a unary operation");
  }
  void check(const Binary& n, DataType type) {
    if (!expr(n.lhs) || !expr(n.rhs)) return;
    const DataType operands = n.lhs->type;
    if (n.rhs->type != operands)
      return fail(fmt::format("the operands of a binary operation have types {} and {}",
                              to_string(operands), to_string(n.rhs->type)));
    const DataType result = is_comparison(n.op) ? DataType::Bool : operands;
    if (type != result)
      fail(fmt::format("a binary operation of {} has type {}", to_string(operands),
                       to_string(type)));
    if (!allows(n.op, operands))
      fail(fmt::format("a binary operation is not defined for type {}", to_string(operands)));
    const bool divides = n.op == BinaryOp::Div || n.op == BinaryOp::Mod;
    const auto* divisor = std::get_if<IntImm>(&n.rhs->node);
    if (divides && is_integer(operands) && (divisor == nullptr || divisor->value <= 0))
      fail("a divisor is not a positive constant");
  }
  static bool allows(BinaryOp op, DataType type) {
    switch (op) {
      case BinaryOp::And:
      case BinaryOp::Or:
      case BinaryOp::Xor:
        return type != DataType::Float32;
      case BinaryOp::Mod:
      case BinaryOp::Shl:
      case BinaryOp::Shr:
        return is_integer(type);
      case BinaryOp::Eq:
      case BinaryOp::Ne:
        return true;
      default:
        return is_arithmetic(type);
    }
  }
  void check(const Cast& n, DataType type) {
    if (type == DataType::Bool) fail("a cast to bool: compare instead");
    expr(n.operand);
  }
  void check(const Select& n, DataType type) {
    expect(n.condition, DataType::Bool, "the condition of a select");
    expect(n.if_true, type, "an arm of a select");
    expect(n.if_false, type, "an arm of a select");
  }
  void check(const ExprCall& n, DataType) {
    if (!is_identifier(n.function))
      fail(fmt::format("'{}' is no name of a scalar function", n.function));
    for (const Expr& argument : n.arguments) expr(argument);
  }

  const Func& func_;
  Diagnostics& problems_;
  std::vector<bool> defined_, in_scope_;
};

}  // namespace

void verify_types(const Func& func, Diagnostics& problems) {
  TypeVerifier(func, problems).stmt(func.body);
}

}  // namespace intarsia::tir
