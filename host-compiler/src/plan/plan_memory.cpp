#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "intarsia/memory_plan.h"
#include "intarsia/plan.h"
#include "plan/cache_lines.h"
#include "plan/constant_places.h"
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

const MemoryPool* Plan::memory_named_by(ConstantId constant) const {
  const auto found =
      std::ranges::lower_bound(constants, constant, {}, &ConstantPlacement::constant);
  if (found == constants.end() || found->constant != constant) return nullptr;
  const MemoryPool& pool = memory.pools[static_cast<size_t>(found->pool)];
  return pool.constants_order > 0 ? &pool : nullptr;
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

// What the activations leave of a memory that holds constants as well: blocks begin at a multiple of the plan's alignment.
int64_t left_for_constants(const Plan& plan, size_t p) {
  const MemoryPool& pool = plan.memory.pools[p];
  if (pool.size == 0) return std::numeric_limits<int64_t>::max();
  const int64_t activations = pool.read_only ? 0 : plan.use[p].peak;
  const int64_t lost = activations > 0 ? std::max(plan.alignment, pool.alignment) : 0;
  return std::max<int64_t>(0, pool.size - activations - lost);
}

// Gives every constant that C reads a memory; says nothing where nobody has said which memories there are.
Result<void> add_constants(const tir::Module& module, const plan::ConstantsToPlace& constants,
                           Plan& plan) {
  const std::vector<int32_t> pools = plan::pools_of_constants(plan.memory);
  for (size_t p = 0; p < plan.memory.pools.size(); ++p)
    if (plan.memory.pools[p].read_only) plan.use[p] = {0, 0, true, "linker"};
  if (pools.empty()) return {};
  std::vector<int64_t> capacities;
  for (const int32_t p : pools)
    capacities.push_back(left_for_constants(plan, static_cast<size_t>(p)));
  const auto memories = plan::place_constants(constants.sizes, capacities);
  if (!memories) return plan::constants_too_large(module, plan, pools, capacities);
  for (size_t i = 0; i < memories->size(); ++i) {
    const int32_t p = pools[static_cast<size_t>((*memories)[i])];
    plan.constants.push_back({constants.ids[i], p, constants.sizes[i].reads});
    plan.use[static_cast<size_t>(p)].constant_bytes +=
        plan::constant_room(constants.sizes[i].bytes);
  }
  for (size_t p = 0; p < plan.use.size(); ++p)
    if (plan.memory.pools[p].read_only)
      plan.use[p].peak = plan.use[p].lower_bound = plan.use[p].constant_bytes;
  return {};
}

// The plan of the activations, and nothing else.
Result<Plan> plan_activations(const tir::Module& module, const MemoryMap& memory,
                              const plan::Lifetimes& lifetimes, const PlanOptions& options) {
  const tir::Func& schedule = module.entry_func();
  const std::vector<Group>& groups = lifetimes.groups;
  Plan result;
  result.memory = memory;
  result.use.resize(memory.pools.size());
  result.steps = lifetimes.steps;
  for (const Group& group : groups) result.alignment = std::max(result.alignment, group.alignment);
  INTARSIA_TRY(auto candidates, candidates_of(module, memory, lifetimes, result.alignment));
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
  return result;
}

// The memories less the constants of the plan. What has nothing left is not for activations any more.
MemoryMap beside_constants(const Plan& constants) {
  MemoryMap memory = constants.memory;
  for (size_t p = 0; p < memory.pools.size(); ++p) {
    MemoryPool& pool = memory.pools[p];
    const int64_t bytes = constants.use[p].constant_bytes;
    if (pool.read_only || pool.size == 0 || bytes == 0) continue;
    pool.size -= bytes + std::max(constants.alignment, pool.alignment);
    if (pool.size <= 0) pool.read_only = true, pool.size = 0;
  }
  return memory;
}

}  // namespace

Result<Plan> plan_memory(const tir::Module& module, const MemoryMap& memory,
                         const PlanOptions& options) {
  if (options.on_progress) options.on_progress({"planning memory"});
  plan::Lifetimes lifetimes = plan::find_lifetimes(module, options.in_place);
  plan::keep_cache_lines(module, memory, lifetimes);
  const plan::ConstantsToPlace constants = plan::constants_of(module, memory);
  // By themselves first: what the memories cannot hold at all needs no search.
  Plan alone;
  alone.memory = memory;
  alone.use.resize(memory.pools.size());
  for (const Group& group : lifetimes.groups)
    alone.alignment = std::max(alone.alignment, group.alignment);
  INTARSIA_TRY_VOID(add_constants(module, constants, alone));

  INTARSIA_TRY(Plan result, plan_activations(module, memory, lifetimes, options));
  if (Result<void> added = add_constants(module, constants, result); !added.ok()) {
    Result<Plan> beside = plan_activations(module, beside_constants(alone), lifetimes, options);
    if (!beside.ok()) return added.error();
    result = std::move(beside).value();
    result.memory = memory;
    for (size_t p = 0; p < result.use.size(); ++p)
      if (result.use[p].method.empty()) result.use[p] = {0, 0, true, "nothing to place"};
    INTARSIA_TRY_VOID(add_constants(module, constants, result));
  }
  INTARSIA_TRY_VOID(check_plan(module, result));
  return result;
}

}  // namespace intarsia
