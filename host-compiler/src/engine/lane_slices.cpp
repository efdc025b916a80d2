#include "engine/lane_slices.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "intarsia/plugin/tir_walk.h"
#include "tir/linear.h"

namespace intarsia::engine {
namespace {

using tir::BufferId;
using tir::Expr;
using tir::Linear;
using tir::Stmt;
using tir::VarId;

// An index: `step` more with each iteration, `outside` what is the same for the whole loop, and the rest within a range.
struct Index {
  int64_t step = 0;
  Linear outside;
  int64_t least = 0, most = 0;
};
using Access = std::vector<std::optional<Index>>;  // by dimension; nothing: not known

class Accesses {
 public:
  Accesses(const tir::Func& func, const tir::For& loop) : func_(func), lane_(loop.var) {
    walk(loop.body);
  }

  const std::set<BufferId>& written() const { return written_; }
  const std::vector<Access>& of(BufferId id) { return accesses_[id]; }

 private:
  struct Range {
    std::optional<int64_t> lo, hi;  // values lo .. hi - 1
  };

  void walk(const Stmt& stmt) {
    tir::for_each_own_expr(*stmt, [&](const Expr& expr) {
      tir::walk(expr, [&](const tir::ExprNode& e) {
        if (const auto* load = std::get_if<tir::Load>(&e.node)) add(load->buffer, load->indices);
      });
    });
    if (const auto* store = std::get_if<tir::Store>(&stmt->node)) {
      add(store->buffer, store->indices);
      if (func_.buffer(store->buffer).scope != tir::Scope::Register || !store->indices.empty())
        written_.insert(store->buffer);
    }
    if (const auto* let = std::get_if<tir::Let>(&stmt->node)) {
      lets_[let->var] = linear(let->value);
    } else if (const auto* loop = std::get_if<tir::For>(&stmt->node)) {
      const auto* lo = std::get_if<tir::IntImm>(&loop->lo->node);
      const auto* hi = std::get_if<tir::IntImm>(&loop->hi->node);
      Range& range = inner_[loop->var];
      if (lo != nullptr) range.lo = lo->value;
      if (hi != nullptr) range.hi = hi->value;
    }
    tir::for_each_inner_stmt(*stmt, [&](const Stmt& inner) { walk(inner); });
  }

  void add(BufferId id, const std::vector<Expr>& indices) {
    Access access;
    for (const Expr& index : indices) access.push_back(index_of(index));
    accesses_[id].push_back(std::move(access));
  }

  std::optional<Linear> linear(const Expr& expr) const {
    if (expr->type != DataType::Int32) return std::nullopt;
    if (const auto* number = std::get_if<tir::IntImm>(&expr->node))
      return Linear::of(number->value);
    if (const auto* variable = std::get_if<tir::VarRef>(&expr->node)) {
      const auto found = lets_.find(variable->var);
      return found != lets_.end() ? found->second : Linear::of_symbol(variable->var.index);
    }
    const auto* binary = std::get_if<tir::Binary>(&expr->node);
    if (binary == nullptr) return std::nullopt;
    const std::optional<Linear> a = linear(binary->lhs), b = linear(binary->rhs);
    if (!a || !b) return std::nullopt;
    if (binary->op == tir::BinaryOp::Add) return tir::combine(1, *a, 1, *b);
    if (binary->op == tir::BinaryOp::Sub) return tir::combine(1, *a, -1, *b);
    if (binary->op == tir::BinaryOp::Mul && b->is_constant()) return tir::times(*a, b->constant);
    if (binary->op == tir::BinaryOp::Mul && a->is_constant()) return tir::times(*b, a->constant);
    return std::nullopt;
  }

  std::optional<Index> index_of(const Expr& expr) const {
    const std::optional<Linear> sum = linear(expr);
    if (!sum) return std::nullopt;
    Index index;
    index.least = index.most = sum->constant;
    for (const auto& [symbol, factor] : sum->terms) {
      const VarId variable{symbol};
      const auto inner = inner_.find(variable);
      if (variable == lane_) {
        index.step = factor;
      } else if (inner == inner_.end()) {
        index.outside.terms.emplace_back(symbol, factor);
      } else {
        const Range& range = inner->second;
        if (!range.lo || !range.hi || *range.hi <= *range.lo) return std::nullopt;
        const int64_t first = factor * *range.lo, last = factor * (*range.hi - 1);
        index.least += std::min(first, last);
        index.most += std::max(first, last);
      }
    }
    return index;
  }

  const tir::Func& func_;
  VarId lane_;
  std::map<VarId, std::optional<Linear>> lets_;
  std::map<VarId, Range> inner_;
  std::map<BufferId, std::vector<Access>> accesses_;
  std::set<BufferId> written_;
};

bool is_apart(const std::vector<Access>& accesses, size_t dimension) {
  const std::optional<Index>& first = accesses.front()[dimension];
  if (!first || first->step == 0) return false;
  int64_t least = first->least, most = first->most;
  for (const Access& access : accesses) {
    const std::optional<Index>& index = access[dimension];
    if (!index || index->step != first->step || index->outside != first->outside) return false;
    least = std::min(least, index->least);
    most = std::max(most, index->most);
  }
  return most - least < std::abs(first->step);
}

}  // namespace

bool stores_apart(const tir::Func& func, const tir::For& loop) {
  Accesses accesses(func, loop);
  return std::all_of(accesses.written().begin(), accesses.written().end(), [&](BufferId id) {
    const std::vector<Access>& all = accesses.of(id);
    for (size_t d = 0; d < func.buffer(id).extents.size(); ++d)
      if (is_apart(all, d)) return true;
    return false;
  });
}

}  // namespace intarsia::engine
