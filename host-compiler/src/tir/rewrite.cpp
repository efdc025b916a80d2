#include <optional>
#include <utility>

#include "intarsia/plugin/tir_walk.h"

namespace intarsia::tir {

namespace {

// All others hold statements.
bool names_buffers(const StmtNode& statement) {
  return std::holds_alternative<Store>(statement.node) ||
         std::holds_alternative<Call>(statement.node) ||
         std::holds_alternative<Intrinsic>(statement.node);
}

class Rewriter {
 public:
  // Either may be empty: keep everything.
  Rewriter(const ExprChange& change_expr, const StmtChange& change_stmt)
      : change_expr_(change_expr), change_stmt_(change_stmt) {}

  Expr expr(const Expr& old) { return change_expr_ ? change_expr_(with_new_operands(old)) : old; }

  Stmt stmt(const Stmt& old) {
    if (old == nullptr) return nullptr;
    const Stmt made = with_new_parts(old);
    return change_stmt_ ? change_stmt_(made) : made;
  }

 private:
  Stmt with_new_parts(const Stmt& old) {
    if (!change_expr_ && names_buffers(*old)) return old;
    return std::visit(
        overloaded{
            [&](const Seq& n) { return rebuilt(old, Seq{all(n.statements)}, n); },
            [&](const For& n) {
              return rebuilt(old, For{n.var, expr(n.lo), expr(n.hi), stmt(n.body)}, n);
            },
            [&](const If& n) {
              return rebuilt(old, If{expr(n.condition), stmt(n.then_body), stmt(n.else_body)}, n);
            },
            [&](const Let& n) {
              return rebuilt(old, Let{n.var, expr(n.value), stmt(n.body)}, n);
            },
            [&](const Store& n) {
              return rebuilt(old, Store{n.buffer, all(n.indices), expr(n.value)}, n);
            },
            [&](const Call& n) {
              return rebuilt(old, Call{n.function, n.arguments, all(n.offsets)}, n);
            },
            [&](const Intrinsic& n) { return intrinsic(old, n); }},
        old->node);
  }

  std::vector<Expr> all(const std::vector<Expr>& old) {
    std::vector<Expr> made;
    made.reserve(old.size());
    for (const Expr& e : old) made.push_back(expr(e));
    return made;
  }
  std::vector<Stmt> all(const std::vector<Stmt>& old) {
    std::vector<Stmt> made;
    made.reserve(old.size());
    for (const Stmt& s : old) made.push_back(stmt(s));
    return made;
  }
  // Streams of commands have hundreds of thousands of operands, few of which change: they are copied when the first does.
  Stmt intrinsic(const Stmt& old, const Intrinsic& n) {
    std::optional<Intrinsic> made;
    const auto change = [&](size_t i, std::variant<BufferRun, Expr> operand) {
      if (!made) made = n;
      made->operands[i] = std::move(operand);
    };
    for (size_t i = 0; i < n.operands.size(); ++i) {
      if (const auto* run = std::get_if<BufferRun>(&n.operands[i])) {
        std::vector<Expr> start = all(run->start);
        if (start != run->start)
          change(i, BufferRun{run->buffer, std::move(start), run->count, run->access});
      } else {
        const auto& operand = std::get<Expr>(n.operands[i]);
        Expr now = expr(operand);
        if (now != operand) change(i, std::move(now));
      }
    }
    if (!made) return old;
    return std::make_shared<const StmtNode>(StmtNode{std::move(*made), old->comment});
  }

  template <typename Node>
  Expr made(const Expr& old, Node node) {
    return std::make_shared<const ExprNode>(ExprNode{old->type, std::move(node)});
  }

  Expr with_new_operands(const Expr& old) {
    return std::visit(
        overloaded{
            [&](const IntImm&) { return old; }, [&](const FloatImm&) { return old; },
            [&](const VarRef&) { return old; },
            [&](const Load& n) {
              std::vector<Expr> indices = all(n.indices);
              return indices == n.indices ? old : made(old, Load{n.buffer, indices});
            },
            [&](const Unary& n) {
              const Expr operand = expr(n.operand);
              return operand == n.operand ? old : made(old, Unary{n.op, operand});
            },
            [&](const Binary& n) {
              const Expr lhs = expr(n.lhs), rhs = expr(n.rhs);
              return lhs == n.lhs && rhs == n.rhs ? old : made(old, Binary{n.op, lhs, rhs});
            },
            [&](const Cast& n) {
              const Expr operand = expr(n.operand);
              return operand == n.operand ? old : made(old, Cast{operand});
            },
            [&](const Select& n) {
              const Expr c = expr(n.condition), t = expr(n.if_true), f = expr(n.if_false);
              const bool same = c == n.condition && t == n.if_true && f == n.if_false;
              return same ? old : made(old, Select{c, t, f});
            },
            [&](const ExprCall& n) {
              std::vector<Expr> arguments = all(n.arguments);
              return arguments == n.arguments ? old : made(old, ExprCall{n.function, arguments});
            }},
        old->node);
  }

  // Keeps the old statement when nothing in it changed.
  static bool same(const Seq& a, const Seq& b) { return a.statements == b.statements; }
  static bool same(const For& a, const For& b) {
    return a.lo == b.lo && a.hi == b.hi && a.body == b.body;
  }
  static bool same(const If& a, const If& b) {
    return a.condition == b.condition && a.then_body == b.then_body && a.else_body == b.else_body;
  }
  static bool same(const Let& a, const Let& b) { return a.value == b.value && a.body == b.body; }
  static bool same(const Store& a, const Store& b) {
    return a.indices == b.indices && a.value == b.value;
  }
  static bool same(const Call& a, const Call& b) { return a.offsets == b.offsets; }

  template <typename Node>
  Stmt rebuilt(const Stmt& old, Node node, const Node& before) {
    if (same(node, before)) return old;
    return std::make_shared<const StmtNode>(StmtNode{std::move(node), old->comment});
  }

  const ExprChange& change_expr_;
  const StmtChange& change_stmt_;
};

}  // namespace

Expr rewrite(const Expr& expr, const ExprChange& change) {
  const StmtChange none;
  return Rewriter(change, none).expr(expr);
}

Stmt rewrite(const Stmt& stmt, const ExprChange& change) {
  const StmtChange none;
  return Rewriter(change, none).stmt(stmt);
}

Stmt rewrite_statements(const Stmt& stmt, const StmtChange& change) {
  const ExprChange none;
  return Rewriter(none, change).stmt(stmt);
}

Stmt rename_buffers(const Stmt& stmt, const std::vector<BufferId>& new_ids) {
  const auto renamed = [&](BufferId id) {
    const bool moves = id.at() < new_ids.size() && new_ids[id.at()].valid();
    return moves ? new_ids[id.at()] : id;
  };
  bool changes = false;
  for (size_t i = 0; i < new_ids.size(); ++i)
    changes = changes || (new_ids[i].valid() && new_ids[i].at() != i);
  if (!changes) return stmt;
  const Stmt loads = rewrite(stmt, [&](const Expr& expr) -> Expr {
    const auto* load = std::get_if<Load>(&expr->node);
    if (load == nullptr || renamed(load->buffer) == load->buffer) return expr;
    return std::make_shared<const ExprNode>(
        ExprNode{expr->type, Load{renamed(load->buffer), load->indices}});
  });
  return rewrite_statements(loads, [&](const Stmt& old) -> Stmt {
    if (!names_buffers(*old)) return old;
    StmtNode made = *old;
    if (auto* store = std::get_if<Store>(&made.node)) {
      store->buffer = renamed(store->buffer);
    } else if (auto* call = std::get_if<Call>(&made.node)) {
      for (BufferId& id : call->arguments) id = renamed(id);
    } else if (auto* intrinsic = std::get_if<Intrinsic>(&made.node)) {
      for (auto& operand : intrinsic->operands)
        if (auto* run = std::get_if<BufferRun>(&operand)) run->buffer = renamed(run->buffer);
    }
    return std::make_shared<const StmtNode>(std::move(made));
  });
}

}  // namespace intarsia::tir
