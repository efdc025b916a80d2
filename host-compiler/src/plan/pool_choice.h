// Which memory each group lies in, where the board has several: first by moving what is too much to slower
// memories, then, if that leads nowhere, by search over the assignments.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "intarsia/memory_plan.h"
#include "intarsia/plan.h"
#include "plan/lifetimes.h"

namespace intarsia::plan {

// What is to be divided among which memories. The parts must outlive it.
struct PoolTask {
  const tir::Func& schedule;
  const Lifetimes& lifetimes;
  const MemoryMap& memory;
  // Per group, the memories that all its users reach and that are large enough for it alone, the one it
  // asks for first, then the fastest. None is empty.
  std::vector<std::vector<int>> candidates;
  int32_t alignment = 16;  // of every block: Plan::alignment
  ProgressListener on_progress = {};
};

// A block begins at a multiple of `alignment`, and the memory may promise less: this many bytes are left of it.
// The largest number where the memory has no limit.
int64_t capacity_of(const MemoryPool& pool, int32_t alignment);

// The groups `members` as a problem of their own. Its capacity is that of the pool.
PlacementProblem pool_problem(const PoolTask& task, int pool, const std::vector<int>& members);

std::vector<std::vector<int>> members_of(const PoolTask& task, const std::vector<int>& pools);

struct PoolChoice {
  std::vector<int> pools;  // per group; empty when none was found
  // Per memory: its placement, within the capacity; empty where nothing lies or there is no limit.
  std::vector<std::optional<PlacementSolution>> fits;
  int64_t steps = 0;        // of the budget, used
  int64_t assignments = 0;  // whose placement was tried
  bool exhausted = false;   // none was found, and there is none
};

// `budget` counts buffers assigned or placed on trial.
PoolChoice choose_pools(const PoolTask& task, int64_t budget);

}  // namespace intarsia::plan
