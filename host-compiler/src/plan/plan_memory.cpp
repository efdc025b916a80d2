#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "intarsia/memory_plan.h"
#include "intarsia/plan.h"
#include "plan/lifetimes.h"
#include "plan/pool_choice.h"
#include "plan/refusal.h"
#include "support/watched.h"

namespace intarsia {

bool MemoryMap::reaches(const std::string& member, const MemoryPool& pool) const {
  if (pool.accessible_by.empty()) return true;
  const auto found = masters.find(member);
  const std::string master = found == masters.end() ? "cpu" : found->second;
  return std::find(pool.accessible_by.begin(), pool.accessible_by.end(), master) !=
         pool.accessible_by.end();
}

MemoryMap unlimited_memory() {
  MemoryMap memory;
  memory.pools = {{"ram", 0}};
  memory.open = true;
  return memory;
}

const Placement* Plan::find(tir::BufferId buffer) const {
  const auto found =
      std::lower_bound(placements.begin(), placements.end(), buffer,
                       [](const Placement& p, tir::BufferId id) { return p.buffer < id; });
  return found == placements.end() || found->buffer != buffer ? nullptr : &*found;
}

namespace {

using plan::Group;

// Memories that all users of a group reach: the one it asks for, then the fastest first.
std::vector<int> reached_pools(const Group& group, const MemoryMap& memory) {
  std::vector<int> pools;
  for (size_t p = 0; p < memory.pools.size(); ++p) {
    const MemoryPool& pool = memory.pools[p];
    const bool reached = std::all_of(group.users.begin(), group.users.end(),
                                     [&](const std::string& m) { return memory.reaches(m, pool); });
    if (!pool.read_only && reached) pools.push_back(static_cast<int>(p));
  }
  std::stable_sort(pools.begin(), pools.end(), [&](int a, int b) {
    const MemoryPool &x = memory.pools[static_cast<size_t>(a)],
                     &y = memory.pools[static_cast<size_t>(b)];
    const bool x_requested = x.name == group.memory, y_requested = y.name == group.memory;
    if (x_requested != y_requested) return x_requested;
    return x.cycles_per_access < y.cycles_per_access;
  });
  return pools;
}

// "the CPU, npu": who has to reach a buffer.
std::string users_text(const Group& group) {
  std::vector<std::string> names;
  for (const std::string& user : group.users)
    names.push_back(user.empty() ? "the program that calls the model" : user);
  return fmt::format("{}", fmt::join(names, ", "));
}

Diagnostics not_reached(const tir::Module& module, const MemoryMap& memory, const Group& group) {
  const std::string& buffer = module.entry_func().buffer(group.buffers.front()).name;
  const bool any = std::any_of(memory.pools.begin(), memory.pools.end(),
                               [](const MemoryPool& pool) { return !pool.read_only; });
  if (!any)
    return Diagnostics(fmt::format("{}: memory", module.name),
                       "there is none that can be written, and the activations need some",
                       "name a RAM under 'activations' in board.json; in a program, "
                       "unlimited_memory() or board::memory_map() gives one");
  return Diagnostics(
      fmt::format("{}: buffer '{}'", module.name, buffer),
      fmt::format("no memory of the board is reached by all of its users ({})", users_text(group)),
      "add their names to 'accessible_by' of a memory, in board.json where the board "
      "has one");
}

// The memories each group may lie in.
Result<std::vector<std::vector<int>>> candidates_of(const tir::Module& module,
                                                    const MemoryMap& memory,
                                                    const plan::Lifetimes& lifetimes,
                                                    int32_t alignment) {
  std::vector<std::vector<int>> candidates;
  for (const Group& group : lifetimes.groups) {
    const std::vector<int> reached = reached_pools(group, memory);
    if (reached.empty()) return not_reached(module, memory, group);
    std::vector<int> roomy;
    for (const int p : reached)
      if (group.bytes <= plan::capacity_of(memory.pools[static_cast<size_t>(p)], alignment))
        roomy.push_back(p);
    if (roomy.empty() && reached.size() > 1) return plan::too_large(module, memory, group, reached);
    candidates.push_back(roomy.empty() ? reached : roomy);
  }
  return candidates;
}

// Of a memory it is known by now that everything fits: a tighter placement is a smaller figure. With more than fifty buffers,
// where a step costs more, the search for it has fewer steps than the budget, so that no compilation waits seconds for it.
// Every buffer is placed by a step: what has fewer steps than a few for each buffer tries hardly one order of them.
constexpr int64_t kMostStepsTimesBuffers = 100'000'000, kLeastStepsOfABuffer = 20;

int64_t steps_worth_their_time(int64_t buffers) {
  return std::max(kMostStepsTimesBuffers / std::max<int64_t>(buffers, 1),
                  kLeastStepsOfABuffer * buffers);
}

// Places what every memory holds as tightly as the steps allow that are left. A memory without a limit on
// its size has no placement yet.
Result<void> place_groups(const plan::PoolTask& task, const plan::PoolChoice& choice,
                          const PlanOptions& options, Plan& plan, std::vector<int64_t>& offsets) {
  const std::vector<std::vector<int>> members = plan::members_of(task, choice.pools);
  auto waiting = std::count_if(members.begin(), members.end(),
                               [](const std::vector<int>& groups) { return !groups.empty(); });
  int64_t left = std::max<int64_t>(0, options.search_budget - choice.steps);
  plan.search_steps = choice.steps;
  for (size_t p = 0; p < members.size(); ++p) {
    if (members[p].empty()) {
      if (!plan.memory.pools[p].read_only) plan.use[p] = {0, 0, true, "nothing to place"};
      continue;
    }
    plan::PlacementProblem problem = plan::pool_problem(task, static_cast<int>(p), members[p]);
    const std::optional<int64_t> capacity = std::exchange(problem.capacity, std::nullopt);
    const int64_t steps =
        std::min(left / waiting--, steps_worth_their_time(std::ssize(problem.buffers)));
    INTARSIA_TRY(plan::PlacementSolution solution,
                 plan::minimise_peak(problem, {steps, std::nullopt, options.on_progress}));
    left -= std::min(left, solution.steps);
    plan.search_steps += solution.steps;
    if (const auto& fit = choice.fits[p]; fit && fit->peak < solution.peak) {
      // Asked whether it fits, the search found what it did not find when asked for the smallest.
      solution.offsets = fit->offsets;
      solution.peak = fit->peak;
      solution.method = fit->method;
      solution.proven_optimal = solution.peak == solution.lower_bound;
    }
    problem.capacity = capacity;
    const Diagnostics wrong = plan::check_placement(problem, solution);
    INTARSIA_CHECK(wrong.empty(),
                   "the solver's placement passes the checker: " + wrong.to_string());
    plan.use[p] = {solution.peak, solution.lower_bound, solution.proven_optimal, solution.method};
    for (size_t i = 0; i < members[p].size(); ++i)
      offsets[static_cast<size_t>(members[p][i])] = solution.offsets[i];
    plan.search_ended_early |= !solution.proven_optimal;
  }
  return {};
}

// Where the linker places weights and tables: what the board says, or the first read-only memory; none: nobody has said.
std::optional<size_t> pool_of_constants(const std::vector<MemoryPool>& pools) {
  const auto first = [&](bool MemoryPool::*holds) -> std::optional<size_t> {
    for (size_t p = 0; p < pools.size(); ++p)
      if (pools[p].*holds) return p;
    return std::nullopt;
  };
  const std::optional<size_t> asked = first(&MemoryPool::holds_constants);
  return asked ? asked : first(&MemoryPool::read_only);
}

Result<void> place_constants(const tir::Module& module, Plan& plan) {
  int64_t bytes = 0;
  for (const tir::Constant& constant : module.constants)
    if (constant.use != tir::ConstantUse::Stream)
      bytes += static_cast<int64_t>(constant.bytes.size());
  for (size_t p = 0; p < plan.memory.pools.size(); ++p)
    if (plan.memory.pools[p].read_only) plan.use[p] = {0, 0, true, "linker"};
  const std::optional<size_t> place = pool_of_constants(plan.memory.pools);
  if (!place) return {};
  const MemoryPool& pool = plan.memory.pools[*place];
  if (pool.size > 0 && bytes > pool.size)
    return Diagnostics(
        fmt::format("{}: memory '{}'", module.name, pool.name),
        fmt::format("weights and tables need {} bytes, the memory has {}: {} bytes missing", bytes,
                    pool.size, bytes - pool.size),
        "choose a board with more flash or a smaller model");
  // A memory that buffers may be in as well has no figure of both.
  if (pool.read_only) plan.use[*place] = {bytes, bytes, true, "linker"};
  return {};
}

}  // namespace

Result<Plan> plan_memory(const tir::Module& module, const MemoryMap& memory,
                         const PlanOptions& options) {
  if (options.on_progress) options.on_progress({"planning memory"});
  const tir::Func& schedule = module.entry_func();
  const plan::Lifetimes lifetimes = plan::find_lifetimes(module, options.in_place);
  const std::vector<Group>& groups = lifetimes.groups;

  Plan result;
  result.memory = memory;
  result.use.resize(memory.pools.size());
  result.steps = lifetimes.steps;
  for (const Group& group : groups) result.alignment = std::max(result.alignment, group.alignment);
  INTARSIA_TRY(auto candidates, candidates_of(module, memory, lifetimes, result.alignment));
  INTARSIA_TRY_VOID(place_constants(module, result));
  const plan::PoolTask task{schedule,         lifetimes,          memory, std::move(candidates),
                            result.alignment, options.on_progress};
  // The rest of the steps makes small what fits, or says how much is missing.
  const plan::PoolChoice choice = plan::choose_pools(task, options.search_budget / 4 * 3);
  INTARSIA_TRY_VOID(watched::goes_on());
  if (choice.pools.size() != groups.size())
    return plan::does_not_fit(module, task, choice, options.search_budget - choice.steps);
  std::vector<int64_t> offsets(groups.size(), 0);
  INTARSIA_TRY_VOID(place_groups(task, choice, options, result, offsets));
  INTARSIA_TRY_VOID(watched::goes_on());

  for (size_t g = 0; g < groups.size(); ++g)
    for (const tir::BufferId id : groups[g].buffers)
      result.placements.push_back({id, choice.pools[g],
                                   offsets[g] + tir::alias_root(schedule, id).offset,
                                   schedule.buffer(id).bytes(), groups[g].first_step,
                                   groups[g].last_step, static_cast<int32_t>(g)});
  std::sort(result.placements.begin(), result.placements.end(),
            [](const Placement& a, const Placement& b) { return a.buffer < b.buffer; });
  INTARSIA_TRY_VOID(check_plan(module, result));
  return result;
}

}  // namespace intarsia
