#include "intarsia/gpu/parallel.h"

#include <algorithm>
#include <map>
#include <optional>

#include "intarsia/plugin/c_stmt.h"
#include "intarsia/plugin/tir_build.h"
#include "intarsia/plugin/tir_walk.h"

namespace intarsia::gpu {
namespace {

using tir::BufferId;
using tir::Expr;
using tir::Stmt;
using tir::VarId;

constexpr size_t kMaxDimensions = 3;

std::optional<int64_t> constant(const Expr& expr) {
  const auto* number = std::get_if<tir::IntImm>(&expr->node);
  return number == nullptr ? std::nullopt : std::optional(number->value);
}

struct Interval {
  int64_t low = 0, high = 0;
};

// coefficient * v + rest
struct Affine {
  int64_t coefficient = 0;
  Interval rest;
};

// Values of loop variables whose bounds are constants.
using Ranges = std::map<int32_t, Interval>;

Ranges ranges_in(const Stmt& stmt) {
  Ranges ranges;
  tir::for_each_statement(stmt, [&](const Stmt& inner) {
    const auto* loop = std::get_if<tir::For>(&inner->node);
    if (loop == nullptr) return;
    const auto low = constant(loop->lo), high = constant(loop->hi);
    if (low && high && *low < *high) ranges[loop->var.index] = {*low, *high - 1};
  });
  return ranges;
}

std::optional<Affine> affine(const Expr& expr, VarId v, const Ranges& ranges) {
  if (const auto number = constant(expr)) return Affine{0, {*number, *number}};
  if (const auto* var = std::get_if<tir::VarRef>(&expr->node)) {
    if (var->var == v) return Affine{1, {0, 0}};
    const auto found = ranges.find(var->var.index);
    return found == ranges.end() ? std::nullopt : std::optional(Affine{0, found->second});
  }
  const auto* binary = std::get_if<tir::Binary>(&expr->node);
  if (binary == nullptr) return std::nullopt;
  const auto a = affine(binary->lhs, v, ranges), b = affine(binary->rhs, v, ranges);
  if (!a || !b) return std::nullopt;
  switch (binary->op) {
    case tir::BinaryOp::Add:
      return Affine{a->coefficient + b->coefficient,
                    {a->rest.low + b->rest.low, a->rest.high + b->rest.high}};
    case tir::BinaryOp::Mul: {
      const bool left = a->coefficient == 0 && a->rest.low == a->rest.high;
      const Affine& factor = left ? *a : *b;
      const Affine& other = left ? *b : *a;
      const int64_t f = factor.rest.low;
      if (factor.coefficient != 0 || factor.rest.low != factor.rest.high || f < 0)
        return std::nullopt;
      return Affine{f * other.coefficient, {f * other.rest.low, f * other.rest.high}};
    }
    default:
      return std::nullopt;
  }
}

using Accesses =
    std::map<int32_t, std::vector<const std::vector<Expr>*>>;  // by buffer: its index lists

// Whether along some axis every access of iteration v stays in a stretch of the axis that is v's alone.
bool apart(const std::vector<const std::vector<Expr>*>& accesses, VarId v, const Ranges& ranges) {
  for (size_t axis = 0; axis < accesses.front()->size(); ++axis) {
    std::optional<Affine> all;
    bool fits = true;
    for (const std::vector<Expr>* indices : accesses) {
      const auto one = affine((*indices)[axis], v, ranges);
      fits = fits && one && one->coefficient > 0 && (!all || all->coefficient == one->coefficient);
      if (!fits) break;
      if (!all) all = one;
      all->rest = {std::min(all->rest.low, one->rest.low),
                   std::max(all->rest.high, one->rest.high)};
    }
    if (fits && all->rest.high - all->rest.low < all->coefficient) return true;
  }
  return false;
}

bool independent(const tir::Func& func, const tir::For& loop, const Ranges& ranges) {
  Accesses written, read;
  tir::walk(
      loop.body,
      [&](const tir::StmtNode& stmt) {
        if (const auto* store = std::get_if<tir::Store>(&stmt.node))
          written[store->buffer.index].push_back(&store->indices);
      },
      [&](const tir::ExprNode& expr) {
        if (const auto* load = std::get_if<tir::Load>(&expr.node))
          read[load->buffer.index].push_back(&load->indices);
      });
  const std::vector<emission::RegisterDeclaration> registers =
      emission::place_registers(func, loop.body);
  for (auto& [buffer, accesses] : written) {
    if (func.buffer(BufferId{buffer}).scope == tir::Scope::Register) {
      // Declared where it gets its first value: no iteration sees what the one before left in it.
      if (registers[static_cast<size_t>(buffer)].first_store == nullptr) return false;
      continue;
    }
    if (const auto found = read.find(buffer); found != read.end())
      accesses.insert(accesses.end(), found->second.begin(), found->second.end());
    if (accesses.front()->empty() || !apart(accesses, loop.var, ranges)) return false;
  }
  for (const auto& [buffer, accesses] : read)
    if (func.buffer(BufferId{buffer}).scope == tir::Scope::Register && !written.contains(buffer))
      return false;
  return true;
}

Stmt let(VarId var, Expr value, Stmt body) {
  return std::make_shared<tir::StmtNode>(
      tir::StmtNode{tir::Let{var, std::move(value), std::move(body)}, {}});
}

// `vars` are those of the loops that become dimensions, outermost first.
Stmt descend(const tir::Func& func, const Stmt& stmt, const Ranges& ranges,
             std::vector<const tir::For*>& loops) {
  if (const auto* inner = std::get_if<tir::Let>(&stmt->node))
    return let(inner->var, inner->value, descend(func, inner->body, ranges, loops));
  const auto* loop = std::get_if<tir::For>(&stmt->node);
  if (loop == nullptr || loops.size() == kMaxDimensions || !ranges.contains(loop->var.index) ||
      !independent(func, *loop, ranges))
    return stmt;
  loops.push_back(loop);
  // The dimension's number is not known yet: the innermost loop gets the fastest one.
  return let(loop->var, nullptr, descend(func, loop->body, ranges, loops));
}

Stmt with_dimensions(const Dialect& dialect, const Stmt& stmt, const Extents& extents,
                     const std::vector<const tir::For*>& loops) {
  const auto* node = std::get_if<tir::Let>(&stmt->node);
  if (node == nullptr) return stmt;
  Expr value = node->value;
  if (value == nullptr) {
    const auto at = std::find_if(loops.begin(), loops.end(),
                                 [&](const tir::For* loop) { return loop->var == node->var; });
    const auto dimension = loops.size() - 1 - static_cast<size_t>(at - loops.begin());
    value = dialect.index(dimension, extents) + *constant((*at)->lo);
  }
  return let(node->var, std::move(value), with_dimensions(dialect, node->body, extents, loops));
}

}  // namespace

ParallelNest parallel_nest(const Dialect& dialect, const tir::Func& func, const Stmt& stmt) {
  std::vector<const tir::For*> loops;
  const Ranges ranges = ranges_in(stmt);
  const Stmt body = descend(func, stmt, ranges, loops);
  Extents extents;
  for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop)
    extents.push_back(*constant((*loop)->hi) - *constant((*loop)->lo));
  return {with_dimensions(dialect, body, extents, loops), extents};
}

}  // namespace intarsia::gpu
