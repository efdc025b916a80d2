#include "plan/refusal.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "plan/constant_places.h"
#include "plan/load_profile.h"

namespace intarsia::plan {
namespace {

constexpr const char* kCondition = "proven for this order of operators and these in-place pairs";
constexpr const char* kMoreMemory = "choose a board with more memory or a smaller model";

// "'conv_3'": what runs at the step.
std::string place_of_step(const tir::Module& module, int32_t step) {
  const tir::Func* func = function_at(module, step);
  if (func == nullptr) return fmt::format("step {}", step);
  return fmt::format("'{}'", func->node.empty() ? func->name : func->node);
}

struct Fullest {
  int32_t step = 0;
  int64_t bytes = 0, largest = 0;  // alive, and of one buffer
};

Fullest fullest_step(const Lifetimes& lifetimes) {
  LoadProfile profile(lifetimes.steps);
  for (const Group& group : lifetimes.groups)
    profile.add(group.first_step, group.last_step, group.bytes);
  Fullest fullest{profile.fullest_step(), profile.most(), 0};
  for (const Group& group : lifetimes.groups)
    if (group.first_step <= fullest.step && fullest.step <= group.last_step)
      fullest.largest = std::max(fullest.largest, group.bytes);
  return fullest;
}

std::string memory_text(const MemoryPool& pool) {
  return pool.size == 0 ? fmt::format("'{}'", pool.name)
                        : fmt::format("'{}' ({} bytes)", pool.name, pool.size);
}

Diagnostics one_memory(const tir::Module& module, const PoolTask& task, const PoolChoice& choice,
                       int pool, int64_t steps) {
  const MemoryPool& memory = task.memory.pools[static_cast<size_t>(pool)];
  std::vector<int> all(task.lifetimes.groups.size());
  std::iota(all.begin(), all.end(), 0);
  PlacementProblem problem = pool_problem(task, pool, all);
  const int64_t capacity = *problem.capacity;
  problem.capacity.reset();
  const Result<PlacementSolution> best = minimise_peak(problem, {steps, std::nullopt});
  if (!best.ok()) return best.error();
  const std::string lost = capacity == memory.size
                               ? ""
                               : fmt::format(", of which {} may be lost to a buffer's alignment",
                                             memory.size - capacity);
  const std::string proof =
      best->lower_bound > capacity
          ? fmt::format("{}: no plan is smaller than {}", kCondition, best->lower_bound)
          : fmt::format("the smallest plan found in {} steps of search; {} are needed at least",
                        choice.steps + best->steps, best->lower_bound);
  return Diagnostics(
      fmt::format("{}: memory pool '{}'", module.name, memory.name),
      fmt::format(
          "the activations need {} bytes, the pool has {}{}: {} bytes missing ({}); {} needs most",
          best->peak, memory.size, lost, best->peak - capacity, proof,
          place_of_step(module, fullest_step(task.lifetimes).step)),
      kMoreMemory);
}

}  // namespace

Diagnostics too_large(const tir::Module& module, const MemoryMap& memory, const Group& group,
                      const std::vector<int>& reached) {
  const int largest = *std::max_element(reached.begin(), reached.end(), [&](int a, int b) {
    return memory.pools[static_cast<size_t>(a)].size < memory.pools[static_cast<size_t>(b)].size;
  });
  const MemoryPool& pool = memory.pools[static_cast<size_t>(largest)];
  return Diagnostics(
      fmt::format("{}: buffer '{}'", module.name,
                  module.entry_func().buffer(group.buffers.front()).name),
      fmt::format("has {} bytes, and '{}', the largest memory that all of its users reach, has {}",
                  group.bytes, pool.name, pool.size),
      kMoreMemory);
}

Diagnostics does_not_fit(const tir::Module& module, const PoolTask& task, const PoolChoice& choice,
                         int64_t steps) {
  std::set<int> pools;
  for (const std::vector<int>& candidates : task.candidates)
    pools.insert(candidates.begin(), candidates.end());
  if (pools.size() == 1) return one_memory(module, task, choice, *pools.begin(), steps);

  int64_t total = 0;
  bool limited = true;
  std::vector<std::string> names;
  for (const int p : pools) {
    const MemoryPool& pool = task.memory.pools[static_cast<size_t>(p)];
    names.push_back(memory_text(pool));
    limited &= pool.size > 0;
    total += pool.size;
  }
  const Fullest fullest = fullest_step(task.lifetimes);
  const std::string at = fmt::format(
      "at {}, the fullest step, buffers of {} bytes are in use at once, the largest of {}",
      place_of_step(module, fullest.step), fullest.bytes, fullest.largest);
  const auto count = task.lifetimes.groups.size();
  std::string reason;
  if (limited && task.lifetimes.overlaps.empty() && fullest.bytes > total)
    reason = fmt::format("they have {} bytes together: {} bytes missing ({}); {}", total,
                         fullest.bytes - total, kCondition, at);
  else if (choice.exhausted)
    reason = fmt::format("no assignment of the {} buffers to them fits; all were tried ({}); {}",
                         count, kCondition, at);
  else
    reason = fmt::format(
        "no assignment of the {} buffers to them was found in {} steps of search, {} were placed "
        "on trial, and one may exist; {}",
        count, choice.steps, choice.assignments, at);
  return Diagnostics(
      fmt::format("{}: memories {}", module.name, fmt::join(names, ", ")),
      "the activations do not fit: " + reason,
      choice.exhausted
          ? kMoreMemory
          : "another order of 'activations' in board.json begins the search elsewhere; "
            "else choose a board with more memory or a smaller model");
}

Diagnostics constants_too_large(const tir::Module& module, const Plan& plan,
                                const std::vector<int32_t>& pools,
                                const std::vector<int64_t>& capacities) {
  constexpr const char* kRemedy = "choose a board with more flash or a smaller model";
  int64_t bytes = 0, room = 0;
  const tir::Constant* largest = nullptr;
  for (const tir::Constant& constant : module.constants) {
    if (constant.use == tir::ConstantUse::Stream) continue;
    bytes += constant_room(static_cast<int64_t>(constant.bytes.size()));
    if (largest == nullptr || constant.bytes.size() > largest->bytes.size()) largest = &constant;
  }
  std::vector<std::string> names;
  int64_t roomiest = 0;
  for (size_t i = 0; i < pools.size(); ++i) {
    const MemoryPool& pool = plan.memory.pools[static_cast<size_t>(pools[i])];
    names.push_back(fmt::format("'{}'", pool.name));
    room = std::min(room, std::numeric_limits<int64_t>::max() - capacities[i]) + capacities[i];
    roomiest = std::max(roomiest, capacities[i]);
  }
  const bool is_shared = std::any_of(pools.begin(), pools.end(), [&](int32_t p) {
    const MemoryPool& pool = plan.memory.pools[static_cast<size_t>(p)];
    return !pool.read_only && plan.use[static_cast<size_t>(p)].peak > 0;
  });
  const std::string where = fmt::format(
      "{}: {} {}", module.name, pools.size() == 1 ? "memory" : "memories", fmt::join(names, ", "));
  const std::string has =
      fmt::format("{}{} {}", pools.size() == 1 ? "the memory has" : "together they have",
                  is_shared ? " beside the activations" : "", room);
  if (bytes > room)
    return Diagnostics(where,
                       fmt::format("weights and tables need {} bytes, {}: {} bytes missing", bytes,
                                   has, bytes - room),
                       kRemedy);
  const auto needed = constant_room(static_cast<int64_t>(largest->bytes.size()));
  if (needed > roomiest)
    return Diagnostics(
        where,
        fmt::format("the constant '{}' needs {} bytes in one memory, and none has more than {}{}",
                    largest->name, needed, roomiest, is_shared ? " beside the activations" : ""),
        kRemedy);
  return Diagnostics(where,
                     fmt::format("weights and tables need {} bytes and {}, but no division of the "
                                 "{} constants among them was found",
                                 bytes, has, module.constants.size()),
                     kRemedy);
}

}  // namespace intarsia::plan
