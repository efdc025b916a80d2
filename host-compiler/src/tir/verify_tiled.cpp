// A tiled function has constant loop bounds, so it is interpreted: every call and every move with
// the bytes it reads and writes, in their order. That answers all questions at once and knows nothing of
// how the function was made.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "intarsia/plugin/tir_walk.h"
#include "tir/function_index.h"
#include "tir/verify_steps.h"

namespace intarsia::tir {

namespace {

constexpr int64_t kMostEvents = 1 << 20;

struct Bytes {
  size_t buffer;
  int64_t first, end;
  Access access;
};

// What happens at one moment: all of a call's accesses, in any order.
struct Event {
  const StmtNode* stmt;
  std::vector<Bytes> accesses;
};

class TiledVerifier {
 public:
  TiledVerifier(const Module& module, const Func& func, Diagnostics& problems)
      : functions_(module), func_(func), problems_(problems), vars_(func.vars.size(), 0) {}

  void run() {
    for (const Buffer& buffer : func_.buffers) {
      if (buffer.scope == Scope::Register || buffer.alias.valid())
        fail(fmt::format("is tiled and cannot have the register or alias '{}'", buffer.name));
      if (bits(buffer.type) % 8 != 0)
        fail(fmt::format("is tiled and cannot have '{}', whose elements are no whole bytes",
                         buffer.name));
    }
    if (!func_.in_place.empty())
      fail("is tiled: its outputs overlap inputs, they do not replace them");
    if (good_) visit(*func_.body);
    if (!good_) return;
    find_undefined();
    for (const Overlap& overlap : func_.overlaps) prove(overlap);
  }

 private:
  void fail(std::string what) {
    if (good_)
      problems_.add(place(func_), std::move(what));  // the first is enough: the rest follow
    good_ = false;
  }

  // The value of an expression of constants and loop variables.
  std::optional<int64_t> value(const Expr& e) {
    if (const auto* imm = std::get_if<IntImm>(&e->node)) return imm->value;
    if (const auto* ref = std::get_if<VarRef>(&e->node)) return vars_[ref->var.at()];
    const auto* node = std::get_if<Binary>(&e->node);
    if (node == nullptr) return std::nullopt;
    const auto a = value(node->lhs), b = value(node->rhs);
    if (!a || !b) return std::nullopt;
    int64_t result = 0;
    bool overflow = true;
    if (node->op == BinaryOp::Add) overflow = __builtin_add_overflow(*a, *b, &result);
    if (node->op == BinaryOp::Sub) overflow = __builtin_sub_overflow(*a, *b, &result);
    if (node->op == BinaryOp::Mul) overflow = __builtin_mul_overflow(*a, *b, &result);
    const bool fits = !overflow && result >= INT32_MIN && result <= INT32_MAX;
    return fits ? std::optional(result) : std::nullopt;
  }

  std::optional<int64_t> known(const Expr& e, const char* what) {
    const auto result = value(e);
    if (!result) fail(fmt::format("{} is not made of constants and loop variables alone", what));
    return result;
  }

  void visit(const StmtNode& stmt) {
    if (!good_) return;
    if (const auto* block = std::get_if<Seq>(&stmt.node)) {
      for (const Stmt& inner : block->statements) visit(*inner);
    } else if (const auto* loop = std::get_if<For>(&stmt.node)) {
      const auto lo = known(loop->lo, "a loop's bound"), hi = known(loop->hi, "a loop's bound");
      for (int64_t i = lo.value_or(0); good_ && i < hi.value_or(0); ++i) {
        vars_[loop->var.at()] = i;
        visit(*loop->body);
      }
    } else if (const auto* call = std::get_if<Call>(&stmt.node)) {
      add_call(stmt, *call);
    } else if (const auto* intrinsic = std::get_if<Intrinsic>(&stmt.node)) {
      add_intrinsic(stmt, *intrinsic);
    } else {
      fail("is tiled but has statements other than loops, calls and intrinsics");
    }
    if (static_cast<int64_t>(events_.size()) > kMostEvents)
      fail("runs too many steps to be verified");
  }

  bool read_only(size_t buffer) const {
    return func_.buffers[buffer].scope == Scope::Constant ||
           (buffer < func_.parameters.size() && func_.parameters[buffer].access == Access::Read);
  }

  // Adds `count` elements from `first` on to the event.
  void access(Event& event, BufferId id, int64_t first, int64_t count, Access access,
              const std::string& who) {
    const Buffer& buffer = func_.buffer(id);
    const int64_t elements = element_count(buffer.extents), size = bits(buffer.type) / 8;
    if (first < 0 || first + count > elements)
      return fail(fmt::format("{}: elements {}..{} of '{}', which has {}", who, first,
                              first + count - 1, buffer.name, elements));
    if (access != Access::Read && read_only(id.at()))
      return fail(fmt::format("{}: '{}' is read-only but would be written", who, buffer.name));
    event.accesses.push_back({id.at(), first * size, (first + count) * size, access});
  }

  void add_call(const StmtNode& stmt, const Call& call) {
    const std::string who = fmt::format("call of '{}'", call.function);
    const Func* callee = functions_.find(call.function);
    if (callee == nullptr) return fail(fmt::format("{}: the module has no such function", who));
    if (has_calls(*callee)) return fail(fmt::format("{}: it is no kernel", who));
    if (callee->parameters.size() != call.arguments.size())
      return fail(fmt::format("{} has {} arguments for {} parameters", who, call.arguments.size(),
                              callee->parameters.size()));
    Event event{&stmt, {}};
    for (size_t i = 0; i < call.arguments.size() && good_; ++i) {
      const Buffer& parameter = callee->buffers[i];
      const Buffer& argument = func_.buffer(call.arguments[i]);
      if (parameter.type != argument.type)
        return fail(fmt::format("{}: argument '{}' has another type than '{}'", who, argument.name,
                                parameter.name));
      const auto first = call.offsets.empty() ? 0 : known(call.offsets[i], "an offset");
      if (!first) return;
      if (argument.scope != Scope::Constant &&
          *first * (bits(argument.type) / 8) % parameter.alignment != 0)
        return fail(fmt::format("{}: element {} of '{}' is not aligned to {}", who, *first,
                                argument.name, parameter.alignment));
      access(event, call.arguments[i], *first, element_count(parameter.extents),
             callee->parameters[i].access, who);
    }
    for (const Bytes& a : event.accesses)
      for (const Bytes& b : event.accesses)
        if (&a != &b && a.buffer == b.buffer && a.access != Access::Read && a.first < b.end &&
            b.first < a.end)
          return fail(fmt::format("{}: what it writes to '{}' is also another argument", who,
                                  func_.buffers[a.buffer].name));
    if (good_) events_.push_back(std::move(event));
  }

  void add_intrinsic(const StmtNode& stmt, const Intrinsic& intrinsic) {
    Event event{&stmt, {}};
    for (const auto& operand : intrinsic.operands) {
      const auto* run = std::get_if<BufferRun>(&operand);
      if (run == nullptr) {
        known(std::get<Expr>(operand), "an operand");
        continue;
      }
      int64_t first = 0;
      const Shape& extents = func_.buffer(run->buffer).extents;
      for (size_t d = 0; d < run->start.size(); ++d)
        first = first * extents[d] + known(run->start[d], "an index").value_or(0);
      if (good_) access(event, run->buffer, first, run->count, run->access, intrinsic.name);
    }
    if (good_) events_.push_back(std::move(event));
  }

  std::string name_of(const StmtNode& stmt) const {
    const auto* call = std::get_if<Call>(&stmt.node);
    return call != nullptr ? call->function : std::get<Intrinsic>(stmt.node).name;
  }

  // Bytes of local buffers and outputs that are read before anything wrote them, and bytes of outputs
  // that nobody writes.
  void find_undefined() {
    std::vector<std::vector<bool>> defined;
    for (size_t i = 0; i < func_.buffers.size(); ++i) {
      const bool is_output =
          i < func_.parameters.size() && func_.parameters[i].access == Access::Write;
      const bool undefined = is_output || func_.buffers[i].scope == Scope::Local;
      defined.emplace_back(static_cast<size_t>(func_.buffers[i].bytes()), !undefined);
    }
    for (const Event& event : events_) {
      for (const Bytes& bytes : event.accesses) {
        const auto& known = defined[bytes.buffer];
        const auto begin = known.begin() + bytes.first, end = known.begin() + bytes.end;
        if (bytes.access == Access::Read && std::find(begin, end, false) != end)
          return fail(fmt::format("{} reads bytes of '{}' that nobody wrote", name_of(*event.stmt),
                                  func_.buffers[bytes.buffer].name));
      }
      for (const Bytes& bytes : event.accesses)
        if (bytes.access != Access::Read)
          std::fill(defined[bytes.buffer].begin() + bytes.first,
                    defined[bytes.buffer].begin() + bytes.end, true);
    }
    for (size_t i = 0; i < func_.parameters.size(); ++i)
      if (func_.parameters[i].access == Access::Write &&
          std::find(defined[i].begin(), defined[i].end(), false) != defined[i].end())
        fail(fmt::format("leaves bytes of '{}' unwritten", func_.buffers[i].name));
  }

  // Every byte written to the output lies `distance` before each byte of the input that this or a later
  // event reads.
  void prove(const Overlap& overlap) {
    const auto input = static_cast<size_t>(overlap.input),
               output = static_cast<size_t>(overlap.output);
    if (func_.parameters[input].access != Access::Read ||
        func_.parameters[output].access == Access::Read)
      return fail(fmt::format("overlap {} -> {}: the input is not read or the output not written",
                              overlap.input, overlap.output));
    int64_t first_read = std::numeric_limits<int64_t>::max() / 2;
    for (auto event = events_.rbegin(); event != events_.rend(); ++event) {
      for (const Bytes& bytes : event->accesses)
        if (bytes.buffer == input) first_read = std::min(first_read, bytes.first);
      for (const Bytes& bytes : event->accesses) {
        if (bytes.buffer != output) continue;
        if (bytes.access != Access::Write)
          return fail(fmt::format("overlap {} -> {}: {} reads the output", overlap.input,
                                  overlap.output, name_of(*event->stmt)));
        if (bytes.end > first_read + overlap.distance)
          return fail(
              fmt::format("overlap {} -> {} at {}: {} writes byte {} of the output where byte {} "
                          "of the input is still to be read",
                          overlap.input, overlap.output, overlap.distance, name_of(*event->stmt),
                          bytes.end - 1, first_read));
      }
    }
  }

  const FunctionIndex functions_;
  const Func& func_;
  Diagnostics& problems_;
  std::vector<int64_t> vars_;
  std::vector<Event> events_;
  bool good_ = true;
};

}  // namespace

void verify_tiled(const Module& module, const Func& func, Diagnostics& problems) {
  TiledVerifier(module, func, problems).run();
}

}  // namespace intarsia::tir
