#include "vector_sums.h"

#include <algorithm>
#include <limits>
#include <map>

#include "intarsia/plugin/overloaded.h"
#include "intarsia/plugin/tir_build.h"
#include "intarsia/plugin/tir_walk.h"

namespace intarsia::targets::llvm {

using tir::BinaryOp;

namespace {

// ---- indices as sums of multiples of variables -----------------------------------------------------

struct LinearIndex {
  std::map<int32_t, int64_t> factors;  // by variable; none is 0
  int64_t constant = 0;

  void add(const LinearIndex& other, int64_t times) {
    constant += times * other.constant;
    for (const auto& [var, factor] : other.factors)
      if ((factors[var] += times * factor) == 0) factors.erase(var);
  }
  int64_t factor(tir::VarId var) const {
    const auto found = factors.find(var.index);
    return found == factors.end() ? 0 : found->second;
  }
};

std::optional<LinearIndex> linear(const tir::Expr& expr) {
  LinearIndex result;
  if (const auto* number = std::get_if<tir::IntImm>(&expr->node)) {
    result.constant = number->value;
    return result;
  }
  if (const auto* var = std::get_if<tir::VarRef>(&expr->node)) {
    result.factors[var->var.index] = 1;
    return result;
  }
  const auto* binary = std::get_if<tir::Binary>(&expr->node);
  if (binary == nullptr) return std::nullopt;
  const std::optional<LinearIndex> lhs = linear(binary->lhs), rhs = linear(binary->rhs);
  if (!lhs || !rhs) return std::nullopt;
  if (binary->op == BinaryOp::Add || binary->op == BinaryOp::Sub) {
    result.add(*lhs, 1);
    result.add(*rhs, binary->op == BinaryOp::Add ? 1 : -1);
    return result;
  }
  if (binary->op != BinaryOp::Mul || (!lhs->factors.empty() && !rhs->factors.empty()))
    return std::nullopt;
  result.add(lhs->factors.empty() ? *rhs : *lhs,
             lhs->factors.empty() ? lhs->constant : rhs->constant);
  return result;
}

tir::Expr flat_index(const tir::Func& func, const tir::Load& load) {
  const Shape& extents = func.buffer(load.buffer).extents;
  tir::Expr flat = tir::int_imm(0);
  for (size_t d = 0; d < load.indices.size(); ++d) flat = flat * extents[d] + load.indices[d];
  return flat;
}

// ---- expressions of the same form as one of vectors --------------------------------------------------

class LaneFinder {
 public:
  // `several`: of iterations in a row.
  LaneFinder(const tir::Func& func, tir::VarId var, bool several)
      : func_(func), var_(var), several_(several) {}

  // Null where the expressions differ in more than elements side by side.
  Lanes find(const std::vector<tir::Expr>& exprs) const {
    const tir::Expr& first = exprs.front();
    const bool same = std::all_of(exprs.begin(), exprs.end(),
                                  [&](const tir::Expr& e) { return tir::equal(e, first); });
    if (same && !(several_ && depends_on_variable(first)))
      return made(first->type, SameLanes{first});
    if (std::any_of(exprs.begin(), exprs.end(), [&](const tir::Expr& e) {
          return e->type != first->type || e->node.index() != first->node.index();
        }))
      return nullptr;
    if (std::holds_alternative<tir::Load>(first->node)) return elements(exprs, same);
    if (const auto* cast = std::get_if<tir::Cast>(&first->node)) {
      if (!has_vectors(first->type) || !has_vectors(cast->operand->type)) return nullptr;
      const Lanes operand = find(operands(exprs, &tir::Cast::operand));
      return operand == nullptr ? nullptr : made(first->type, CastLanes{operand});
    }
    if (const auto* binary = std::get_if<tir::Binary>(&first->node)) {
      const bool one_op = std::all_of(exprs.begin(), exprs.end(), [&](const tir::Expr& e) {
        return std::get<tir::Binary>(e->node).op == binary->op;
      });
      if (!one_op || !is_plain(binary->op)) return nullptr;
      const Lanes lhs = find(operands(exprs, &tir::Binary::lhs));
      const Lanes rhs = lhs == nullptr ? nullptr : find(operands(exprs, &tir::Binary::rhs));
      return rhs == nullptr ? nullptr : made(first->type, BinaryLanes{binary->op, lhs, rhs});
    }
    return nullptr;
  }

 private:
  template <typename Node>
  static Lanes made(DataType type, Node node) {
    return std::make_shared<const LaneNode>(LaneNode{type, std::move(node)});
  }
  template <typename Node>
  static std::vector<tir::Expr> operands(const std::vector<tir::Expr>& exprs,
                                         tir::Expr Node::*member) {
    std::vector<tir::Expr> found;
    for (const tir::Expr& e : exprs) found.push_back(std::get<Node>(e->node).*member);
    return found;
  }
  static bool is_plain(BinaryOp op) {
    return op == BinaryOp::Add || op == BinaryOp::Sub || op == BinaryOp::Mul;
  }
  static bool has_vectors(DataType type) { return type != DataType::Bool && bits(type) >= 8; }
  bool depends_on_variable(const tir::Expr& expr) const {
    bool found = false;
    tir::walk(expr, [&](const tir::ExprNode& e) {
      const auto* ref = std::get_if<tir::VarRef>(&e.node);
      found |= ref != nullptr && ref->var == var_;
    });
    return found;
  }

  Lanes elements(const std::vector<tir::Expr>& exprs, bool same) const {
    const auto& load = std::get<tir::Load>(exprs.front()->node);
    if (!has_vectors(exprs.front()->type)) return nullptr;
    const tir::Expr first = flat_index(func_, load);
    const std::optional<LinearIndex> at = linear(first);
    if (!at) return nullptr;
    for (size_t k = 0; k < exprs.size() && !same; ++k) {
      const auto& other = std::get<tir::Load>(exprs[k]->node);
      const auto there = linear(flat_index(func_, other));
      if (other.buffer != load.buffer || !there || there->factors != at->factors ||
          there->constant != at->constant + static_cast<int64_t>(k))
        return nullptr;
    }
    if (several_ && at->factor(var_) != (same ? 1 : static_cast<int64_t>(exprs.size())))
      return nullptr;
    return made(exprs.front()->type, ElementLanes{load.buffer, first, same});
  }

  const tir::Func& func_;
  tir::VarId var_;
  bool several_;
};

// ---- the loop ------------------------------------------------------------------------------------

struct Sum {
  tir::BufferId buffer;
  tir::Expr term;
};

// "acc = acc + term", of a scalar register.
std::optional<Sum> sum_of(const tir::Func& func, const tir::Store& store) {
  const tir::Buffer& buffer = func.buffer(store.buffer);
  if (buffer.scope != tir::Scope::Register || !buffer.extents.empty()) return std::nullopt;
  const auto* added = std::get_if<tir::Binary>(&store.value->node);
  if (added == nullptr || added->op != BinaryOp::Add) return std::nullopt;
  const auto* old = std::get_if<tir::Load>(&added->lhs->node);
  if (old == nullptr || old->buffer != store.buffer) return std::nullopt;
  return Sum{store.buffer, added->rhs};
}

// The statements of a body, in which variables that have a value there are that value.
bool flatten(const tir::Func& func, const tir::Stmt& stmt, std::map<int32_t, tir::Expr>& values,
             std::vector<Sum>& sums) {
  const auto with_values = [&](const tir::Expr& expr) {
    return tir::rewrite(expr, [&](const tir::Expr& e) {
      const auto* ref = std::get_if<tir::VarRef>(&e->node);
      const auto found = ref == nullptr ? values.end() : values.find(ref->var.index);
      return found == values.end() ? e : found->second;
    });
  };
  return std::visit(overloaded{[&](const tir::Seq& seq) {
                                 return std::all_of(seq.statements.begin(), seq.statements.end(),
                                                    [&](const tir::Stmt& inner) {
                                                      return flatten(func, inner, values, sums);
                                                    });
                               },
                               [&](const tir::Let& let) {
                                 values[let.var.index] = with_values(let.value);
                                 return flatten(func, let.body, values, sums);
                               },
                               [&](const tir::Store& store) {
                                 std::optional<Sum> sum = sum_of(func, store);
                                 if (!sum) return false;
                                 sums.push_back({sum->buffer, with_values(sum->term)});
                                 return true;
                               },
                               [](const auto&) { return false; }},
                    stmt->node);
}

bool reads(const tir::Expr& expr, const std::vector<tir::BufferId>& buffers) {
  bool found = false;
  tir::walk(expr, [&](const tir::ExprNode& e) {
    const auto* load = std::get_if<tir::Load>(&e.node);
    found |=
        load != nullptr && std::find(buffers.begin(), buffers.end(), load->buffer) != buffers.end();
  });
  return found;
}

// ---- numbers of 16 bits --------------------------------------------------------------------------

struct Numbers {
  int64_t least, greatest;
};
constexpr Numbers kUnknown{std::numeric_limits<int32_t>::min(),
                           std::numeric_limits<int32_t>::max()};

Numbers numbers_of(DataType type) {
  if (!is_integer(type) || bits(type) > 16) return kUnknown;
  const int64_t count = int64_t{1} << bits(type);
  return is_signed(type) ? Numbers{-count / 2, count / 2 - 1} : Numbers{0, count - 1};
}

Numbers numbers_of(const tir::Expr& expr) {
  if (const auto* number = std::get_if<tir::IntImm>(&expr->node))
    return {number->value, number->value};
  if (const auto* cast = std::get_if<tir::Cast>(&expr->node))
    if (bits(cast->operand->type) < bits(expr->type)) return numbers_of(cast->operand);
  return numbers_of(expr->type);
}

Numbers numbers_of(const Lanes& lanes) {
  return std::visit(
      overloaded{[](const SameLanes& same) { return numbers_of(same.value); },
                 [&](const ElementLanes&) { return numbers_of(lanes->type); },
                 [&](const CastLanes& cast) {
                   return bits(cast.operand->type) < bits(lanes->type) ? numbers_of(cast.operand)
                                                                       : kUnknown;
                 },
                 [](const BinaryLanes& binary) {
                   const Numbers a = numbers_of(binary.lhs), b = numbers_of(binary.rhs);
                   if (binary.op == BinaryOp::Add)
                     return Numbers{a.least + b.least, a.greatest + b.greatest};
                   if (binary.op == BinaryOp::Sub)
                     return Numbers{a.least - b.greatest, a.greatest - b.least};
                   return kUnknown;
                 }},
      lanes->node);
}

}  // namespace

int LaneOrder::element(size_t lane, const ElementLanes& run) const {
  const int at = static_cast<int>(lane);
  const int iteration = pairs ? at / (2 * sums) * 2 + at % 2 : at / sums;
  const int sum = pairs ? at / 2 % sums : at % sums;
  return run.by_iteration ? iteration : iteration * sums + sum;
}

std::optional<VectorSums> vector_sums(const tir::Func& func, const tir::For& loop) {
  std::map<int32_t, tir::Expr> values;
  std::vector<Sum> found;
  if (!flatten(func, loop.body, values, found) || found.size() < 2) return std::nullopt;
  VectorSums result;
  std::vector<tir::Expr> terms;
  for (const Sum& sum : found) {
    if (std::find(result.sums.begin(), result.sums.end(), sum.buffer) != result.sums.end() ||
        func.buffer(sum.buffer).type != func.buffer(found.front().buffer).type)
      return std::nullopt;
    result.sums.push_back(sum.buffer);
    terms.push_back(sum.term);
  }
  for (const tir::Expr& term : terms)
    if (reads(term, result.sums)) return std::nullopt;
  result.term = LaneFinder(func, loop.var, false).find(terms);
  if (result.term == nullptr) return std::nullopt;
  // Sums of floats are rounded after each term: their order stays.
  if (is_integer(result.term->type)) result.terms = LaneFinder(func, loop.var, true).find(terms);
  return result;
}

bool fits_16_bits(const Lanes& lanes) {
  const Numbers numbers = numbers_of(lanes);
  return numbers.least >= std::numeric_limits<int16_t>::min() &&
         numbers.greatest <= std::numeric_limits<int16_t>::max();
}

}  // namespace intarsia::targets::llvm
