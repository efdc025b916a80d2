// Plan: where every buffer of every target lives, and the figures a firmware engineer asks for.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "intarsia/tir.h"

namespace intarsia {

// One memory of the board. `accessible_by` names "cpu" and device kinds; empty: everyone.
struct MemoryPool {
  std::string name;  // a C identifier: "ram", "dtcm"
  int64_t size = 0;  // bytes available to the model; 0: unlimited (host)
  bool read_only = false;
  int32_t cycles_per_access = 1;  // smaller is preferred
  std::vector<std::string> accessible_by;
  int32_t alignment = 16;
};

struct MemoryMap {
  std::vector<MemoryPool> pools;
  // Member of the target -> the name it has in `accessible_by`. A member not listed is the CPU.
  std::map<std::string, std::string> masters;
  // Nobody has said what the board's memories are (the development machine): targets bring those they
  // reckon with.
  bool open = false;

  bool reaches(const std::string& member, const MemoryPool& pool) const;
};

// One placed buffer of the schedule. Buffers that share bytes on purpose (aliases, in-place) have
// equal `group`.
struct Placement {
  tir::BufferId buffer;
  int32_t pool = 0;
  int64_t offset = 0, bytes = 0;
  // Inclusive. Steps are the schedule's calls in order; a call of a stepwise function has as many
  // as the function has statements.
  int32_t first_step = 0, last_step = 0;
  int32_t group = 0;
};

struct PoolUse {
  int64_t peak = 0;         // bytes needed, all placements
  int64_t lower_bound = 0;  // no plan with this grouping can use less
  bool proven_optimal = false;
  std::string method;
};

struct Plan {
  MemoryMap memory;                   // as given
  std::vector<PoolUse> use;           // one per pool of `memory`
  std::vector<Placement> placements;  // every planned buffer of the schedule
  int32_t steps = 0;

  const Placement* find(tir::BufferId buffer) const;  // null for constants
};

struct PlanOptions {
  bool in_place = true;
  int64_t search_budget = 2'000'000;  // nodes of the exact search; deterministic
};

// Plans the schedule of `module`. Refuses, with the pool and the bytes missing, what does not fit.
Result<Plan> plan_memory(const tir::Module& module, const MemoryMap& memory,
                         const PlanOptions& options = {});

// Independent of the planner: alignment, capacity, access, and that no two buffers whose lives
// overlap share bytes unless they are an alias, a proven in-place pair, or overlap as a striped function
// proves that they may. All violations together.
Result<void> check_plan(const tir::Module& module, const Plan& plan);

}  // namespace intarsia
