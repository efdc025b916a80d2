#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "intarsia/memory_plan.h"
#include "intarsia/plan.h"
#include "plan/lifetimes.h"

namespace intarsia {

bool MemoryMap::reaches(const std::string& member, const MemoryPool& pool) const {
  if (pool.accessible_by.empty()) return true;
  const auto found = masters.find(member);
  const std::string master = found == masters.end() ? "cpu" : found->second;
  return std::find(pool.accessible_by.begin(), pool.accessible_by.end(), master) !=
         pool.accessible_by.end();
}

const Placement* Plan::find(tir::BufferId buffer) const {
  const auto found = std::find_if(placements.begin(), placements.end(),
                                  [&](const Placement& p) { return p.buffer == buffer; });
  return found == placements.end() ? nullptr : &*found;
}

namespace {

using plan::Group;

// Pools a group may live in: the one it asks for, then the fastest first.
std::vector<int> candidate_pools(const Group& group, const MemoryMap& memory) {
  std::vector<int> pools;
  for (size_t p = 0; p < memory.pools.size(); ++p) {
    const MemoryPool& pool = memory.pools[p];
    const bool reached = std::all_of(group.members.begin(), group.members.end(),
                                     [&](const std::string& m) { return memory.reaches(m, pool); });
    if (!pool.read_only && reached) pools.push_back(static_cast<int>(p));
  }
  std::stable_sort(pools.begin(), pools.end(), [&](int a, int b) {
    const MemoryPool &x = memory.pools[static_cast<size_t>(a)],
                     &y = memory.pools[static_cast<size_t>(b)];
    const bool x_wished = x.name == group.memory, y_wished = y.name == group.memory;
    if (x_wished != y_wished) return x_wished;
    return x.cycles_per_access < y.cycles_per_access;
  });
  return pools;
}

plan::PlacementProblem problem_of(const tir::Func& schedule, const plan::Lifetimes& lifetimes,
                                  const std::vector<int>& members) {
  const std::vector<Group>& groups = lifetimes.groups;
  plan::PlacementProblem problem;
  for (const int g : members) {
    const Group& group = groups[static_cast<size_t>(g)];
    problem.buffers.push_back({schedule.buffer(group.buffers.front()).name, group.first_step,
                               group.last_step + 1, group.bytes, group.alignment, std::nullopt});
  }
  for (const plan::GroupOverlap& overlap : lifetimes.overlaps) {
    const auto low = std::find(members.begin(), members.end(), overlap.low);
    const auto high = std::find(members.begin(), members.end(), overlap.high);
    if (low != members.end() && high != members.end())
      problem.overlaps.push_back({static_cast<int32_t>(low - members.begin()),
                                  static_cast<int32_t>(high - members.begin()), overlap.distance});
  }
  return problem;
}

struct Choice {
  std::vector<std::vector<int>> candidates;  // per group
  std::vector<size_t> chosen;                // index into candidates, per group

  int pool(size_t group) const { return candidates[group][chosen[group]]; }
};

// The group to move out of a pool that is too small: of those alive at its fullest step that have
// another pool to go to, one that did not ask for this pool, and of these the one that takes most
// room. -1 when none can move.
int group_to_move(const std::vector<Group>& groups, const Choice& choice, const MemoryMap& memory,
                  int pool, int32_t steps) {
  std::vector<int64_t> change(static_cast<size_t>(steps) + 2,
                              0);  // of the live bytes, at each step
  for (size_t g = 0; g < groups.size(); ++g)
    if (choice.pool(g) == pool) {
      change[static_cast<size_t>(groups[g].first_step)] += groups[g].bytes;
      change[static_cast<size_t>(groups[g].last_step) + 1] -= groups[g].bytes;
    }
  int64_t live = 0, fullest = -1;
  int32_t fullest_step = 0;
  for (int32_t step = 0; step < std::max(steps, 1); ++step) {
    live += change[static_cast<size_t>(step)];
    if (live > fullest) fullest = live, fullest_step = step;
  }
  const auto asked = [&](size_t g) {
    return groups[g].memory == memory.pools[static_cast<size_t>(pool)].name;
  };
  int moved = -1;
  for (size_t g = 0; g < groups.size(); ++g) {
    const bool here = choice.pool(g) == pool && choice.chosen[g] + 1 < choice.candidates[g].size();
    const bool alive = groups[g].first_step <= fullest_step && fullest_step <= groups[g].last_step;
    if (!here || !alive) continue;
    const auto best = static_cast<size_t>(moved);
    if (moved < 0 ||
        std::pair(!asked(g), groups[g].bytes) > std::pair(!asked(best), groups[best].bytes))
      moved = static_cast<int>(g);
  }
  return moved;
}

Diagnostics does_not_fit(const std::string& model, const MemoryPool& pool,
                         const plan::PlacementSolution& solution) {
  return Diagnostics(
      fmt::format("{}: memory pool '{}'", model, pool.name),
      fmt::format("the activations need {} bytes, the pool has {}: {} bytes missing{}",
                  solution.peak, pool.size, solution.peak - pool.size,
                  solution.lower_bound > pool.size ? " (proven: no plan is smaller)" : ""),
      "choose a board with more memory or a smaller model");
}

// Weights and tables go to the first read-only memory, where the linker places them.
Result<void> place_constants(const tir::Module& module, Plan& plan) {
  int64_t bytes = 0;
  for (const tir::Constant& constant : module.constants)
    if (constant.use != tir::ConstantUse::Stream)
      bytes += static_cast<int64_t>(constant.bytes.size());
  for (size_t p = 0; p < plan.memory.pools.size(); ++p) {
    const MemoryPool& pool = plan.memory.pools[p];
    if (!pool.read_only) continue;
    if (pool.size > 0 && bytes > pool.size)
      return Diagnostics(
          fmt::format("{}: memory '{}'", module.name, pool.name),
          fmt::format("weights and tables need {} bytes, the memory has {}: {} bytes missing",
                      bytes, pool.size, bytes - pool.size),
          "choose a board with more flash or a smaller model");
    plan.use[p] = {bytes, bytes, true, "linker"};
    bytes = 0;  // further read-only memories stay empty
  }
  return {};
}

}  // namespace

Result<Plan> plan_memory(const tir::Module& module, const MemoryMap& memory,
                         const PlanOptions& options) {
  const tir::Func& schedule = module.entry_func();
  const plan::Lifetimes lifetimes = plan::find_lifetimes(module, options.in_place);
  const std::vector<Group>& groups = lifetimes.groups;

  Choice choice;
  choice.chosen.assign(groups.size(), 0);
  for (const Group& group : groups) {
    choice.candidates.push_back(candidate_pools(group, memory));
    if (choice.candidates.back().empty())
      return Diagnostics(
          fmt::format("{}: buffer '{}'", module.name, schedule.buffer(group.buffers.front()).name),
          fmt::format("no memory of the board is reached by all of its users ({})",
                      fmt::join(group.members, ", ")),
          "add their names to 'accessible_by' of a memory in board.json");
  }

  Plan result;
  result.memory = memory;
  result.use.resize(memory.pools.size());
  INTARSIA_TRY_VOID(place_constants(module, result));
  result.steps = lifetimes.steps;
  std::vector<int64_t> offsets(groups.size(), 0);
  std::vector<bool> solved(memory.pools.size(), false);
  for (size_t p = 0; p < memory.pools.size(); ++p) solved[p] = memory.pools[p].read_only;
  for (;;) {  // ends: each round solves a pool for good, or moves a group to a slower one
    size_t p = 0;
    while (p < memory.pools.size() && solved[p]) ++p;
    if (p == memory.pools.size()) break;
    std::vector<int> members;
    for (size_t g = 0; g < groups.size(); ++g)
      if (choice.pool(g) == static_cast<int>(p)) members.push_back(static_cast<int>(g));

    const plan::PlacementProblem problem = problem_of(schedule, lifetimes, members);
    // What must be alive together is too much already: no search needed to see it.
    const int64_t size = memory.pools[p].size;
    if (size > 0 && plan::live_bound(problem) > size) {
      const int moved = group_to_move(groups, choice, memory, static_cast<int>(p), lifetimes.steps);
      if (moved >= 0) {
        ++choice.chosen[static_cast<size_t>(moved)];
        solved[static_cast<size_t>(choice.pool(static_cast<size_t>(moved)))] = false;
        continue;
      }
    }
    INTARSIA_TRY(const plan::PlacementSolution solution,
                 plan::minimise_peak(problem, {options.search_budget, std::nullopt}));
    const Diagnostics wrong = plan::check_placement(problem, solution);
    INTARSIA_CHECK(wrong.empty(),
                   "the solver's placement passes the checker: " + wrong.to_string());

    if (size > 0 && solution.peak > size) {
      const int moved = group_to_move(groups, choice, memory, static_cast<int>(p), lifetimes.steps);
      if (moved < 0) return does_not_fit(module.name, memory.pools[p], solution);
      ++choice.chosen[static_cast<size_t>(moved)];
      solved[static_cast<size_t>(choice.pool(static_cast<size_t>(moved)))] = false;
      continue;
    }
    for (size_t i = 0; i < members.size(); ++i)
      offsets[static_cast<size_t>(members[i])] = solution.offsets[i];
    result.use[p] = {solution.peak, solution.lower_bound, solution.proven_optimal, solution.method};
    solved[p] = true;
  }

  for (size_t g = 0; g < groups.size(); ++g)
    for (const tir::BufferId id : groups[g].buffers)
      result.placements.push_back({id, choice.pool(g),
                                   offsets[g] + tir::alias_root(schedule, id).offset,
                                   schedule.buffer(id).bytes(), groups[g].first_step,
                                   groups[g].last_step, static_cast<int32_t>(g)});
  std::sort(result.placements.begin(), result.placements.end(),
            [](const Placement& a, const Placement& b) { return a.buffer < b.buffer; });
  INTARSIA_TRY_VOID(check_plan(module, result));
  return result;
}

}  // namespace intarsia
