#include "lower.h"

#include <algorithm>
#include <utility>

#include "hardware.h"
#include "intarsia/check.h"
#include "legalise.h"
#include "scheduler.h"
#include "to_tir.h"

namespace intarsia::targets::ethos_u {

isa::ethos_u::MemorySystem memory_system_of(const Target& member) {
  const Hardware& hardware = hardware_of(member);
  const isa::ethos_u::NpuTiming* npu = isa::ethos_u::find_npu_timing(hardware.tag);
  INTARSIA_CHECK(npu != nullptr, "every configuration has a timing");
  const auto system = isa::ethos_u::memory_system(*npu, "", member.get_string("memory-mode"));
  INTARSIA_CHECK(system.has_value(), "the kind admits only memory modes of the table");
  return *system;
}

bool is_dedicated(const Target& member) {
  return member.get_string("memory-mode").starts_with("dedicated");
}

namespace {

struct Scheduled {
  Program program;
  Schedule schedule;
};

Result<Scheduled> schedule_of(const Hardware& hardware, Program program,
                              const ScheduleOptions& options) {
  INTARSIA_TRY(Schedule schedule, make_schedule(hardware, program, options));
  return Scheduled{std::move(program), std::move(schedule)};
}

bool is_better(const Schedule& one, const Schedule& other, const ScheduleOptions& options) {
  if (options.for_size && one.fast_bytes != other.fast_bytes)
    return one.fast_bytes < other.fast_bytes;
  return one.cycles < other.cycles;
}

// Windows that overlap in memory save or cost time depending on where the input lies: both ways are
// scheduled.
Result<Scheduled> best_schedule(const Hardware& hardware, const graph::Module& module,
                                const graph::Function& function, const ScheduleOptions& options,
                                bool confirmed_only) {
  if (confirmed_only) {
    Program program = legalise(module, function, false, true);
    program.confirmed_only = true;
    return schedule_of(hardware, std::move(program), options);
  }
  Program program = legalise(module, function);
  const bool gathers = program.gathers;
  Result<Scheduled> best = schedule_of(hardware, std::move(program), options);
  if (!gathers) return best;
  Result<Scheduled> plain = schedule_of(hardware, legalise(module, function, false), options);
  if (plain.ok() && (!best.ok() || is_better(plain->schedule, best->schedule, options)))
    return plain;
  return best;
}

}  // namespace

std::vector<MemoryPool> own_memories(const Target& member, const LoweringOptions& options) {
  if (!is_dedicated(member)) return {};
  const int64_t cache = memory_system_of(member).cache_bytes;
  const int64_t bytes = std::min(cache, options.sram_limit.value_or(cache));
  if (bytes <= 0) return {};  // a pool of no bytes would be one without a limit
  return {{kOwnSram, bytes, false, 1, {"ethos-u"}, static_cast<int32_t>(kStreamAlignment)}};
}

int32_t fast_pool(const Target& member, const MemoryMap& memory) {
  if (!is_dedicated(member)) return -1;
  int32_t fastest = -1;
  bool differ = false;
  for (size_t i = 0; i < memory.pools.size(); ++i) {
    const MemoryPool& pool = memory.pools[i];
    if (pool.read_only || !memory.reaches(member.name, pool)) continue;
    if (pool.name == kOwnSram) return static_cast<int32_t>(i);
    if (fastest >= 0) {
      const int32_t least = memory.pools[static_cast<size_t>(fastest)].cycles_per_access;
      differ = differ || pool.cycles_per_access != least;
      if (pool.cycles_per_access >= least) continue;
    }
    fastest = static_cast<int32_t>(i);
  }
  return differ ? fastest : -1;
}

int32_t slow_pool(const Target& member, const MemoryMap& memory) {
  const int32_t fast = fast_pool(member, memory);
  int32_t result = -1;
  for (size_t i = 0; i < memory.pools.size(); ++i) {
    const MemoryPool& pool = memory.pools[i];
    if (static_cast<int32_t>(i) == fast || pool.read_only || !memory.reaches(member.name, pool))
      continue;
    if (result < 0 ||
        pool.cycles_per_access < memory.pools[static_cast<size_t>(result)].cycles_per_access)
      result = static_cast<int32_t>(i);
  }
  return result;
}

Result<tir::LoweredFunction> lower(const Target& member, const graph::Module& module,
                                   const graph::Function& function,
                                   const LoweringOptions& options) {
  const Hardware& hardware = hardware_of(member);
  ScheduleOptions schedule_options;
  schedule_options.memory = memory_system_of(member);
  schedule_options.for_size = options.optimise == LoweringOptions::Optimise::Size;
  schedule_options.sram_limit = options.sram_limit;
  INTARSIA_TRY(const Scheduled made, best_schedule(hardware, module, function, schedule_options,
                                                   member.get_bool("confirmed-only")));
  // Feature maps that are not to take the fast memory say so, or the planner would put them there.
  std::string slow;
  if (is_dedicated(member) && options.memory != nullptr)
    if (const int32_t pool = slow_pool(member, *options.memory); pool >= 0)
      slow = options.memory->pools[static_cast<size_t>(pool)].name;
  return to_tir(hardware, function, made.program, made.schedule, slow);
}

}  // namespace intarsia::targets::ethos_u
