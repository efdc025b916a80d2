#include "lower.h"

#include <algorithm>
#include <utility>

#include "encode/to_tir.h"
#include "hardware/hardware.h"
#include "hardware/memory_systems.h"
#include "intarsia/plugin/check.h"
#include "legalise/legalise.h"
#include "schedule/scheduler.h"

namespace intarsia::targets::ethos_u {

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

Result<Scheduled> schedule_function(const Target& device, const graph::Module& module,
                                    const graph::Function& function,
                                    const LoweringOptions& options) {
  ScheduleOptions schedule_options;
  schedule_options.memory = memory_system_of(device);
  schedule_options.for_size = options.optimise == LoweringOptions::Optimise::Size;
  const std::optional<int64_t> allowed = sram_limit_of(device);
  schedule_options.sram_limit = allowed;
  schedule_options.on_progress = options.on_progress;
  // The fast copy's memory is as large as the board's.
  if (is_dedicated(device) && options.memory != nullptr)
    if (const int32_t pool = fast_pool(device, *options.memory); pool >= 0)
      if (const int64_t size = options.memory->pools[static_cast<size_t>(pool)].size; size > 0)
        schedule_options.memory.cache_bytes = size;
  const Hardware& hardware = hardware_of(device);
  const bool confirmed_only = device.get_bool("confirmed-only");
  const auto wanted = options.function_limits.find(function.name);
  if (wanted != options.function_limits.end() &&
      wanted->second < allowed.value_or(wanted->second + 1)) {
    schedule_options.sram_limit = wanted->second;
    Result<Scheduled> within =
        best_schedule(hardware, module, function, schedule_options, confirmed_only);
    if (within.ok()) return within;
    // Not to be had: as little as there is, within what is allowed.
    schedule_options.sram_limit = allowed;
    schedule_options.for_size = true;
  }
  return best_schedule(hardware, module, function, schedule_options, confirmed_only);
}

}  // namespace

Result<double> scheduled_cycles(const Target& device, const graph::Module& module,
                                const graph::Function& function, const LoweringOptions& options) {
  INTARSIA_TRY(const Scheduled made, schedule_function(device, module, function, options));
  return made.schedule.cycles;
}

Result<tir::LoweredFunction> lower(const Target& device, const graph::Module& module,
                                   const graph::Function& function,
                                   const LoweringOptions& options) {
  INTARSIA_TRY(const Scheduled made, schedule_function(device, module, function, options));
  // Feature maps that are not to take the fast memory say so, or the planner would put them there.
  std::string slow;
  if (is_dedicated(device) && options.memory != nullptr)
    if (const int32_t pool = slow_pool(device, *options.memory); pool >= 0)
      slow = options.memory->pools[static_cast<size_t>(pool)].name;
  return to_tir(hardware_of(device), function, made.program, made.schedule, slow);
}

}  // namespace intarsia::targets::ethos_u
