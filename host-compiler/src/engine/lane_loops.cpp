#include "engine/lane_loops.h"

#include <algorithm>
#include <optional>

#include "engine/lane_slices.h"
#include "intarsia/plugin/tir_walk.h"

namespace intarsia::engine {
namespace {

using tir::BufferId;
using tir::Expr;
using tir::Stmt;
using tir::StmtNode;

constexpr int64_t kUnknownIterations = 8;  // a guess: of a window, or of the channels of a pixel
constexpr int64_t kFewestIterations = 4;   // below, preparing a chunk costs more than it saves

bool loads(const Expr& expr, BufferId buffer) {
  bool found = false;
  tir::walk(expr, [&](const tir::ExprNode& e) {
    const auto* load = std::get_if<tir::Load>(&e.node);
    found |= load != nullptr && load->buffer == buffer;
  });
  return found;
}

int mentions(const Stmt& stmt, BufferId buffer) {
  int count = 0;
  tir::walk(
      stmt,
      [&](const StmtNode& s) {
        const auto* store = std::get_if<tir::Store>(&s.node);
        count += store != nullptr && store->buffer == buffer ? 1 : 0;
      },
      [&](const tir::ExprNode& e) {
        const auto* load = std::get_if<tir::Load>(&e.node);
        count += load != nullptr && load->buffer == buffer ? 1 : 0;
      });
  return count;
}

// The first statement that mentions the register gives it a value, whatever happened before.
bool begins_with_store(const Stmt& stmt, BufferId buffer) {
  if (const auto* store = std::get_if<tir::Store>(&stmt->node))
    return store->buffer == buffer && !loads(store->value, buffer);
  if (const auto* let = std::get_if<tir::Let>(&stmt->node))
    return !loads(let->value, buffer) && begins_with_store(let->body, buffer);
  if (const auto* sequence = std::get_if<tir::Seq>(&stmt->node))
    for (const Stmt& inner : sequence->statements)
      if (mentions(inner, buffer) > 0) return begins_with_store(inner, buffer);
  return false;
}

bool has_loop(const Stmt& stmt) {
  bool found = false;
  tir::for_each_statement(
      stmt, [&](const Stmt& inner) { found |= std::holds_alternative<tir::For>(inner->node); });
  return found;
}

class Check {
 public:
  Check(const tir::Func& func, const Stmt& body) : func_(func), body_(body) {}

  std::optional<LaneLoop> of(const tir::For& loop) {
    LaneLoop made;
    LaneScope scope;
    scope.variables[loop.var] = Course::linear(1);
    if (!sort_registers(loop, made)) return std::nullopt;
    scope.registers = made.own_registers;
    if (!allows(loop.body, scope, made)) return std::nullopt;
    if (!keeps_places(loop)) return std::nullopt;
    if (!stores_apart(func_, loop)) return std::nullopt;
    return made;
  }

 private:
  bool is_register(BufferId id) const {
    return func_.buffer(id).scope == tir::Scope::Register && is_plain_register(func_, body_, id);
  }

  // Every register that the loop changes is an iteration's own, or sums up.
  bool sort_registers(const tir::For& loop, LaneLoop& made) const {
    bool sorted = true;
    tir::for_each_statement(loop.body, [&](const Stmt& stmt) {
      const auto* store = std::get_if<tir::Store>(&stmt->node);
      if (store == nullptr || !is_register(store->buffer)) return;
      const int inside = mentions(loop.body, store->buffer);
      if (inside == mentions(body_, store->buffer) && begins_with_store(loop.body, store->buffer)) {
        made.own_registers.insert(store->buffer);
      } else if (inside == 2 && reduction_of(*store)) {
        made.reductions.insert(stmt.get());
        // Sums of floats depend on the order.
        sorted &= func_.buffer(store->buffer).type != DataType::Float32 || !has_loop(loop.body);
      } else {
        sorted = false;
      }
    });
    return sorted;
  }

  bool allows(const Stmt& stmt, LaneScope& scope, const LaneLoop& made) const {
    const auto same = [&](const Expr& expr) { return course_of(func_, scope, expr).is_same(); };
    if (const auto* sequence = std::get_if<tir::Seq>(&stmt->node))
      return std::all_of(sequence->statements.begin(), sequence->statements.end(),
                         [&](const Stmt& inner) { return allows(inner, scope, made); });
    if (const auto* loop = std::get_if<tir::For>(&stmt->node))
      return same(loop->lo) && same(loop->hi) && computes(loop->lo, scope) &&
             computes(loop->hi, scope) && allows(loop->body, scope, made);
    if (const auto* branch = std::get_if<tir::If>(&stmt->node))
      return same(branch->condition) && allows(branch->then_body, scope, made) &&
             (branch->else_body == nullptr || allows(branch->else_body, scope, made));
    if (const auto* let = std::get_if<tir::Let>(&stmt->node)) {
      if (!computes(let->value, scope)) return false;
      scope.variables[let->var] = course_of(func_, scope, let->value);
      return allows(let->body, scope, made);
    }
    if (const auto* store = std::get_if<tir::Store>(&stmt->node)) {
      if (!computes(store->value, scope)) return false;
      return is_register(store->buffer) ||
             func_.buffer(store->buffer).scope != tir::Scope::Register;
    }
    return false;  // calls see all of memory
  }

  // An arm that was not chosen is computed as well: it must be harmless.
  bool is_harmless(const Expr& expr) const {
    bool harmless = true;
    tir::walk(expr, [&](const tir::ExprNode& e) {
      const auto* load = std::get_if<tir::Load>(&e.node);
      harmless &= load == nullptr || is_register(load->buffer);
      harmless &= !std::holds_alternative<tir::ExprCall>(e.node);
    });
    return harmless;
  }

  bool computes(const Expr& expr, const LaneScope& scope) const {
    bool can = true;
    tir::walk(expr, [&](const tir::ExprNode& e) {
      const auto free = [&](const Expr& operand) {
        return !course_of(func_, scope, operand).is_same();
      };
      if (const auto* choice = std::get_if<tir::Select>(&e.node); choice && free(choice->condition))
        can &= is_harmless(choice->if_true) && is_harmless(choice->if_false);
      const auto* binary = std::get_if<tir::Binary>(&e.node);
      if (binary != nullptr && binary->lhs->type == DataType::Bool && free(binary->lhs))
        can &= is_harmless(binary->rhs);
    });
    return can;
  }

  // Where an output may lie on an input, each iteration reads all that it reads before anything is written.
  bool keeps_places(const tir::For& loop) const {
    if (func_.in_place.empty() && func_.overlaps.empty()) return true;
    int stores = 0;
    tir::for_each_statement(loop.body, [&](const Stmt& stmt) {
      const auto* store = std::get_if<tir::Store>(&stmt->node);
      stores += store != nullptr && !is_register(store->buffer) ? 1 : 0;
    });
    return stores <= 1 && !has_loop(loop.body);
  }

  const tir::Func& func_;
  const Stmt& body_;
};

int64_t iterations(const tir::For& loop) {
  const auto* lo = std::get_if<tir::IntImm>(&loop.lo->node);
  const auto* hi = std::get_if<tir::IntImm>(&loop.hi->node);
  return lo != nullptr && hi != nullptr ? hi->value - lo->value : kUnknownIterations;
}

using Allowed = std::map<const StmtNode*, LaneLoop>;

// A reduction ends in one number: half of what it saves is lost again.
int64_t worth(const StmtNode* node, const Allowed& allowed) {
  const auto found = allowed.find(node);
  if (found == allowed.end()) return 0;
  const int64_t count = iterations(std::get<tir::For>(node->node));
  return found->second.reductions.empty() ? 2 * count : count;
}

void choose(const Stmt& stmt, const Allowed& allowed, Allowed& chosen) {
  if (std::holds_alternative<tir::For>(stmt->node)) {
    int64_t most = 0;
    tir::for_each_statement(stmt, [&](const Stmt& inner) {
      if (inner != stmt) most = std::max(most, worth(inner.get(), allowed));
    });
    if (const int64_t own = worth(stmt.get(), allowed); own >= most && own >= kFewestIterations) {
      chosen[stmt.get()] = allowed.at(stmt.get());
      return;
    }
  }
  tir::for_each_inner_stmt(*stmt, [&](const Stmt& inner) { choose(inner, allowed, chosen); });
}

}  // namespace

bool is_plain_register(const tir::Func& func, const Stmt& body, BufferId buffer) {
  if (!func.buffer(buffer).extents.empty()) return false;
  bool plain = true;
  tir::for_each_statement(body, [&](const Stmt& stmt) {
    const auto* intrinsic = std::get_if<tir::Intrinsic>(&stmt->node);
    if (intrinsic == nullptr) return;
    for (const auto& operand : intrinsic->operands)
      if (const auto* run = std::get_if<tir::BufferRun>(&operand)) plain &= run->buffer != buffer;
  });
  return plain;
}

std::optional<Reduction> reduction_of(const tir::Store& store) {
  const auto* binary = std::get_if<tir::Binary>(&store.value->node);
  if (binary == nullptr) return std::nullopt;
  using tir::BinaryOp;
  if (binary->op != BinaryOp::Add && binary->op != BinaryOp::Min && binary->op != BinaryOp::Max)
    return std::nullopt;
  const auto* old = std::get_if<tir::Load>(&binary->lhs->node);
  if (old == nullptr || old->buffer != store.buffer || loads(binary->rhs, store.buffer))
    return std::nullopt;
  return Reduction{binary->op, binary->rhs};
}

std::map<const StmtNode*, LaneLoop> choose_lane_loops(const tir::Func& func, const Stmt& body) {
  Check check(func, body);
  Allowed allowed, chosen;
  tir::for_each_statement(body, [&](const Stmt& stmt) {
    const auto* loop = std::get_if<tir::For>(&stmt->node);
    if (loop == nullptr) return;
    if (std::optional<LaneLoop> made = check.of(*loop)) allowed[stmt.get()] = std::move(*made);
  });
  choose(body, allowed, chosen);
  return chosen;
}

}  // namespace intarsia::engine
