#include "plan/lifetimes.h"

#include <algorithm>
#include <map>

#include "tir/function_index.h"

namespace intarsia::plan {
namespace {

using tir::BufferId;

bool needs_memory(const tir::Buffer& buffer) {
  return buffer.scope == tir::Scope::Parameter || buffer.scope == tir::Scope::Local;
}

// Groups before any in-place decision: one per alias root, in buffer order. `group_of` per buffer.
Lifetimes group_aliases(const tir::Func& schedule, std::vector<int>& group_of) {
  Lifetimes result;
  group_of.assign(schedule.buffers.size(), -1);
  for (size_t i = 0; i < schedule.buffers.size(); ++i) {
    if (!needs_memory(schedule.buffers[i]) || schedule.buffers[i].alias.valid()) continue;
    group_of[i] = static_cast<int>(result.groups.size());
    result.groups.emplace_back();
    result.groups.back().first_step = -1;
  }
  for (size_t i = 0; i < schedule.buffers.size(); ++i) {
    const tir::Buffer& buffer = schedule.buffers[i];
    if (!needs_memory(buffer)) continue;
    const BufferId id{static_cast<int32_t>(i)};
    group_of[i] = group_of[tir::alias_root(schedule, id).buffer.at()];
    Group& group = result.groups[static_cast<size_t>(group_of[i])];
    group.buffers.push_back(id);
    group.bytes = std::max(group.bytes, buffer.bytes());
    group.alignment = std::max(group.alignment, buffer.alignment);
    if (group.memory.empty()) group.memory = buffer.memory;
  }
  return result;
}

// What a schedule does besides calling one function after the other. Numbers are of calls.
struct ControlFlow {
  struct Loop {
    size_t first, end;  // the calls inside
  };
  struct Condition {
    BufferId flag;
    size_t before;  // it is read before this call
  };
  std::vector<tir::Call> calls;
  std::vector<Loop> loops;  // inner ones first
  std::vector<Condition> conditions;
};

void collect(const tir::Stmt& stmt, ControlFlow& flow) {
  if (stmt == nullptr) return;
  if (const auto* call = std::get_if<tir::Call>(&stmt->node)) {
    flow.calls.push_back(*call);
  } else if (const auto* sequence = std::get_if<tir::Seq>(&stmt->node)) {
    for (const tir::Stmt& inner : sequence->statements) collect(inner, flow);
  } else if (const auto* branch = std::get_if<tir::If>(&stmt->node)) {
    if (const auto* load = std::get_if<tir::Load>(&branch->condition->node))
      flow.conditions.push_back({load->buffer, flow.calls.size()});
    collect(branch->then_body, flow);
    collect(branch->else_body, flow);
  } else if (const auto* loop = std::get_if<tir::For>(&stmt->node)) {
    const size_t first = flow.calls.size();
    collect(loop->body, flow);
    if (flow.calls.size() > first) flow.loops.push_back({first, flow.calls.size()});
  }
}

ControlFlow control_flow(const tir::Func& schedule) {
  ControlFlow flow;
  collect(schedule.body, flow);
  return flow;
}

// The steps of one call, and of them those that mention each argument.
struct CallSteps {
  struct Span {
    int32_t first = 0, last = 0;
  };
  Span all;
  std::vector<Span> arguments;
};

CallSteps steps_of_call(const tir::Func& callee, int32_t first) {
  CallSteps result;
  const auto* sequence = std::get_if<tir::Seq>(&callee.body->node);
  const bool stepwise = callee.stepwise && sequence != nullptr && !sequence->statements.empty();
  const int32_t count = stepwise ? static_cast<int32_t>(sequence->statements.size()) : 1;
  result.all = {first, first + count - 1};
  // A parameter that no statement mentions is counted for the whole call.
  result.arguments.assign(callee.parameters.size(), result.all);
  if (!stepwise) return result;
  std::vector<bool> mentioned(callee.parameters.size(), false);
  for (int32_t step = 0; step < count; ++step)
    for (const auto& operand :
         std::get<tir::Intrinsic>(sequence->statements[static_cast<size_t>(step)]->node).operands) {
      const auto* run = std::get_if<tir::BufferRun>(&operand);
      if (run == nullptr || run->buffer.at() >= mentioned.size()) continue;
      CallSteps::Span& span = result.arguments[run->buffer.at()];
      if (!mentioned[run->buffer.at()]) span.first = first + step;
      span.last = first + step;
      mentioned[run->buffer.at()] = true;
    }
  return result;
}

// The functions of calls: a module is searched by name once, however many calls there are.
std::vector<const tir::Func*> callees_of(const tir::Module& module,
                                         const std::vector<tir::Call>& calls) {
  const tir::FunctionIndex functions(module);
  std::vector<const tir::Func*> callees;
  for (const tir::Call& call : calls) callees.push_back(&functions.at(call.function));
  return callees;
}

std::vector<CallSteps> number_steps(const std::vector<const tir::Func*>& callees) {
  std::vector<CallSteps> steps;
  int32_t next = 0;
  for (const tir::Func* callee : callees) {
    steps.push_back(steps_of_call(*callee, next));
    next = steps.back().all.last + 1;
  }
  return steps;
}

// What is used inside of a loop and outside of it keeps its bytes during all iterations.
void extend_over_loops(const ControlFlow& flow, const std::vector<CallSteps>& steps,
                       Lifetimes& lifetimes) {
  for (const ControlFlow::Loop& loop : flow.loops) {
    const int32_t first = steps[loop.first].all.first, last = steps[loop.end - 1].all.last;
    for (Group& group : lifetimes.groups) {
      const bool inside = group.last_step >= first && group.first_step <= last;
      const bool outside = group.first_step < first || group.last_step > last;
      if (group.first_step < 0 || !inside || !outside) continue;
      group.first_step = std::min(group.first_step, first);
      group.last_step = std::max(group.last_step, last);
      group.crosses_loop = true;
    }
  }
}

void find_steps(const tir::Func& schedule, const ControlFlow& flow,
                const std::vector<const tir::Func*>& callees, const std::vector<CallSteps>& steps,
                const std::vector<int>& group_of, Lifetimes& lifetimes) {
  const std::vector<tir::Call>& calls = flow.calls;
  for (size_t c = 0; c < calls.size(); ++c) {
    for (size_t i = 0; i < calls[c].arguments.size(); ++i) {
      const int index = group_of[calls[c].arguments[i].at()];
      if (index < 0) continue;
      Group& group = lifetimes.groups[static_cast<size_t>(index)];
      const CallSteps::Span span = steps[c].arguments[i];
      group.first_step = group.first_step < 0 ? span.first : std::min(group.first_step, span.first);
      group.last_step = std::max(group.last_step, span.last);
      group.users.insert(callees[c]->target);
    }
  }
  lifetimes.steps = steps.empty() ? 0 : steps.back().all.last + 1;
  for (const ControlFlow::Condition& condition : flow.conditions) {
    const int index = group_of[condition.flag.at()];
    if (index < 0) continue;
    Group& group = lifetimes.groups[static_cast<size_t>(index)];
    const int32_t step =
        condition.before < steps.size() ? steps[condition.before].all.first : lifetimes.steps - 1;
    group.first_step = group.first_step < 0 ? step : std::min(group.first_step, step);
    group.last_step = std::max(group.last_step, step);
    group.users.insert("");  // the schedule reads it on the CPU
  }
  const int32_t last = std::max<int32_t>(0, lifetimes.steps - 1);
  for (size_t i = 0; i < schedule.parameters.size(); ++i) {
    Group& group = lifetimes.groups[static_cast<size_t>(group_of[i])];
    group.users.insert("");  // the caller reads and writes it on the CPU
    if (schedule.parameters[i].access == tir::Access::Read) {
      group.first_step = 0;  // filled before the first step
    } else {
      group.last_step = last;
      group.holds_output = true;
    }
  }
  // State lives before the first run and after the last.
  for (Group& group : lifetimes.groups)
    for (const BufferId id : group.buffers)
      if (schedule.buffer(id).initial) {
        group.first_step = 0, group.last_step = last;
        group.holds_output = true;
        group.users.insert("");
      }
  extend_over_loops(flow, steps, lifetimes);
  for (Group& group : lifetimes.groups)
    if (group.first_step < 0 && !group.holds_output) group.buffers.clear();  // nobody uses it
  for (Group& group : lifetimes.groups) group.first_step = std::max(group.first_step, 0);
}

// Joins `output`'s group into `input`'s.
void join(Lifetimes& lifetimes, std::vector<int>& group_of, int input, int output) {
  Group& kept = lifetimes.groups[static_cast<size_t>(input)];
  Group& moved = lifetimes.groups[static_cast<size_t>(output)];
  for (const BufferId id : moved.buffers) group_of[id.at()] = input;
  kept.buffers.insert(kept.buffers.end(), moved.buffers.begin(), moved.buffers.end());
  kept.bytes = std::max(kept.bytes, moved.bytes);
  kept.alignment = std::max(kept.alignment, moved.alignment);
  kept.last_step = moved.last_step;
  kept.holds_output |= moved.holds_output;
  if (kept.memory.empty()) kept.memory = moved.memory;
  kept.users.insert(moved.users.begin(), moved.users.end());
  moved.buffers.clear();
}

void join_in_place(const tir::Func& schedule, const std::vector<tir::Call>& calls,
                   const std::vector<const tir::Func*>& callees,
                   const std::vector<CallSteps>& steps, std::vector<int>& group_of,
                   Lifetimes& lifetimes) {
  for (size_t c = 0; c < calls.size(); ++c) {
    const auto& arguments = calls[c].arguments;
    for (const tir::InPlace& pair : callees[c]->in_place) {
      const BufferId in = arguments[static_cast<size_t>(pair.input)];
      const BufferId out = arguments[static_cast<size_t>(pair.output)];
      const int from = group_of[in.at()], to = group_of[out.at()];
      if (from < 0 || to < 0 || from == to) continue;
      const Group& input = lifetimes.groups[static_cast<size_t>(from)];
      const Group& output = lifetimes.groups[static_cast<size_t>(to)];
      // Nothing else of the call may be in either group: f(x, x, y), or two inputs onto one output.
      const auto only_one_in = [&](int group) {
        return std::count_if(arguments.begin(), arguments.end(),
                             [&](BufferId id) { return group_of[id.at()] == group; }) == 1;
      };
      // Both are all of their groups: an output that is a part of an arena has its place there.
      const int64_t bytes = schedule.buffer(in).bytes();
      const bool legal =
          input.last_step == output.first_step && input.last_step >= steps[c].all.first &&
          input.last_step <= steps[c].all.last && !input.holds_output && !input.crosses_loop &&
          !output.crosses_loop && schedule.buffer(out).bytes() == bytes && input.bytes == bytes &&
          output.bytes == bytes && only_one_in(from) && only_one_in(to);
      if (legal) join(lifetimes, group_of, from, to);
    }
  }
}

// The input's last step is the call, the output's first: nothing but the call sees both.
void find_overlaps(const tir::Func& schedule, const std::vector<tir::Call>& calls,
                   const std::vector<const tir::Func*>& callees,
                   const std::vector<CallSteps>& steps, const std::vector<int>& group_of,
                   Lifetimes& lifetimes) {
  for (size_t c = 0; c < calls.size(); ++c)
    for (const tir::Overlap& overlap : callees[c]->overlaps) {
      const BufferId in = calls[c].arguments[static_cast<size_t>(overlap.input)];
      const BufferId out = calls[c].arguments[static_cast<size_t>(overlap.output)];
      const int high = group_of[in.at()], low = group_of[out.at()];
      if (high < 0 || low < 0 || high == low) continue;
      const Group& input = lifetimes.groups[static_cast<size_t>(high)];
      const Group& output = lifetimes.groups[static_cast<size_t>(low)];
      // Other buffers of a group begin elsewhere, or are used for something else.
      const auto mentions = [&](int group) {
        return std::count_if(calls[c].arguments.begin(), calls[c].arguments.end(),
                             [&](BufferId id) { return group_of[id.at()] == group; });
      };
      const bool alone = mentions(high) == 1 && mentions(low) == 1 &&
                         schedule.buffer(in).bytes() == input.bytes &&
                         schedule.buffer(out).bytes() == output.bytes &&
                         !schedule.buffer(in).alias.valid() && !schedule.buffer(out).alias.valid();
      if (alone && !input.holds_output && input.last_step == steps[c].all.last &&
          output.first_step == steps[c].all.first)
        lifetimes.overlaps.push_back({low, high, overlap.distance});
    }
}

// Without the groups that nobody uses or that joined another one.
void drop_empty(Lifetimes& lifetimes) {
  std::vector<int> kept(lifetimes.groups.size(), -1);
  int next = 0;
  for (size_t g = 0; g < lifetimes.groups.size(); ++g)
    if (!lifetimes.groups[g].buffers.empty()) kept[g] = next++;
  for (GroupOverlap& overlap : lifetimes.overlaps) {
    overlap.low = kept[static_cast<size_t>(overlap.low)];
    overlap.high = kept[static_cast<size_t>(overlap.high)];
  }
  std::erase_if(lifetimes.groups, [](const Group& group) { return group.buffers.empty(); });
}

}  // namespace

std::vector<tir::Call> schedule_calls(const tir::Func& schedule) {
  return control_flow(schedule).calls;
}

std::vector<FunctionSteps> functions_with_steps(const tir::Module& module) {
  const std::vector<tir::Call> calls = control_flow(module.entry_func()).calls;
  const std::vector<const tir::Func*> callees = callees_of(module, calls);
  const std::vector<CallSteps> steps = number_steps(callees);
  std::vector<FunctionSteps> result;
  for (size_t i = 0; i < calls.size(); ++i) {
    FunctionSteps& each = result.emplace_back();
    each.function = callees[i];
    each.first = steps[i].all.first;
    each.last = steps[i].all.last;
    for (const BufferId id : calls[i].arguments) each.buffers.insert(id.index);
  }
  return result;
}

const tir::Func* function_at(const tir::Module& module, int32_t step) {
  const std::vector<const tir::Func*> callees =
      callees_of(module, control_flow(module.entry_func()).calls);
  const std::vector<CallSteps> steps = number_steps(callees);
  const auto found = std::find_if(steps.begin(), steps.end(),
                                  [&](const CallSteps& call) { return step <= call.all.last; });
  return found == steps.end() ? nullptr : callees[static_cast<size_t>(found - steps.begin())];
}

Lifetimes find_lifetimes(const tir::Module& module, bool in_place) {
  const tir::Func& schedule = module.entry_func();
  const ControlFlow flow = control_flow(schedule);
  std::vector<int> group_of;
  Lifetimes lifetimes = group_aliases(schedule, group_of);
  const std::vector<const tir::Func*> callees = callees_of(module, flow.calls);
  const std::vector<CallSteps> steps = number_steps(callees);
  find_steps(schedule, flow, callees, steps, group_of, lifetimes);
  if (in_place) join_in_place(schedule, flow.calls, callees, steps, group_of, lifetimes);
  // Where calls are repeated or left out, the last mention is not the last use.
  const bool straight = flow.loops.empty() && flow.conditions.empty();
  if (in_place && straight)
    find_overlaps(schedule, flow.calls, callees, steps, group_of, lifetimes);
  drop_empty(lifetimes);
  return lifetimes;
}

}  // namespace intarsia::plan
