#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "intarsia/plugin/tir_walk.h"
#include "tir/function_index.h"
#include "tir/verify_steps.h"

namespace intarsia::tir {

namespace {

class ScheduleVerifier {
 public:
  ScheduleVerifier(const Module& module, const Func& func, Diagnostics& problems)
      : functions_(module), func_(func), problems_(problems) {}

  void run() {
    if (!func_.in_place.empty())
      problems_.add(place(func_), "is a schedule and cannot be in-place");
    for (size_t i = 0; i < func_.buffers.size(); ++i)
      if (func_.buffers[i].scope == Scope::Register)
        problems_.add(place(func_), fmt::format("is a schedule and cannot have the register '{}'",
                                                func_.buffers[i].name));
    // A parameter at a place of a local buffer: what the caller wrote is there.
    for (size_t i = 0; i < func_.parameters.size(); ++i)
      if (func_.buffers[i].alias.valid() && func_.parameters[i].access != Access::Write)
        written_.insert(root({static_cast<int32_t>(i)}));
    verify_statement(func_.body);
  }

 private:
  void verify_statement(const Stmt& stmt) {
    if (stmt == nullptr) return;
    if (const auto* call = std::get_if<Call>(&stmt->node)) {
      verify_call(*call);
    } else if (const auto* sequence = std::get_if<Seq>(&stmt->node)) {
      for (const Stmt& inner : sequence->statements) verify_statement(inner);
    } else if (const auto* branch = std::get_if<If>(&stmt->node)) {
      verify_condition(branch->condition);
      verify_branch(*branch);
    } else if (const auto* loop = std::get_if<For>(&stmt->node)) {
      verify_loop(*loop);
    } else {
      problems_.add(place(func_),
                    "is a schedule but has statements other than calls, branches and loops");
    }
  }

  // Afterwards only what both branches have written has a value; what one of them has written has one
  // in the same branch of a later `if` on the same flag, as long as nobody writes the flag.
  void verify_branch(const If& branch) {
    const auto* load = std::get_if<Load>(&branch.condition->node);
    const BufferId flag = load == nullptr ? BufferId{} : root(load->buffer);
    const size_t writes = writes_[flag];
    const Decided earlier = decided_[flag];
    const std::set<BufferId> before = written_;
    written_.insert(earlier.by_then.begin(), earlier.by_then.end());
    verify_inside(branch.then_body);
    const std::set<BufferId> after_then = std::exchange(written_, before);
    written_.insert(earlier.by_else.begin(), earlier.by_else.end());
    verify_inside(branch.else_body);
    decided_.erase(flag);
    if (writes_[flag] == writes) {
      Decided now{depth_, {}, {}};
      const auto only_one = [&](const std::set<BufferId>& after, const std::set<BufferId>& other,
                                std::vector<BufferId>& found) {
        std::set_difference(after.begin(), after.end(), other.begin(), other.end(),
                            std::back_inserter(found));
      };
      only_one(after_then, written_, now.by_then);
      only_one(written_, after_then, now.by_else);
      decided_[flag] = std::move(now);
    }
    std::erase_if(written_, [&](BufferId id) { return !after_then.contains(id); });
  }

  // What is learned inside of a branch holds only there.
  void verify_inside(const Stmt& branch) {
    ++depth_;
    verify_statement(branch);
    --depth_;
    std::erase_if(decided_, [&](const auto& known) { return known.second.depth > depth_; });
  }

  void verify_condition(const Expr& condition) {
    const auto* load = std::get_if<Load>(&condition->node);
    if (load == nullptr || func_.buffer(load->buffer).type != DataType::Bool ||
        func_.buffer(load->buffer).bytes() != 1) {
      problems_.add(place(func_), "is a schedule and branches on something other than one bool");
      return;
    }
    const BufferId start = root(load->buffer);
    const bool is_input = start.at() < func_.parameters.size() &&
                          func_.parameters[start.at()].access != Access::Write;
    if (!is_input && !func_.buffer(start).initial && written_.count(start) == 0 &&
        func_.buffer(start).scope != Scope::Constant)
      problems_.add(place(func_), fmt::format("branches on '{}' before any call wrote it",
                                              func_.buffer(load->buffer).name));
  }

  void verify_loop(const For& loop) {
    const auto* lo = std::get_if<IntImm>(&loop.lo->node);
    const auto* hi = std::get_if<IntImm>(&loop.hi->node);
    if (lo == nullptr || hi == nullptr || lo->value != 0) {
      problems_.add(place(func_),
                    "is a schedule and has a loop that does not run from 0 to a constant");
      return;
    }
    const std::set<BufferId> before = written_;
    decided_.clear();  // a later iteration has other flags
    verify_statement(loop.body);
    decided_.clear();
    if (hi->value < 1) written_ = before;
  }

  BufferId root(BufferId id) const { return alias_root(func_, id).buffer; }

  void verify_call(const Call& call) {
    const std::string where = fmt::format("{}, call of '{}'", place(func_), call.function);
    const Func* callee = functions_.find(call.function);
    if (callee == nullptr) {
      problems_.add(where, "the module has no such function");
      return;
    }
    if (!call.offsets.empty()) {
      problems_.add(where, "has offsets, which only calls of a tiled function have");
      return;
    }
    if (call.arguments.size() != callee->parameters.size()) {
      problems_.add(where, fmt::format("has {} arguments for {} parameters", call.arguments.size(),
                                       callee->parameters.size()));
      return;
    }
    for (size_t i = 0; i < call.arguments.size(); ++i)
      verify_argument(where, *callee, i, call.arguments[i]);
    verify_distinct(where, *callee, call);
    for (size_t i = 0; i < call.arguments.size(); ++i)
      if (callee->parameters[i].access != Access::Read) {
        const BufferId buffer = root(call.arguments[i]);
        written_.insert(buffer);
        ++writes_[buffer];
        decided_.erase(buffer);
      }
  }

  void verify_argument(const std::string& where, const Func& callee, size_t i, BufferId id) {
    const Buffer& argument = func_.buffer(id);
    const Buffer& parameter = callee.buffers[i];
    const Access access = callee.parameters[i].access;
    const BufferId start = root(id);
    const auto fail = [&](const std::string& what) {
      problems_.add(where, fmt::format("argument '{}' {}", argument.name, what));
    };
    if (argument.bytes() != parameter.bytes() || bits(argument.type) != bits(parameter.type))
      fail(fmt::format("has {} bytes of {}, parameter '{}' {} of {}", argument.bytes(),
                       to_string(argument.type), parameter.name, parameter.bytes(),
                       to_string(parameter.type)));
    const bool is_parameter = start.at() < func_.parameters.size();
    const bool read_only = func_.buffer(start).scope == Scope::Constant ||
                           (is_parameter && func_.parameters[start.at()].access == Access::Read);
    if (access != Access::Read && read_only) fail("is read-only but would be written");
    const bool has_value = read_only || func_.buffer(start).initial || written_.count(start) != 0 ||
                           (is_parameter && func_.parameters[start.at()].access != Access::Write);
    if (access == Access::Read && !has_value) fail("is read before any call wrote it");
  }

  // Parts of one buffer may lie beside each other.
  bool share_bytes(BufferId a, BufferId b) const {
    const AliasRoot first = alias_root(func_, a), second = alias_root(func_, b);
    return first.buffer == second.buffer &&
           first.offset < second.offset + func_.buffer(b).bytes() &&
           second.offset < first.offset + func_.buffer(a).bytes();
  }

  bool is_place_of(BufferId a, BufferId b) const {
    return alias_root(func_, a).offset == alias_root(func_, b).offset;
  }

  // What is written overlaps nothing else, unless the callee is in-place in it or stepwise.
  void verify_distinct(const std::string& where, const Func& callee, const Call& call) {
    if (callee.stepwise) return;
    const auto declared = [&](size_t input, size_t output) {
      for (const InPlace& pair : callee.in_place)
        if (pair.input == static_cast<int32_t>(input) &&
            pair.output == static_cast<int32_t>(output))
          return is_place_of(call.arguments[input], call.arguments[output]);
      return false;
    };
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      if (callee.parameters[i].access == Access::Read) continue;
      for (size_t j = 0; j < call.arguments.size(); ++j) {
        const bool same = i != j && share_bytes(call.arguments[i], call.arguments[j]);
        if (same && !declared(j, i) && !declared(i, j))
          problems_.add(where,
                        fmt::format("'{}' is written and also passed as argument {}",
                                    func_.buffer(call.arguments[i]).name, j),
                        "use another buffer, or declare the callee in-place");
      }
    }
  }

  const FunctionIndex functions_;
  const Func& func_;
  Diagnostics& problems_;
  std::set<BufferId> written_;
  // Per flag: what only one branch on it has written since the flag was.
  struct Decided {
    int depth = 0;  // of branches around the `if`
    std::vector<BufferId> by_then, by_else;
  };
  std::map<BufferId, Decided> decided_;
  std::map<BufferId, size_t> writes_;  // calls that write a buffer
  int depth_ = 0;
};

}  // namespace

void verify_schedule(const Module& module, const Func& func, Diagnostics& problems) {
  ScheduleVerifier(module, func, problems).run();
}

}  // namespace intarsia::tir
