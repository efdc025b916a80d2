#include "plan/lifetimes.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace intarsia::plan {
namespace {

using tir::BufferId;

tir::BufferId alias_root(const tir::Func& schedule, BufferId id) {
  while (schedule.buffer(id).alias.valid()) id = schedule.buffer(id).alias;
  return id;
}

bool needs_memory(const tir::Buffer& buffer) {
  return buffer.scope == tir::Scope::Parameter || buffer.scope == tir::Scope::Local;
}

// Groups before any in-place decision: one per alias root, in buffer order. `group_of` per buffer.
Lifetimes group_aliases(const tir::Func& schedule, std::vector<int>& group_of) {
  Lifetimes result;
  group_of.assign(schedule.buffers.size(), -1);
  for (size_t i = 0; i < schedule.buffers.size(); ++i) {
    const tir::Buffer& buffer = schedule.buffers[i];
    if (!needs_memory(buffer)) continue;
    const BufferId id{static_cast<int32_t>(i)};
    const BufferId root = alias_root(schedule, id);
    if (root == id) {
      group_of[i] = static_cast<int>(result.groups.size());
      result.groups.emplace_back();
      result.groups.back().first_step = -1;
    } else {
      group_of[i] = group_of[root.at()];
    }
    Group& group = result.groups[static_cast<size_t>(group_of[i])];
    group.buffers.push_back(id);
    group.bytes = std::max(group.bytes, buffer.bytes());
    group.alignment = std::max(group.alignment, buffer.alignment);
  }
  return result;
}

void find_steps(const tir::Module& module, const tir::Func& schedule,
                const std::vector<tir::Call>& calls, const std::vector<int>& group_of,
                Lifetimes& lifetimes) {
  for (size_t step = 0; step < calls.size(); ++step) {
    const tir::Func* callee = module.find(calls[step].function);
    for (const BufferId id : calls[step].arguments) {
      if (group_of[id.at()] < 0) continue;
      Group& group = lifetimes.groups[static_cast<size_t>(group_of[id.at()])];
      if (group.first_step < 0) group.first_step = static_cast<int32_t>(step);
      group.last_step = static_cast<int32_t>(step);
      group.members.insert(callee->target);
    }
  }
  const int32_t last = std::max<int32_t>(0, static_cast<int32_t>(calls.size()) - 1);
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
  for (Group& group : lifetimes.groups)
    if (group.first_step < 0 && !group.holds_output) group.buffers.clear();  // nobody uses it
  for (Group& group : lifetimes.groups) group.first_step = std::max(group.first_step, 0);
  lifetimes.steps = static_cast<int32_t>(calls.size());
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
  kept.members.insert(moved.members.begin(), moved.members.end());
  moved.buffers.clear();
}

void join_in_place(const tir::Module& module, const tir::Func& schedule,
                   const std::vector<tir::Call>& calls, std::vector<int>& group_of,
                   Lifetimes& lifetimes) {
  for (size_t step = 0; step < calls.size(); ++step) {
    const auto& arguments = calls[step].arguments;
    for (const tir::InPlace& pair : module.find(calls[step].function)->in_place) {
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
      const bool legal = input.last_step == static_cast<int32_t>(step) && !input.holds_output &&
                         output.first_step == static_cast<int32_t>(step) &&
                         schedule.buffer(in).bytes() == schedule.buffer(out).bytes() &&
                         only_one_in(from) && only_one_in(to);
      if (legal) join(lifetimes, group_of, from, to);
    }
  }
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
  find_steps(module, schedule, calls, group_of, lifetimes);
  if (in_place) join_in_place(module, schedule, calls, group_of, lifetimes);
  std::erase_if(lifetimes.groups, [](const Group& group) { return group.buffers.empty(); });
  return lifetimes;
}

}  // namespace intarsia::plan
