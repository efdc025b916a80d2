#include "plan/lifetimes.h"

#include <algorithm>
#include <map>
#include <numeric>

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

std::vector<CallSteps> number_steps(const tir::Module& module, const std::vector<tir::Call>& calls) {
  std::vector<CallSteps> steps;
  int32_t next = 0;
  for (const tir::Call& call : calls) {
    steps.push_back(steps_of_call(*module.find(call.function), next));
    next = steps.back().all.last + 1;
  }
  return steps;
}

void find_steps(const tir::Module& module, const tir::Func& schedule,
                const std::vector<tir::Call>& calls, const std::vector<CallSteps>& steps,
                const std::vector<int>& group_of, Lifetimes& lifetimes) {
  for (size_t c = 0; c < calls.size(); ++c) {
    const tir::Func* callee = module.find(calls[c].function);
    for (size_t i = 0; i < calls[c].arguments.size(); ++i) {
      const int index = group_of[calls[c].arguments[i].at()];
      if (index < 0) continue;
      Group& group = lifetimes.groups[static_cast<size_t>(index)];
      const CallSteps::Span span = steps[c].arguments[i];
      group.first_step = group.first_step < 0 ? span.first : std::min(group.first_step, span.first);
      group.last_step = std::max(group.last_step, span.last);
      group.members.insert(callee->target);
    }
  }
  lifetimes.steps = steps.empty() ? 0 : steps.back().all.last + 1;
  const int32_t last = std::max<int32_t>(0, lifetimes.steps - 1);
  for (size_t i = 0; i < schedule.parameters.size(); ++i) {
    Group& group = lifetimes.groups[static_cast<size_t>(group_of[i])];
    group.members.insert("");  // the caller reads and writes it on the CPU
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
        group.members.insert("");
      }
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
  kept.members.insert(moved.members.begin(), moved.members.end());
  moved.buffers.clear();
}

void join_in_place(const tir::Module& module, const tir::Func& schedule,
                   const std::vector<tir::Call>& calls, const std::vector<CallSteps>& steps,
                   std::vector<int>& group_of, Lifetimes& lifetimes) {
  for (size_t c = 0; c < calls.size(); ++c) {
    const auto& arguments = calls[c].arguments;
    for (const tir::InPlace& pair : module.find(calls[c].function)->in_place) {
      const BufferId in = arguments[static_cast<size_t>(pair.input)];
      const BufferId out = arguments[static_cast<size_t>(pair.output)];
      const int from = group_of[in.at()], to = group_of[out.at()];
      if (from < 0 || to < 0 || from == to) continue;
      const Group& input = lifetimes.groups[static_cast<size_t>(from)];
      const Group& output = lifetimes.groups[static_cast<size_t>(to)];
      // Nothing else of the call may be in either group: f(x, x, y), or two inputs onto one output.
      const auto only_one_in = [&](int group) {
        return std::count_if(arguments.begin(), arguments.end(), [&](BufferId id) {
                 return group_of[id.at()] == group;
               }) == 1;
      };
      // Both are all of their groups: an output that is a part of an arena has its place there.
      const int64_t bytes = schedule.buffer(in).bytes();
      const bool legal = input.last_step == output.first_step &&
                         input.last_step >= steps[c].all.first &&
                         input.last_step <= steps[c].all.last && !input.holds_output &&
                         schedule.buffer(out).bytes() == bytes && input.bytes == bytes &&
                         output.bytes == bytes && only_one_in(from) && only_one_in(to);
      if (legal) join(lifetimes, group_of, from, to);
    }
  }
}

// The input's last step is the call, the output's first: nothing but the call sees both.
void find_overlaps(const tir::Module& module, const tir::Func& schedule, const std::vector<tir::Call>& calls,
                   const std::vector<CallSteps>& steps, const std::vector<int>& group_of, Lifetimes& lifetimes) {
  for (size_t c = 0; c < calls.size(); ++c)
    for (const tir::Overlap& overlap : module.find(calls[c].function)->overlaps) {
      const BufferId in = calls[c].arguments[static_cast<size_t>(overlap.input)];
      const BufferId out = calls[c].arguments[static_cast<size_t>(overlap.output)];
      const int high = group_of[in.at()], low = group_of[out.at()];
      if (high < 0 || low < 0 || high == low) continue;
      const Group& input = lifetimes.groups[static_cast<size_t>(high)];
      const Group& output = lifetimes.groups[static_cast<size_t>(low)];
      // Other members of a group begin elsewhere, or are used for something else.
      const auto mentions = [&](int group) {
        return std::count_if(calls[c].arguments.begin(), calls[c].arguments.end(),
                             [&](BufferId id) { return group_of[id.at()] == group; });
      };
      const bool alone = mentions(high) == 1 && mentions(low) == 1 && schedule.buffer(in).bytes() == input.bytes && schedule.buffer(out).bytes() == output.bytes &&
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
  std::vector<tir::Call> calls;
  const auto* sequence = std::get_if<tir::Seq>(&schedule.body->node);
  if (sequence == nullptr) {
    if (const auto* call = std::get_if<tir::Call>(&schedule.body->node)) calls.push_back(*call);
    return calls;
  }
  for (const tir::Stmt& stmt : sequence->statements)
    if (const auto* call = std::get_if<tir::Call>(&stmt->node)) calls.push_back(*call);
  return calls;
}

Lifetimes find_lifetimes(const tir::Module& module, bool in_place) {
  const tir::Func& schedule = module.entry_func();
  const std::vector<tir::Call> calls = schedule_calls(schedule);
  std::vector<int> group_of;
  Lifetimes lifetimes = group_aliases(schedule, group_of);
  const std::vector<CallSteps> steps = number_steps(module, calls);
  find_steps(module, schedule, calls, steps, group_of, lifetimes);
  if (in_place) join_in_place(module, schedule, calls, steps, group_of, lifetimes);
  if (in_place) find_overlaps(module, schedule, calls, steps, group_of, lifetimes);
  drop_empty(lifetimes);
  return lifetimes;
}

}  // namespace intarsia::plan
