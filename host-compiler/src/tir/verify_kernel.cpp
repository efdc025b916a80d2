#include <fmt/format.h>

#include <set>

#include "intarsia/plugin/tir_walk.h"
#include "tir/bounds.h"
#include "tir/text_words.h"
#include "tir/verify_steps.h"

namespace intarsia::tir {

namespace {

constexpr const char* kHint = "bound the loops around it, or guard it with an if";

class KernelVerifier {
 public:
  KernelVerifier(const Module& module, const Func& func, Diagnostics& problems)
      : func_(func), problems_(problems), bounds_(module, func), access_(func.buffers.size()) {
    for (size_t i = 0; i < func.buffers.size(); ++i)
      access_[i] = allowed(root({static_cast<int32_t>(i)}).at());
  }

  void stmt(const Stmt& s) {
    std::visit([&](const auto& node) { check(node); }, s->node);
  }

 private:
  struct Allowed {
    bool store = true;
    bool load_first = true;  // before anything was stored
  };

  Allowed allowed(size_t buffer) const {
    switch (func_.buffers[buffer].scope) {
      case Scope::Parameter: {
        const Access access = func_.parameters[buffer].access;
        return {access != Access::Read, access != Access::Write};
      }
      case Scope::Constant:
        return {false, true};
      default:
        return {true, false};
    }
  }

  BufferId root(BufferId id) const { return alias_root(func_, id).buffer; }

  bool is_scalar(BufferId id) const {
    return func_.buffer(id).scope == Scope::Register && func_.buffer(id).extents.empty();
  }

  void fail(const std::string& access, std::string what, std::string hint = {}) {
    problems_.add(fmt::format("{}: {}", place(func_), access), std::move(what), std::move(hint));
  }

  // ---- what an access may do ----

  void loaded(BufferId id, const std::string& access) {
    if (access_[id.at()].load_first || written_.count(root(id)) != 0) return;
    if (reported_.insert(id).second)
      fail(access, fmt::format("'{}' may be read before it is written", func_.buffer(id).name));
  }

  void stored(BufferId id, const std::string& access) {
    if (!access_[id.at()].store)
      fail(access, fmt::format("'{}' is read-only here", func_.buffer(id).name));
    written_.insert(root(id));
  }

  void prove_indices(BufferId id, const std::vector<Expr>& indices, const std::string& access) {
    const Shape& extents = func_.buffer(id).extents;
    for (size_t d = 0; d < indices.size(); ++d) {
      prove(indices[d], 0, extents[d] - 1, access,
            fmt::format("dimension {} of extent {}", d, extents[d]));
    }
  }

  void prove(const Expr& e, int64_t least, int64_t most, const std::string& access,
             const std::string& what) {
    if (bounds_.is_within(e, least, most)) return;
    const std::string text = print(func_, e);
    if (!bounds_.is_within(e, least, INT64_MAX)) {
      fail(access, fmt::format("{}: cannot prove {} >= {}", what, text, least), kHint);
    } else {
      fail(access, fmt::format("{}: cannot prove {} <= {}", what, text, most), kHint);
    }
  }

  // ---- expressions ----

  void expr(const Expr& e) {
    std::visit([&](const auto& node) { check(node, e); }, e->node);
  }
  void under(const Expr& condition, bool holds, const Expr& e) {
    const size_t before = bounds_.assumed();
    bounds_.assume(condition, holds);
    expr(e);
    bounds_.drop_to(before);
  }

  void check(const Load& n, const Expr& e) {
    for (const Expr& index : n.indices) expr(index);
    const std::string access = fmt::format("load {}", print(func_, e));
    loaded(n.buffer, access);
    prove_indices(n.buffer, n.indices, access);
  }
  void check(const Binary& n, const Expr& e) {
    expr(n.lhs);
    const bool of_bools = n.lhs->type == DataType::Bool;
    if (of_bools && (n.op == BinaryOp::And || n.op == BinaryOp::Or)) {
      under(n.lhs, n.op == BinaryOp::And, n.rhs);  // not evaluated otherwise
      return;
    }
    expr(n.rhs);
    if (n.op == BinaryOp::Shl || n.op == BinaryOp::Shr)
      prove(n.rhs, 0, bits(e->type) - 1, print(func_, e), "amount of a shift");
  }
  void check(const Select& n, const Expr&) {
    expr(n.condition);
    under(n.condition, true, n.if_true);
    under(n.condition, false, n.if_false);
  }
  template <typename Node>
  void check(const Node&, const Expr& e) {
    for_each_operand(*e, [&](const Expr& operand) { expr(operand); });
  }

  // ---- statements ----

  void check(const Seq& n) {
    for (const Stmt& s : n.statements) stmt(s);
  }
  void check(const For& n) {
    expr(n.lo);
    expr(n.hi);
    const bool runs = bounds_.is_less(n.lo, n.hi);
    bounds_.define_loop(n.var, n.lo, n.hi);
    const std::set<BufferId> before = written_;
    stmt(n.body);
    if (!runs) forget_scalars_but(before);
  }
  void check(const If& n) {
    expr(n.condition);
    const std::set<BufferId> before = written_;
    branch(n.condition, true, n.then_body);
    std::set<BufferId> after_then = before;
    after_then.swap(written_);
    if (n.else_body != nullptr) branch(n.condition, false, n.else_body);
    // A scalar is written when both ways write it; of arrays parts may be written anywhere.
    std::set<BufferId> after_else = written_;
    written_.insert(after_then.begin(), after_then.end());
    std::set<BufferId> both = before;
    for (const BufferId id : after_then)
      if (after_else.count(id) != 0) both.insert(id);
    forget_scalars_but(both);
  }
  void branch(const Expr& condition, bool holds, const Stmt& s) {
    const size_t before = bounds_.assumed();
    bounds_.assume(condition, holds);
    stmt(s);
    bounds_.drop_to(before);
  }
  void forget_scalars_but(const std::set<BufferId>& kept) {
    for (auto it = written_.begin(); it != written_.end();) {
      it = is_scalar(*it) && kept.count(*it) == 0 ? written_.erase(it) : std::next(it);
    }
  }
  void check(const Let& n) {
    expr(n.value);
    bounds_.define_let(n.var, n.value);
    stmt(n.body);
  }
  void check(const Store& n) {
    for (const Expr& index : n.indices) expr(index);
    expr(n.value);
    const std::string access = fmt::format("store {}", print_access(func_, n.buffer, n.indices));
    stored(n.buffer, access);
    prove_indices(n.buffer, n.indices, access);
  }
  void check(const Call&) {}  // of schedules
  void check(const Intrinsic& n) {
    std::vector<const BufferRun*> runs;
    for (const auto& operand : n.operands) {
      const auto* run = std::get_if<BufferRun>(&operand);
      if (run != nullptr) {
        for (const Expr& index : run->start) expr(index);
        runs.push_back(run);
      } else {
        expr(std::get<Expr>(operand));
      }
    }
    for (const BufferRun* run : runs) {
      const std::string access = fmt::format("{}: {}", n.name, print(func_, *run));
      if (run->access != Access::Write) loaded(run->buffer, access);
      prove_run(*run, access);
    }
    for (const BufferRun* run : runs)
      if (run->access != Access::Read)
        stored(run->buffer, fmt::format("{}: {}", n.name, print(func_, *run)));
  }
  void prove_run(const BufferRun& run, const std::string& access) {
    prove_indices(run.buffer, run.start, access);
    const Shape& extents = func_.buffer(run.buffer).extents;
    const int64_t elements = element_count(extents);
    if (!bounds_.is_flat_within(run.start, extents, elements - run.count))
      fail(access, fmt::format("cannot prove that {} elements from there end within the {} of '{}'",
                               run.count, elements, func_.buffer(run.buffer).name));
  }

  const Func& func_;
  Diagnostics& problems_;
  Bounds bounds_;
  std::vector<Allowed> access_;
  std::set<BufferId> written_;
  std::set<BufferId> reported_;  // read before written: once per buffer
};

}  // namespace

void verify_kernel(const Module& module, const Func& func, Diagnostics& problems) {
  KernelVerifier(module, func, problems).stmt(func.body);
}

}  // namespace intarsia::tir
