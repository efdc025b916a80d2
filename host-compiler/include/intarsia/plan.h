// Plan: where every buffer of every target lives, and the figures a firmware engineer asks for.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "intarsia/plugin/progress.h"
#include "intarsia/plugin/tir.h"

namespace intarsia {

// How fast devices beside the CPU move a memory's bytes, in units that no device's clock enters.
struct MemorySpeed {
  int64_t bytes_per_second = 0;
  int64_t read_latency_ns = 0, write_latency_ns = 0;
  int64_t burst_bytes = 32;  // a shorter access takes as long
  bool operator==(const MemorySpeed&) const = default;
};

// One memory of the board. `accessible_by` names "cpu" and device kinds; empty: everyone.
struct MemoryPool {
  std::string name;  // a C identifier: "ram", "dtcm"
  int64_t size = 0;  // bytes available to the model; 0: unlimited (host)
  bool read_only = false;
  int32_t cycles_per_access = 1;  // smaller is preferred
  std::vector<std::string> accessible_by;
  // The model's bytes begin at a multiple of this power of two. A buffer that asks for more costs the bytes
  // up to the next multiple of that.
  int32_t alignment = 16;
  bool holds_constants = false;  // weights and tables of programs may be in it
  // Of the memories that hold constants: of equally fast ones the smaller number is preferred, and 0 is the memory that
  // objects are in which do not name one.
  int32_t constants_order = 0;
  std::optional<MemorySpeed> speed = {};  // where the board says
};

// The memories that a plan is made for, the preferred ones first.
struct MemoryMap {
  std::vector<MemoryPool> pools;
  // Device of the target -> the name it has in `accessible_by`. A device not listed is the CPU.
  std::map<std::string, std::string> masters;
  // Nobody has said what the board's memories are (the development machine): targets bring those they
  // reckon with.
  bool open = false;
  // Where command streams and what they read lie; nothing where nobody has said.
  std::optional<MemoryPool> streams = {};
  // Clocks of devices that the board says, by their names in `accessible_by`.
  std::map<std::string, int64_t> clocks_mhz = {};

  // Whether a device of the target reads and writes the memory.
  bool reaches(const std::string& device, const MemoryPool& pool) const;
};

// One memory "ram" without limits that everybody reaches, and what targets bring along: for figures before
// there is a board.
MemoryMap unlimited_memory();

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

// The memory of a constant that C reads.
struct ConstantPlacement {
  ConstantId constant;
  int32_t pool = 0;
  int64_t reads = 0;  // of each of its bytes in one inference, estimated
};

// What a plan takes of one memory, in bytes.
struct PoolUse {
  int64_t peak = 0;  // bytes needed, all placements; of a read-only memory: its constants
  // No plan can use less that puts the same buffers here, in the same order of operators and with the same
  // in-place pairs.
  int64_t lower_bound = 0;
  bool proven_optimal = false;  // peak == lower_bound
  std::string method;
  int64_t constant_bytes = 0;  // of weights and tables, each rounded up to kConstantAlignment
};

// What the bytes of a constant are rounded up to, since the linker may put a word behind each of them.
inline constexpr int64_t kConstantAlignment = 4;

// Where every buffer is, and when.
struct Plan {
  MemoryMap memory;                   // as given
  std::vector<PoolUse> use;           // one per pool of `memory`
  std::vector<Placement> placements;  // every planned buffer of the schedule, in order of `buffer`
  // Every constant that C reads, in their order; none where nobody has said which memory holds them.
  std::vector<ConstantPlacement> constants;
  int32_t steps = 0;
  // Every block, one per pool in use, begins at a multiple of it: the largest alignment of a buffer, and at
  // least 16.
  int32_t alignment = 16;
  int64_t search_steps = 0;         // of PlanOptions::search_budget, used
  bool search_ended_early = false;  // by that budget: a smaller plan may exist

  const Placement* find(tir::BufferId buffer) const;  // null for constants
  // The memory that the constant was given beside the one for all that say nothing; else null.
  const MemoryPool* memory_named_by(ConstantId constant) const;
};

// What the planner may do, and how long.
struct PlanOptions {
  bool in_place = true;
  // Buffers assigned to a memory or placed on trial, over the whole plan: a count, so that the same model
  // gets the same plan everywhere.
  int64_t search_budget = 2'000'000;
  ProgressListener on_progress = {};  // steps of that budget
};

// Plans the schedule of `module`. Groups of buffers go to the fastest memory that all their users reach and
// move to slower ones when it overflows; where that leads nowhere, all assignments to memories are searched.
// Constants take what is left of the memories that hold them, the most often read the fastest; where that is too little,
// they come first, and the activations take what they leave.
// Refuses what does not fit, with what is missing and what was tried.
Result<Plan> plan_memory(const tir::Module& module, const MemoryMap& memory,
                         const PlanOptions& options = {});

// Independent of the planner: alignment, capacity, access (also of the program that calls the model: to
// inputs, outputs and state), and that no two buffers whose lives overlap share bytes unless they are an
// alias, a proven in-place pair, or overlap as a tiled function proves that they may. And that every constant is in a
// memory that holds constants, with room for them beside the activations. All violations together.
Result<void> check_plan(const tir::Module& module, const Plan& plan);

}  // namespace intarsia
