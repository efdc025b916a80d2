// An in-place pair is legal when the function works element by element: one loop nest holds every
// access to both, all with the same indices; within an iteration what is loaded is loaded before
// anything is stored; and no two iterations touch the same element.
//
// Or calls of functions whose names begin with intarsia_each_ hold every access. Those work on elements of equal index of all
// their runs that are as long as what is written, and read some before they write them. Each of the calls, in whatever loops,
// writes a run of its own, which meets no other's, and reads none of the input but the same run: then no call reads what another
// one wrote.
#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <set>

#include "intarsia/plugin/tir_walk.h"
#include "tir/linear.h"
#include "tir/verify_steps.h"

namespace intarsia::tir {

namespace {

// Variables of lets that were passed, by what they stand for.
class Lets {
 public:
  void add(const Let& let) { values_[let.var] = expanded(let.value); }

  Expr expanded(const Expr& e) const {
    return rewrite(e, [&](const Expr& part) -> Expr {
      const auto* ref = std::get_if<VarRef>(&part->node);
      if (ref == nullptr) return part;
      const auto found = values_.find(ref->var);
      return found != values_.end() ? found->second : part;
    });
  }

 private:
  std::map<VarId, Expr> values_;
};

// Of loop variables; symbols are the variables' numbers.
std::optional<Linear> affine(const Expr& e) {
  if (const auto* imm = std::get_if<IntImm>(&e->node)) return Linear::of(imm->value);
  if (const auto* ref = std::get_if<VarRef>(&e->node)) return Linear::of_symbol(ref->var.index);
  const auto* node = std::get_if<Binary>(&e->node);
  if (node == nullptr) return std::nullopt;
  const auto lhs = affine(node->lhs), rhs = affine(node->rhs);
  if (!lhs || !rhs) return std::nullopt;
  if (node->op == BinaryOp::Add) return combine(1, *lhs, 1, *rhs);
  if (node->op == BinaryOp::Sub) return combine(1, *lhs, -1, *rhs);
  if (node->op == BinaryOp::Mul && rhs->is_constant()) return times(*lhs, rhs->constant);
  if (node->op == BinaryOp::Mul && lhs->is_constant()) return times(*rhs, lhs->constant);
  return std::nullopt;
}

class PairVerifier {
 public:
  explicit PairVerifier(const InPlace& pair) : input_{pair.input}, output_{pair.output} {}

  // The reason why the pair is not in-place, empty when it is.
  std::string problem(const Stmt& body) {
    visit(body);
    if (problem_.empty() && has_access_ && !visits_once())
      problem_ = "the indices do not tell every iteration apart";
    return problem_;
  }

 private:
  void fail(std::string what) {
    if (problem_.empty()) problem_ = std::move(what);
  }

  void visit(const Stmt& stmt) {
    for_each_own_expr(*stmt, [&](const Expr& e) { find_loads(e); });
    if (const auto* loop = std::get_if<For>(&stmt->node)) {
      loops_.push_back(loop->var);
      visit(loop->body);
      loops_.pop_back();
      return;
    }
    if (const auto* let = std::get_if<Let>(&stmt->node)) lets_.add(*let);
    if (const auto* store = std::get_if<Store>(&stmt->node)) {
      if (store->buffer == output_) {
        access(store->indices);
        stored_ = true;
      } else if (store->buffer == input_) {
        fail("the input is stored to");
      }
    }
    for_each_inner_stmt(*stmt, [&](const Stmt& inner) { visit(inner); });
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
    for (const Expr& index : indices) full.push_back(lets_.expanded(index));
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

  BufferId input_, output_;
  std::vector<VarId> loops_, nest_;
  Lets lets_;
  std::vector<Expr> indices_;
  bool has_access_ = false, stored_ = false;
  std::string problem_;
};

// Of calls that work on runs. A statement is told by the elements from its first to its last one, counted from the buffer's start:
// what runs beside each other in a loop or one after another has to be apart.
class RunVerifier {
 public:
  RunVerifier(const Func& func, const InPlace& pair)
      : func_(func), input_{pair.input}, output_{pair.output} {}

  std::string problem(const Stmt& body) {
    elements_of(body);
    return problem_;
  }

 private:
  // `count` elements from the first one, which depends on variables of loops around the statement.
  struct Elements {
    Linear first;
    int64_t count;
    bool operator==(const Elements&) const = default;
  };

  std::nullopt_t fail(std::string what) {
    if (problem_.empty()) problem_ = std::move(what);
    return std::nullopt;
  }

  // None where the statement has none, or a problem was found.
  std::optional<Elements> elements_of(const Stmt& stmt) {
    if (stmt == nullptr) return std::nullopt;
    for_each_own_expr(*stmt, [&](const Expr& e) {
      walk(e, [&](const ExprNode& node) {
        if (const auto* load = std::get_if<Load>(&node.node)) refuse_element(load->buffer);
      });
    });
    if (!problem_.empty()) return std::nullopt;
    if (const auto* loop = std::get_if<For>(&stmt->node)) return of_loop(*loop);
    if (const auto* call = std::get_if<Intrinsic>(&stmt->node)) return of_call(*call);
    if (const auto* let = std::get_if<Let>(&stmt->node)) lets_.add(*let);
    if (const auto* store = std::get_if<Store>(&stmt->node)) refuse_element(store->buffer);
    const bool exclusive = std::holds_alternative<If>(stmt->node);
    std::vector<Elements> parts;
    for_each_inner_stmt(*stmt, [&](const Stmt& inner) {
      if (const auto elements = elements_of(inner)) parts.push_back(*elements);
    });
    return joined(parts, exclusive);
  }

  void refuse_element(BufferId buffer) {
    if (buffer == input_ || buffer == output_)
      fail("elements are accessed beside calls that work on runs of them");
  }

  std::optional<Elements> of_call(const Intrinsic& call) {
    std::optional<Elements> written;
    std::vector<Elements> read;
    for (const auto& operand : call.operands) {
      const auto* run = std::get_if<BufferRun>(&operand);
      if (run == nullptr || (run->buffer != input_ && run->buffer != output_)) continue;
      if (!call.name.starts_with("intarsia_each_"))
        return fail(fmt::format("{} works on runs, whose order is not known", call.name));
      const std::optional<Linear> first = place_of(*run);
      if (!first) return fail("where a run begins is no sum of multiples of loop variables");
      if (run->access != (run->buffer == input_ ? Access::Read : Access::Write) ||
          (run->buffer == output_ && written))
        return fail(fmt::format("{} does not write one run of the output alone", call.name));
      if (run->buffer == input_)
        read.push_back({*first, run->count});
      else
        written = Elements{*first, run->count};
    }
    for (const Elements& elements : read)
      if (!written || elements != *written)
        return fail(fmt::format("{} reads other elements than it writes", call.name));
    return written;
  }

  // In row-major order.
  std::optional<Linear> place_of(const BufferRun& run) const {
    const Shape& extents = func_.buffer(run.buffer).extents;
    std::optional<Linear> place = Linear::of(0);
    for (size_t axis = 0; axis < extents.size(); ++axis) {
      const std::optional<Linear> index = affine(lets_.expanded(run.start[axis]));
      if (!index) return std::nullopt;
      place = combine(extents[axis], *place, 1, *index);
      if (!place) return std::nullopt;
    }
    return place;
  }

  std::optional<Elements> of_loop(const For& loop) {
    const std::optional<Elements> once = elements_of(loop.body);
    if (!once) return std::nullopt;
    const auto lo = affine(lets_.expanded(loop.lo)), hi = affine(lets_.expanded(loop.hi));
    if (!lo || !hi || !lo->is_constant() || !hi->is_constant())
      return fail("calls are in a loop whose ends are not known");
    const int64_t rounds = hi->constant - lo->constant;
    if (rounds <= 0) return std::nullopt;
    const Symbol symbol = loop.var.index;
    const int64_t step = once->first.coefficient(symbol);
    if (rounds > 1 && std::abs(step) < once->count)
      return fail("calls of different iterations work on the same elements");
    // From the lowest iteration's first element on.
    const int64_t lowest = step >= 0 ? lo->constant : hi->constant - 1;
    auto first = combine(1, once->first, -step, Linear::of_symbol(symbol));
    const auto start = times(Linear::of(step), lowest),
               further = times(Linear::of(std::abs(step)), rounds - 1);
    if (first && start) first = plus(*first, start->constant);
    if (!first || !start || !further) return fail("places of calls leave 64 bits");
    return Elements{*first, further->constant + once->count};
  }

  // Of statements of which all, or one, are executed.
  std::optional<Elements> joined(const std::vector<Elements>& parts, bool exclusive) {
    if (parts.empty()) return std::nullopt;
    std::map<int64_t, int64_t> counts;  // by distance from the first part
    for (const Elements& part : parts) {
      const auto distance = combine(1, part.first, -1, parts[0].first);
      if (!distance || !distance->is_constant())
        return fail("calls do not take one step after the other");
      int64_t& count = counts[distance->constant];
      if (count != 0 && !exclusive) return fail("calls work on the same elements");
      count = std::max(count, part.count);
    }
    const int64_t begin = counts.begin()->first;
    int64_t end = begin;
    for (const auto& [at, count] : counts) {
      if (at < end && !exclusive) return fail("calls work on the same elements");
      end = std::max(end, at + count);
    }
    const auto first = plus(parts[0].first, begin);
    if (!first) return fail("places of calls leave 64 bits");
    return Elements{*first, end - begin};
  }

  const Func& func_;
  BufferId input_, output_;
  Lets lets_;
  std::string problem_;
};

bool has_runs_of(const Func& func, const InPlace& pair) {
  bool found = false;
  for_each_statement(func.body, [&](const Stmt& stmt) {
    const auto* call = std::get_if<Intrinsic>(&stmt->node);
    if (call == nullptr) return;
    for (const auto& operand : call->operands)
      if (const auto* run = std::get_if<BufferRun>(&operand))
        found |= run->buffer == BufferId{pair.input} || run->buffer == BufferId{pair.output};
  });
  return found;
}

std::string problem_of(const Func& func, const InPlace& pair) {
  const Buffer &in = func.buffer(BufferId{pair.input}), &out = func.buffer(BufferId{pair.output});
  if (in.extents != out.extents || bits(in.type) != bits(out.type))
    return "extents or element sizes differ";
  if (func.parameters[static_cast<size_t>(pair.input)].access == Access::Write ||
      func.parameters[static_cast<size_t>(pair.output)].access == Access::Read)
    return "the input is not read or the output not written";
  return has_runs_of(func, pair) ? RunVerifier(func, pair).problem(func.body)
                                 : PairVerifier(pair).problem(func.body);
}

}  // namespace

void verify_in_place(const Func& func, Diagnostics& problems) {
  for (const InPlace& pair : func.in_place) {
    const std::string problem = problem_of(func, pair);
    if (!problem.empty())
      problems.add(place(func),
                   fmt::format("cannot be in-place from '{}' to '{}': {}",
                               func.buffers[static_cast<size_t>(pair.input)].name,
                               func.buffers[static_cast<size_t>(pair.output)].name, problem));
  }
}

}  // namespace intarsia::tir
