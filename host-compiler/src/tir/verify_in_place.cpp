// An in-place pair is legal when the function works element by element: one loop nest holds every
// access to both, all with the same indices; within an iteration what is loaded is loaded before
// anything is stored; and no two iterations touch the same element. Or it is one call of a function whose name begins with
// intarsia_each_: those work on elements of equal index of all their runs, and read some before they write them.
#include <fmt/format.h>

#include <map>
#include <set>

#include "intarsia/plugin/tir_walk.h"
#include "tir/linear.h"
#include "tir/verify_steps.h"

namespace intarsia::tir {

namespace {

class PairVerifier {
 public:
  PairVerifier(const Func& func, const InPlace& pair)
      : func_(func), input_{pair.input}, output_{pair.output} {}

  // The reason why the pair is not in-place, empty when it is.
  std::string problem() {
    const Buffer &in = func_.buffer(input_), &out = func_.buffer(output_);
    if (in.extents != out.extents || bits(in.type) != bits(out.type))
      return "extents or element sizes differ";
    if (func_.parameters[input_.at()].access == Access::Write ||
        func_.parameters[output_.at()].access == Access::Read)
      return "the input is not read or the output not written";
    visit(func_.body);
    if (problem_.empty() && has_access_ && !visits_once())
      problem_ = "the indices do not tell every iteration apart";
    return problem_;
  }

 private:
  void fail(std::string what) {
    if (problem_.empty()) problem_ = std::move(what);
  }

  void visit(const Stmt& stmt) {
    if (const auto* loop = std::get_if<For>(&stmt->node)) {
      for_each_own_expr(*stmt, [&](const Expr& e) { find_loads(e); });
      loops_.push_back(loop->var);
      visit(loop->body);
      loops_.pop_back();
      return;
    }
    for_each_own_expr(*stmt, [&](const Expr& e) { find_loads(e); });
    if (const auto* let = std::get_if<Let>(&stmt->node)) lets_[let->var] = expanded(let->value);
    if (const auto* store = std::get_if<Store>(&stmt->node)) {
      if (store->buffer == output_) {
        access(store->indices);
        stored_ = true;
      } else if (store->buffer == input_) {
        fail("the input is stored to");
      }
    }
    if (const auto* intrinsic = std::get_if<Intrinsic>(&stmt->node)) {
      for (const auto& operand : intrinsic->operands)
        if (const auto* run = std::get_if<BufferRun>(&operand))
          if (run->buffer == input_ || run->buffer == output_) find_run(*intrinsic, *run);
      stored_ = stored_ || run_of_ == intrinsic;
    }
    for_each_inner_stmt(*stmt, [&](const Stmt& inner) { visit(inner); });
  }

  void find_run(const Intrinsic& intrinsic, const BufferRun& run) {
    if (!intrinsic.name.starts_with("intarsia_each_"))
      fail(fmt::format("{} works on runs, whose order is not known", intrinsic.name));
    if (!loops_.empty() || (run_of_ != nullptr && run_of_ != &intrinsic) || stored_)
      fail(fmt::format("{} is not all that works on the elements", intrinsic.name));
    run_of_ = &intrinsic;
    access(run.start);
  }

  void find_loads(const Expr& e) {
    walk(e, [&](const ExprNode& node) {
      const auto* load = std::get_if<Load>(&node.node);
      if (load == nullptr) return;
      if (load->buffer == output_) fail("the output is loaded from");
      if (load->buffer != input_) return;
      access(load->indices);
      if (stored_) fail("the input is loaded after the output was stored to");
    });
  }

  void access(const std::vector<Expr>& indices) {
    std::vector<Expr> full;
    for (const Expr& index : indices) full.push_back(expanded(index));
    for (const Expr& index : full)
      walk(index, [&](const ExprNode& node) {
        if (std::holds_alternative<Load>(node.node) || std::holds_alternative<ExprCall>(node.node))
          fail("an index is not made of loop variables alone");
      });
    if (!has_access_) {
      indices_ = full;
      nest_ = loops_;
      has_access_ = true;
    } else if (nest_ != loops_) {
      fail("input and output are not accessed in one innermost loop");
    } else if (!equal(indices_, full)) {
      fail("input and output are accessed with different indices");
    }
  }

  // With variables of lets replaced by what they stand for.
  Expr expanded(const Expr& e) const {
    return rewrite(e, [&](const Expr& part) -> Expr {
      const auto* ref = std::get_if<VarRef>(&part->node);
      if (ref == nullptr) return part;
      const auto found = lets_.find(ref->var);
      return found != lets_.end() ? found->second : part;
    });
  }

  // Every loop variable follows from the indices: one after the other, from an index in which all
  // others are known already.
  bool visits_once() const {
    std::set<Symbol> unknown;
    for (const VarId var : nest_) unknown.insert(var.index);
    for (bool progress = true; progress && !unknown.empty();) {
      progress = false;
      for (const Expr& index : indices_) {
        const std::optional<Linear> sum = affine(index);
        if (!sum) continue;
        std::vector<Symbol> open;
        for (const auto& [symbol, coefficient] : sum->terms)
          if (unknown.count(symbol) != 0) open.push_back(symbol);
        if (open.size() == 1) progress |= unknown.erase(open.front()) != 0;
      }
    }
    return unknown.empty();
  }

  // Of loop variables; symbols are the variables' numbers.
  static std::optional<Linear> affine(const Expr& e) {
    if (const auto* imm = std::get_if<IntImm>(&e->node)) return Linear::of(imm->value);
    if (const auto* ref = std::get_if<VarRef>(&e->node)) return Linear::of_symbol(ref->var.index);
    const auto* node = std::get_if<Binary>(&e->node);
    if (node == nullptr) return std::nullopt;
    const auto lhs = affine(node->lhs), rhs = affine(node->rhs);
    if (!lhs || !rhs) return std::nullopt;
    if (node->op == BinaryOp::Add) return combine(1, *lhs, 1, *rhs);
    if (node->op == BinaryOp::Sub) return combine(1, *lhs, -1, *rhs);
    if (node->op == BinaryOp::Mul && rhs->is_constant()) return times(*lhs, rhs->constant);
    return std::nullopt;
  }

  const Func& func_;
  BufferId input_, output_;
  std::vector<VarId> loops_, nest_;
  std::map<VarId, Expr> lets_;
  std::vector<Expr> indices_;
  bool has_access_ = false, stored_ = false;
  const Intrinsic* run_of_ = nullptr;  // the call that works on runs of both
  std::string problem_;
};

}  // namespace

void verify_in_place(const Func& func, Diagnostics& problems) {
  for (const InPlace& pair : func.in_place) {
    const std::string problem = PairVerifier(func, pair).problem();
    if (!problem.empty())
      problems.add(place(func),
                   fmt::format("cannot be in-place from '{}' to '{}': {}",
                               func.buffers[static_cast<size_t>(pair.input)].name,
                               func.buffers[static_cast<size_t>(pair.output)].name, problem));
  }
}

}  // namespace intarsia::tir
