#include "function_schedules.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "hardware/hardware.h"
#include "hardware/memory_systems.h"
#include "legalise/legalise.h"
#include "schedule/scheduler.h"

namespace intarsia::targets::ethos_u {

namespace {

Result<Scheduled> schedule_of(const Hardware& hardware, Program program,
                              const ScheduleOptions& options) {
  INTARSIA_TRY(Schedule schedule, make_schedule(hardware, program, options));
  return Scheduled{std::move(program), std::move(schedule)};
}

// How time and memory are weighed between two ways, which are preferences and no facts of the hardware.
struct Weighing {
  double time_for_memory = 0;  // percent of time for each of memory
  int64_t least = 1;           // bytes; what is less is no less
  double may_be_worse = 1;     // so many times as much of both may the other way take
};
// Memory that a copy of the input takes is to bring two percent of time for each of
// its own. What a network needs in any case is less, and a copy may be what makes it too large for a device.
constexpr double kTimeForCopies = 2;
// Without copied windows convolutions read their weights again for each row of windows, and the order of operations changes what can
// be fetched when. That two percent of memory are worth one of time is what holds for everything else that the scheduler weighs.
constexpr double kTimeForMemory = 0.5;
// Of an SRAM of the NPU's own less than this part is as good as none, as where copies of weights stay in it.
constexpr int64_t kPartsOfOwnMemory = 32;
// Another order is to save two percent of both, as everything does that the scheduler tries behind the plain way.
constexpr double kWorthAnOrder = 1.02;

bool is_better(const Schedule& one, const Schedule& other, const ScheduleOptions& options,
               const Weighing& weighing) {
  if (options.for_size && one.fast_bytes != other.fast_bytes)
    return one.fast_bytes < other.fast_bytes;
  if (options.sram_limit) return one.cycles < other.cycles;  // what is allowed may be used
  const double memory = static_cast<double>(std::max(one.fast_bytes, weighing.least)) /
                        static_cast<double>(std::max(other.fast_bytes, weighing.least));
  return one.cycles * std::pow(memory, weighing.time_for_memory) <
         weighing.may_be_worse * other.cycles;
}

// What time alone would choose of both ways.
std::optional<Schedule::Faster> faster_of(const Schedule& one, const Schedule& other,
                                          const ScheduleOptions& options,
                                          const Weighing& weighing) {
  const auto alone = [](const Schedule& of) {
    Schedule result;
    result.cycles = of.faster ? of.faster->cycles : of.cycles;
    result.fast_bytes = of.faster ? of.faster->fast_bytes : of.fast_bytes;
    return result;
  };
  const Schedule first = alone(one), second = alone(other);
  const Schedule& best = is_better(second, first, options, weighing) ? second : first;
  return Schedule::Faster{best.cycles, best.fast_bytes};
}

Result<Scheduled> better_of(Result<Scheduled> one, Result<Scheduled> other,
                            const ScheduleOptions& options, const Weighing& weighing) {
  if (!other.ok()) return one;
  if (!one.ok()) return other;
  const std::optional<Schedule::Faster> faster =
      faster_of(one->schedule, other->schedule, options, weighing);
  const bool is_other = is_better(other->schedule, one->schedule, options, weighing);
  Scheduled chosen = is_other ? std::move(other).value() : std::move(one).value();
  const bool is_much = kMuchFaster * faster->cycles < chosen.schedule.cycles;
  chosen.schedule.faster = is_much ? faster : std::nullopt;
  return chosen;
}

// Windows that overlap in memory save or cost time depending on where the input lies, products of several steps take memory, and
// parts that are made early change what constants have room beside them: both ways are scheduled.
Result<Scheduled> best_schedule(const Hardware& hardware, const graph::Module& module,
                                const graph::Function& function, const ScheduleOptions& options,
                                LegaliseOptions how) {
  if (how.confirmed_only) {
    how.may_gather = how.may_look_ahead = false;
    Program program = legalise(module, function, how);
    program.confirmed_only = true;
    return schedule_of(hardware, std::move(program), options);
  }
  Program program = legalise(module, function, how);
  const bool has_plain_way = program.gathers || program.looks_ahead;
  const double time_for_memory = program.copies_windows ? kTimeForMemory : kTimeForCopies;
  const bool has_late_parts = program.parts_are_early;
  Result<Scheduled> best = schedule_of(hardware, std::move(program), options);
  if (has_late_parts) {
    how.may_make_parts_early = false;
    const bool has_own = options.memory.arena != options.memory.cache;
    best = better_of(std::move(best),
                     schedule_of(hardware, legalise(module, function, how), options), options,
                     {kTimeForMemory, has_own ? options.memory.cache_bytes / kPartsOfOwnMemory : 1,
                      kWorthAnOrder});
    how.may_make_parts_early = !best.ok() || best->program.parts_are_early;
  }
  if (!has_plain_way) return best;
  how.may_gather = how.may_look_ahead = false;
  return better_of(std::move(best), schedule_of(hardware, legalise(module, function, how), options),
                   options, {time_for_memory});
}

// What a schedule follows from beside the function and the device.
struct Asked {
  ScheduleOptions options;
  std::optional<int64_t>
      preferred_limit;  // below the limit of the device: to be kept where that can be had
};

Asked asked_of(const Target& device, const graph::Function& function,
               const LoweringOptions& options) {
  Asked asked;
  asked.options.memory = memory_system_of(device);
  asked.options.for_size = options.optimise == LoweringOptions::Optimise::Size;
  asked.options.for_speed = options.optimise == LoweringOptions::Optimise::Speed;
  asked.options.sram_limit = sram_limit_of(device);
  asked.options.on_progress = options.on_progress;
  asked.options.only_cycles = options.rough_cost;
  // The fast copy's memory is as large as the board's.
  if (is_dedicated(device) && options.memory != nullptr)
    if (const int32_t pool = fast_pool(device, *options.memory); pool >= 0)
      if (const int64_t size = options.memory->pools[static_cast<size_t>(pool)].size; size > 0)
        asked.options.memory.cache_bytes = size;
  const auto wanted = options.function_limits.find(function.name);
  if (wanted != options.function_limits.end() &&
      wanted->second < asked.options.sram_limit.value_or(wanted->second + 1))
    asked.preferred_limit = wanted->second;
  return asked;
}

Result<Scheduled> make_scheduled(const Target& device, const graph::Module& module,
                                 const graph::Function& function, const Asked& asked) {
  const Hardware& hardware = hardware_of(device);
  const LegaliseOptions how{
      .confirmed_only = device.get_bool("confirmed-only"),
      .rounds_sums = rounds_sums(device),
      .variables_are_fast = asked.options.memory.arena == asked.options.memory.cache,
      .may_narrow = !asked.options.for_speed || asked.options.sram_limit.has_value(),
      .micro_block = hardware.ofm_ublock};
  ScheduleOptions options = asked.options;
  if (asked.preferred_limit) {
    options.sram_limit = asked.preferred_limit;
    Result<Scheduled> within = best_schedule(hardware, module, function, options, how);
    if (within.ok()) return within;
    // Not to be had: as little as there is, within what is allowed.
    options.sram_limit = asked.options.sram_limit;
    options.for_size = true;
    options.for_speed = false;
  }
  return best_schedule(hardware, module, function, options, how);
}

// What the constants of a schedule take in memory, which is most of it.
int64_t constant_bytes(const Scheduled& made) {
  int64_t bytes = 0;
  for (const Storage& storage : made.schedule.storages) bytes += std::ssize(storage.contents);
  for (const Operation& operation : made.program.operations)
    bytes += std::ssize(operation.weights) * int64_t{sizeof(operation.weights[0])};
  return bytes;
}

}  // namespace

Result<std::shared_ptr<const Scheduled>> FunctionSchedules::of(const Target& device,
                                                               const graph::Module& module,
                                                               const graph::Function& function,
                                                               const LoweringOptions& options) {
  Asked asked = asked_of(device, function, options);
  asked.options.encoded = encoded_;
  asked.options.block_ways = block_ways_;
  if (asked.options.only_cycles) {
    // Of every operator by itself, once, and nothing is lowered from it: that would take the place of what is asked for again.
    INTARSIA_TRY(Scheduled rough, make_scheduled(device, module, function, asked));
    return std::make_shared<const Scheduled>(std::move(rough));
  }
  Known known{device,
              function,
              module.constants,
              asked.options.for_size,
              asked.options.for_speed,
              asked.options.memory.cache_bytes,
              asked.preferred_limit,
              nullptr,
              0};
  {
    const std::lock_guard lock(mutex_);
    for (const Known& other : known_)
      if (other.asks_the_same(known)) return other.made;
  }
  INTARSIA_TRY(Scheduled made, make_scheduled(device, module, function, asked));
  known.bytes = constant_bytes(made);
  known.made = std::make_shared<const Scheduled>(std::move(made));
  const std::lock_guard lock(mutex_);
  bytes_ += known.bytes;
  known_.push_back(known);
  while (known_.size() > 1 && (bytes_ > kMostBytes || known_.size() > kMostKnown)) {
    bytes_ -= known_.front().bytes;
    known_.pop_front();
  }
  return known.made;
}

std::optional<std::string> FunctionSchedules::note_on(const Target& device,
                                                      const graph::Module& module,
                                                      const graph::Function& function) {
  const std::lock_guard lock(mutex_);
  const auto is_it = [&](const Known& known) {
    return known.device == device && known.function == function &&
           known.constants == module.constants;
  };
  const auto last = std::find_if(known_.rbegin(), known_.rend(), is_it);
  if (last == known_.rend() || !last->made->schedule.faster) return std::nullopt;
  const Schedule& schedule = last->made->schedule;
  return fmt::format(
      "--optimise speed would take about {:.0f} cycles and {} bytes of fast memory, not {:.0f} and "
      "{}: weights that are read again and again would stay there",
      schedule.faster->cycles, schedule.faster->fast_bytes, schedule.cycles, schedule.fast_bytes);
}

}  // namespace intarsia::targets::ethos_u
