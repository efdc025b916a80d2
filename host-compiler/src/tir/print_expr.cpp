#include <fmt/format.h>

#include "intarsia/plugin/overloaded.h"
#include "intarsia/plugin/tir_walk.h"
#include "support/text_reader.h"
#include "tir/text_words.h"

namespace intarsia::tir {

namespace {

const InfixText* infix(const Binary& node) {
  const bool of_bools =
      node.lhs->type == DataType::Bool && (node.op == BinaryOp::And || node.op == BinaryOp::Or);
  for (const InfixText& candidate : kInfix)
    if (candidate.op == node.op && candidate.of_bools == of_bools) return &candidate;
  return nullptr;  // min, max
}

class ExprPrinter {
 public:
  explicit ExprPrinter(const Func& func) : func_(func) {}

  // In parentheses when it binds less tightly than `least`.
  std::string print(const Expr& expr, int least = 0) const {
    const auto* binary = std::get_if<Binary>(&expr->node);
    const InfixText* op = binary != nullptr ? infix(*binary) : nullptr;
    if (op == nullptr) return print_tight(expr);
    const std::string text = fmt::format("{} {} {}", print(binary->lhs, op->precedence), op->text,
                                         print(binary->rhs, op->precedence + 1));
    return op->precedence < least ? fmt::format("({})", text) : text;
  }

  std::string list(const std::vector<Expr>& exprs) const {
    std::vector<std::string> texts;
    for (const Expr& expr : exprs) texts.push_back(print(expr));
    return fmt::format("{}", fmt::join(texts, ", "));
  }

  std::string access(BufferId id, const std::vector<Expr>& indices) const {
    const std::string& name = func_.buffer(id).name;
    return indices.empty() ? fmt::format("%{}", name) : fmt::format("%{}[{}]", name, list(indices));
  }

 private:
  std::string print_tight(const Expr& expr) const {
    const DataType type = expr->type;
    return std::visit(
        overloaded{
            [&](const IntImm& n) { return literal(n.value, type); },
            [&](const FloatImm& n) {
              return fmt::format("{}:{}", text_real(n.value), to_string(type));
            },
            [&](const VarRef& n) { return func_.var(n.var).name; },
            [&](const Load& n) { return access(n.buffer, n.indices); },
            [&](const Unary& n) { return unary(n); },
            [&](const Binary& n) {
              return fmt::format("{}({}, {})", n.op == BinaryOp::Min ? "min" : "max", print(n.lhs),
                                 print(n.rhs));
            },
            [&](const Cast& n) { return fmt::format("{}({})", to_string(type), print(n.operand)); },
            [&](const Select& n) {
              return fmt::format("select({}, {}, {})", print(n.condition), print(n.if_true),
                                 print(n.if_false));
            },
            [&](const ExprCall& n) {
              return fmt::format("{} @{}({})", to_string(type), n.function, list(n.arguments));
            }},
        expr->node);
  }

  static std::string literal(int64_t value, DataType type) {
    if (type == DataType::Bool) return value != 0 ? "true" : "false";
    if (type == DataType::Int32) return fmt::format("{}", value);
    return fmt::format("{}:{}", value, to_string(type));
  }

  // -(5) is the negation of a literal, -5 a literal.
  std::string unary(const Unary& node) const {
    std::string operand = print(node.operand, kUnaryPrecedence);
    if (node.op == UnaryOp::Not) return fmt::format("!{}", operand);
    const bool is_literal = std::holds_alternative<IntImm>(node.operand->node) ||
                            std::holds_alternative<FloatImm>(node.operand->node);
    return is_literal ? fmt::format("-({})", operand) : fmt::format("-{}", operand);
  }

  const Func& func_;
};

}  // namespace

std::string print(const Func& func, const Expr& expr) {
  return ExprPrinter(func).print(expr);
}

std::string print_access(const Func& func, BufferId buffer, const std::vector<Expr>& indices) {
  return ExprPrinter(func).access(buffer, indices);
}

std::string print(const Func& func, const BufferRun& run) {
  return fmt::format("{} {} count {}", kAccessText[static_cast<size_t>(run.access)],
                     print_access(func, run.buffer, run.start), run.count);
}

int32_t natural_alignment(DataType type) {
  return (bits(type) + 7) / 8;
}

std::vector<VarId> definition_order(const Func& func) {
  std::vector<VarId> order;
  for_each_statement(func.body, [&](const Stmt& stmt) {
    if (const auto* loop = std::get_if<For>(&stmt->node)) order.push_back(loop->var);
    if (const auto* let = std::get_if<Let>(&stmt->node)) order.push_back(let->var);
  });
  return order;
}

}  // namespace intarsia::tir
