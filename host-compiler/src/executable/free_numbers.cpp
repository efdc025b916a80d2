#include "executable/free_numbers.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "intarsia/plugin/overloaded.h"
#include "intarsia/plugin/tir_walk.h"

namespace intarsia::executable {
namespace {

using tir::BinaryOp;
using tir::Expr;
using tir::Stmt;

constexpr std::string_view kValueFields[] = {
#define FIELD(name) #name,
#include "executable/value_fields.def"
#undef FIELD
};

struct ValueOperands {
  std::string_view kernel;
  size_t first, count;
};
constexpr ValueOperands kValueOperands[] = {
#define VALUES(kernel, first, count) {kernel, first, count},
#include "executable/value_operands.def"
#undef VALUES
};

// Whether the number at `index` of an intrinsic's numbers is of the arithmetic alone.
bool is_value(const ConstantStructs& structs, const tir::Intrinsic& intrinsic, size_t index) {
  if (const auto declared = structs.find(intrinsic.name); declared != structs.end()) {
    const std::string& field = declared->second.fields.at(index);
    return std::ranges::find(kValueFields, field) != std::end(kValueFields);
  }
  return std::ranges::any_of(kValueOperands, [&](const ValueOperands& values) {
    return values.kernel == intrinsic.name && index >= values.first &&
           index < values.first + values.count;
  });
}

bool loads(const Expr& expr) {
  bool found = false;
  tir::walk(expr, [&](const tir::ExprNode& node) {
    found |= std::holds_alternative<tir::Load>(node.node);
  });
  return found;
}

// A condition that decides whether memory is read has to stay as it is proven.
bool guards(const tir::Select& select) {
  return loads(select.if_true) || loads(select.if_false);
}

// What is on the right of it decides what is defined.
bool has_fixed_right(BinaryOp op) {
  return op == BinaryOp::Div || op == BinaryOp::Mod || op == BinaryOp::Shl || op == BinaryOp::Shr;
}

// The same of the last argument: where it is zero, cores trap.
bool has_fixed_last(const tir::ExprCall& call) {
  constexpr auto kDivisions =
      std::to_array<std::string_view>({"intarsia_divide_round_i32", "intarsia_divide_i32",
                                       "intarsia_floor_div_i32", "intarsia_floor_mod_i32"});
  return std::ranges::find(kDivisions, call.function) != kDivisions.end();
}

// Variables that addresses, bounds and conditions depend on.
class FixedVariables {
 public:
  FixedVariables(const Stmt& body, const ConstantStructs& structs) : structs_(structs) {
    size_t before = 0;
    do {
      before = vars_.size();
      tir::for_each_statement(body, [&](const Stmt& stmt) { look(*stmt); });
    } while (vars_.size() != before);
  }

  bool contains(tir::VarId var) const { return vars_.contains(var.index); }

 private:
  void fix(const Expr& expr) {
    tir::walk(expr, [&](const tir::ExprNode& node) {
      if (const auto* var = std::get_if<tir::VarRef>(&node.node)) vars_.insert(var->var.index);
    });
  }
  void fix(const std::vector<Expr>& exprs) {
    for (const Expr& expr : exprs) fix(expr);
  }

  void value(const Expr& expr) {
    tir::walk(expr, [&](const tir::ExprNode& node) {
      if (const auto* load = std::get_if<tir::Load>(&node.node)) fix(load->indices);
      if (const auto* select = std::get_if<tir::Select>(&node.node); select && guards(*select))
        fix(select->condition);
      if (const auto* binary = std::get_if<tir::Binary>(&node.node);
          binary && has_fixed_right(binary->op))
        fix(binary->rhs);
      if (const auto* call = std::get_if<tir::ExprCall>(&node.node); call && has_fixed_last(*call))
        fix(call->arguments.back());
    });
  }

  void look(const tir::StmtNode& stmt) {
    std::visit(
        overloaded{[](const tir::Seq&) {}, [&](const tir::For& n) { fix(n.lo), fix(n.hi); },
                   [&](const tir::If& n) { fix(n.condition); },
                   [&](const tir::Let& n) { contains(n.var) ? fix(n.value) : value(n.value); },
                   [&](const tir::Store& n) { fix(n.indices), value(n.value); },
                   [&](const tir::Call& n) { fix(n.offsets); },
                   [&](const tir::Intrinsic& n) { look(n); }},
        stmt.node);
  }
  void look(const tir::Intrinsic& intrinsic) {
    size_t index = 0;
    for (const auto& operand : intrinsic.operands) {
      if (const auto* run = std::get_if<tir::BufferRun>(&operand)) {
        fix(run->start);
        continue;
      }
      const Expr& number = std::get<Expr>(operand);
      is_value(structs_, intrinsic, index++) ? value(number) : fix(number);
    }
  }

  const ConstantStructs& structs_;
  std::set<int32_t> vars_;
};

class Freeing {
 public:
  Freeing(const Stmt& body, const ConstantStructs& structs, tir::BufferId numbers,
          tir::BufferId reals)
      : structs_(structs), fixed_(body, structs), numbers_(numbers), reals_(reals) {}

  Stmt statement(const Stmt& stmt) {
    // Comments may name the model's operators, and are no part of what is done.
    return std::make_shared<const tir::StmtNode>(
        tir::StmtNode{std::visit([&](const auto& node) { return changed(node); }, stmt->node), {}});
  }

  FreedNumbers result;

 private:
  using Node = decltype(tir::StmtNode::node);

  Node changed(const tir::Seq& n) {
    tir::Seq seq;
    for (const Stmt& inner : n.statements) seq.statements.push_back(statement(inner));
    return seq;
  }
  Node changed(const tir::For& n) { return tir::For{n.var, n.lo, n.hi, statement(n.body)}; }
  Node changed(const tir::If& n) {
    Stmt then_body = statement(n.then_body);
    return tir::If{n.condition, std::move(then_body),
                   n.else_body == nullptr ? nullptr : statement(n.else_body)};
  }
  Node changed(const tir::Let& n) {
    Expr let = fixed_.contains(n.var) ? n.value : value(n.value);
    return tir::Let{n.var, std::move(let), statement(n.body)};
  }
  Node changed(const tir::Store& n) { return tir::Store{n.buffer, n.indices, value(n.value)}; }
  Node changed(const tir::Call& n) { return n; }
  Node changed(const tir::Intrinsic& n) {
    tir::Intrinsic intrinsic{n.name, {}};
    size_t index = 0;
    for (const auto& operand : n.operands) {
      const auto* number = std::get_if<Expr>(&operand);
      if (number != nullptr && is_value(structs_, n, index++))
        intrinsic.operands.emplace_back(value(*number));
      else
        intrinsic.operands.push_back(operand);
    }
    return intrinsic;
  }

  static Expr make(DataType type, decltype(tir::ExprNode::node) node) {
    return std::make_shared<const tir::ExprNode>(tir::ExprNode{type, std::move(node)});
  }
  static Expr load(DataType type, tir::BufferId buffer, size_t at) {
    return make(type,
                tir::Load{buffer, {make(DataType::Int32, tir::IntImm{static_cast<int64_t>(at)})}});
  }

  Expr value(const Expr& expr) {
    const DataType type = expr->type;
    return std::visit(
        overloaded{
            [&](const tir::IntImm& n) -> Expr {
              const bool fits = n.value >= std::numeric_limits<int32_t>::min() &&
                                n.value <= (type == DataType::UInt32
                                                ? int64_t{std::numeric_limits<uint32_t>::max()}
                                                : int64_t{std::numeric_limits<int32_t>::max()});
              if (type == DataType::Bool || !fits) return expr;
              result.numbers.push_back(static_cast<int32_t>(n.value));
              Expr number = load(DataType::Int32, numbers_, result.numbers.size() - 1);
              return type == DataType::Int32 ? number : make(type, tir::Cast{std::move(number)});
            },
            [&](const tir::FloatImm& n) -> Expr {
              result.reals.push_back(n.value);
              return load(DataType::Float32, reals_, result.reals.size() - 1);
            },
            [&](const tir::VarRef&) -> Expr { return expr; },
            [&](const tir::Load&) -> Expr { return expr; },
            [&](const tir::Unary& n) -> Expr {
              return make(type, tir::Unary{n.op, value(n.operand)});
            },
            [&](const tir::Binary& n) -> Expr {
              Expr lhs = value(n.lhs);
              return make(type, tir::Binary{n.op, std::move(lhs),
                                            has_fixed_right(n.op) ? n.rhs : value(n.rhs)});
            },
            [&](const tir::Cast& n) -> Expr { return make(type, tir::Cast{value(n.operand)}); },
            [&](const tir::Select& n) -> Expr {
              Expr condition = guards(n) ? n.condition : value(n.condition);
              Expr if_true = value(n.if_true);
              return make(type,
                          tir::Select{std::move(condition), std::move(if_true), value(n.if_false)});
            },
            [&](const tir::ExprCall& n) -> Expr {
              tir::ExprCall call{n.function, n.arguments};
              const size_t freed = n.arguments.size() - (has_fixed_last(n) ? 1 : 0);
              for (size_t i = 0; i < freed; ++i) call.arguments[i] = value(n.arguments[i]);
              return make(type, std::move(call));
            }},
        expr->node);
  }

  const ConstantStructs& structs_;
  FixedVariables fixed_;
  tir::BufferId numbers_, reals_;
};

}  // namespace

FreedNumbers free_numbers(const Stmt& body, const ConstantStructs& structs, tir::BufferId numbers,
                          tir::BufferId reals) {
  Freeing freeing(body, structs, numbers, reals);
  freeing.result.body = freeing.statement(body);
  return std::move(freeing.result);
}

}  // namespace intarsia::executable
