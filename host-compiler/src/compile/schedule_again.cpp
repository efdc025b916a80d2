#include "compile/schedule_again.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "compile/ram_budget.h"
#include "lowering/lower.h"
#include "lowering/region_of.h"
#include "plan/lifetimes.h"

namespace intarsia {
namespace {

// A schedule within a limit may need more than the limit once its buffers have addresses: it is asked for less until
// the plan fits. Few models need a second question.
constexpr int kMostAttempts = 8;

// Bytes of one access in the unit of MemoryPool::cycles_per_access.
constexpr double kBytesPerAccess = 4;

using Limits =
    std::map<std::string, int64_t>;  // bytes, by the name of a function of the partitioned module

// A lowering with its plan: for the board's memories where it fits into them, else for memories without limits.
struct LimitedPlan {
  tir::Module lowered;
  Plan plan;
  bool fits = false;
};

// A function of a device in a plan.
struct DeviceFunction {
  const graph::Function* region = nullptr;
  const Target* device = nullptr;
  plan::FunctionSteps steps;
};

// What a function does with the memory of a plan, at the step at which most bytes are alive.
struct Use {
  int64_t own = 0;     // in buffers that the function reads or writes
  int64_t beside = 0;  // in all others
};

class Analysis {
 public:
  Analysis(const CompiledProgram& program, const tir::Module& lowered, const Plan& plan)
      : lowered_(lowered), plan_(plan) {
    for (plan::FunctionSteps& steps : plan::functions_with_steps(lowered)) {
      const Target* device = program.target.device(steps.function->target);
      if (!steps.function->stepwise || device == nullptr) continue;
      const graph::Function* region = lowering::region_of(program.module, *steps.function);
      if (region != nullptr) functions_.push_back({region, device, std::move(steps)});
    }
    if (functions_.empty()) return;
    for (const plan::Group& group : plan::find_lifetimes(lowered, true).groups)
      for (const tir::BufferId buffer : group.buffers) users_[buffer.index] = group.users;
  }

  const std::vector<DeviceFunction>& functions() const { return functions_; }

  // Counting only pools that `counts` admits.
  template <typename Counts>
  Use fullest(const DeviceFunction& function, const Counts& counts) const {
    const plan::FunctionSteps& steps = function.steps;
    std::vector<Use> at(static_cast<size_t>(steps.last - steps.first + 1));
    std::vector<bool> is_counted(plan_.use.size());
    for (size_t p = 0; p < is_counted.size(); ++p) is_counted[p] = counts(plan_.memory.pools[p]);
    std::map<int32_t, std::vector<const Placement*>> groups;  // share bytes: the largest counts
    for (const Placement& placement : plan_.placements)
      if (is_counted[static_cast<size_t>(placement.pool)])
        groups[placement.group].push_back(&placement);
    for (const auto& [group, placements] : groups) {
      bool is_own = false;
      for (const Placement* placement : placements)
        is_own = is_own || steps.buffers.contains(placement->buffer.index);
      std::vector<int64_t> bytes(at.size(), 0);
      for (const Placement* placement : placements) {
        const int32_t first = std::max(placement->first_step, steps.first);
        const int32_t last = std::min(placement->last_step, steps.last);
        for (int32_t step = first; step <= last; ++step) {
          int64_t& most = bytes[static_cast<size_t>(step - steps.first)];
          most = std::max(most, placement->bytes);
        }
      }
      for (size_t step = 0; step < at.size(); ++step)
        (is_own ? at[step].own : at[step].beside) += bytes[step];
    }
    return *std::max_element(at.begin(), at.end(), [](const Use& a, const Use& b) {
      return a.own + a.beside < b.own + b.beside;
    });
  }

  // The fastest memory that the device reaches, where it has a size; else null.
  const MemoryPool* fast_pool(const Target& device) const {
    const MemoryPool* fastest = nullptr;
    for (const MemoryPool& pool : plan_.memory.pools) {
      if (pool.read_only || !plan_.memory.reaches(device.name, pool)) continue;
      if (fastest == nullptr || pool.cycles_per_access < fastest->cycles_per_access)
        fastest = &pool;
    }
    return fastest != nullptr && fastest->size > 0 ? fastest : nullptr;
  }

  // Accesses to buffers of the function that went to slower memory than the fastest that all their users reach, without
  // having asked for it: each byte is written once and read once at least. In the unit of cycles_per_access.
  double spilled_cycles(const DeviceFunction& function) const {
    double cycles = 0;
    const tir::Func& schedule = lowered_.entry_func();
    for (const Placement& placement : plan_.placements) {
      const MemoryPool& pool = plan_.memory.pools[static_cast<size_t>(placement.pool)];
      const tir::Buffer& buffer = schedule.buffer(placement.buffer);
      const bool asked_for = !buffer.memory.empty() && buffer.memory == pool.name;
      if (asked_for || buffer.alias.valid() ||
          !function.steps.buffers.contains(placement.buffer.index))
        continue;
      cycles += 2 * static_cast<double>(placement.bytes) / kBytesPerAccess *
                (pool.cycles_per_access - least_cycles(placement.buffer));
    }
    return cycles;
  }

 private:
  // Per access, of the fastest memory that all users of a buffer reach.
  int32_t least_cycles(tir::BufferId buffer) const {
    const auto users = users_.find(buffer.index);
    int32_t least = std::numeric_limits<int32_t>::max();
    for (const MemoryPool& pool : plan_.memory.pools) {
      if (pool.read_only) continue;
      const bool reached =
          users == users_.end() ||
          std::all_of(users->second.begin(), users->second.end(),
                      [&](const std::string& user) { return plan_.memory.reaches(user, pool); });
      if (reached) least = std::min(least, pool.cycles_per_access);
    }
    return least;
  }

  const tir::Module& lowered_;
  const Plan& plan_;
  std::vector<DeviceFunction> functions_;
  std::map<int32_t, std::set<std::string>>
      users_;  // of a buffer of the schedule, as plan::Group::users
};

class Rescheduling {
 public:
  Rescheduling(CompiledProgram& program, const TargetRegistry& registry,
               const LoweringOptions& options, const MemoryMap& memory,
               const PlanOptions& plan_options, bool fits_by_row_tiles)
      : program_(program),
        registry_(registry),
        options_(options),
        memory_(memory),
        roomy_(without_limits(memory)),
        plan_options_(plan_options),
        fits_by_row_tiles_(fits_by_row_tiles) {}

  Result<void> run() {
    Result<Plan> first = plan_memory(program_.lowered, memory_, plan_options_);
    if (!first.ok()) return fit(first.error());
    program_.plan = std::move(first).value();
    return keep_fast();
  }

 private:
  Result<LimitedPlan> within(const Limits& limits) const {
    LoweringOptions asked = options_;
    asked.function_limits = limits;
    LimitedPlan attempt;
    INTARSIA_TRY(attempt.lowered, lower(program_.module, registry_, program_.target, asked));
    Result<Plan> plan = plan_memory(attempt.lowered, memory_, plan_options_);
    attempt.fits = plan.ok();
    if (!plan.ok()) plan = plan_memory(attempt.lowered, roomy_, plan_options_);
    if (!plan.ok()) return plan.error();
    attempt.plan = std::move(plan).value();
    return attempt;
  }

  void adopt(LimitedPlan attempt, const Limits& limits,
             const std::map<std::string, int64_t>& before) {
    program_.lowered = std::move(attempt.lowered);
    program_.plan = std::move(attempt.plan);
    const Analysis analysis(program_, program_.lowered, program_.plan);
    const auto anywhere = [](const MemoryPool& pool) { return !pool.read_only; };
    for (const DeviceFunction& function : analysis.functions()) {
      const auto limit = limits.find(function.region->name);
      if (limit == limits.end()) continue;
      program_.scheduled_again.push_back({function.region->name, function.device->name,
                                          limit->second, before.at(function.region->name),
                                          analysis.fullest(function, anywhere).own});
    }
  }

  // What does not fit is asked for less.
  Result<void> fit(const Diagnostics& refusal) {
    const auto refused = [&]() -> Result<void> {
      INTARSIA_TRY(PlannedModel planned,
                   fit_or_refuse(refusal, program_.lowered, fits_by_row_tiles_, program_.module,
                                 registry_, program_.target, options_, memory_, plan_options_));
      program_.lowered = std::move(planned.lowered);
      program_.plan = std::move(planned.plan);
      program_.ram_budget = std::move(planned.ram_budget);
      return {};
    };
    Result<Plan> plan = plan_memory(program_.lowered, roomy_, plan_options_);
    if (!plan.ok()) return refused();
    LimitedPlan latest{program_.lowered, std::move(plan).value()};
    Limits limits;
    std::map<std::string, int64_t> before;
    for (int question = 0; question < kMostAttempts; ++question) {
      if (!ask_for_less(latest, limits, before)) return refused();
      Result<LimitedPlan> attempt = within(limits);
      if (!attempt.ok()) return refused();
      if (attempt->fits) {
        adopt(std::move(attempt).value(), limits, before);
        return {};
      }
      // What gave all it has, or takes no limits.
      if (tir::equal(latest.lowered, attempt->lowered)) return refused();
      latest = std::move(attempt).value();
    }
    return refused();
  }

  // Lowers the limits of functions that need more than there is room for; false when there are none, or no bytes left
  // to ask for. Of a plan without limits of the memories.
  bool ask_for_less(const LimitedPlan& latest, Limits& limits,
                    std::map<std::string, int64_t>& before) const {
    const Analysis analysis(program_, latest.lowered, latest.plan);
    const auto anywhere = [](const MemoryPool& pool) { return !pool.read_only; };
    bool asks = false;
    const DeviceFunction* fullest = nullptr;
    Use most;
    for (const DeviceFunction& function : analysis.functions()) {
      const Use use = analysis.fullest(function, anywhere);
      if (use.own + use.beside > most.own + most.beside) most = use, fullest = &function;
      const int64_t room = bytes_for(*function.device) - use.beside;
      if (use.own <= room) continue;
      asks = ask(function, std::min(room, use.own - 1), use, limits, before) || asks;
    }
    // Bytes that no assignment to the memories or no order of addresses made fit: an eighth less.
    if (!asks && fullest != nullptr)
      asks = ask(*fullest, most.own - most.own / 8 - 1, most, limits, before);
    return asks;
  }

  static bool ask(const DeviceFunction& function, int64_t bytes, const Use& use, Limits& limits,
                  std::map<std::string, int64_t>& before) {
    const std::string& name = function.region->name;
    before.try_emplace(name, use.own);
    const auto known = limits.find(name);
    if (known != limits.end()) bytes = std::min(bytes, known->second - known->second / 8 - 1);
    if (bytes <= 0) return false;
    limits[name] = bytes;
    return true;
  }

  // Of the memories that the device reaches and that can be written.
  int64_t bytes_for(const Target& device) const {
    int64_t bytes = 0;
    for (const MemoryPool& pool : memory_.pools) {
      if (pool.read_only || !memory_.reaches(device.name, pool)) continue;
      if (pool.size == 0) return std::numeric_limits<int64_t>::max() / 2;
      bytes += pool.size;
    }
    return bytes;
  }

  // What fits, but partly in slower memory than the device would have: whether a schedule that needs less of the fast
  // one takes less time. Refuses nothing.
  Result<void> keep_fast() {
    Limits limits;
    std::map<std::string, int64_t> before;
    const Analysis analysis(program_, program_.lowered, program_.plan);
    double spilled = 0;
    for (const DeviceFunction& function : analysis.functions()) {
      const double cycles = analysis.spilled_cycles(function);
      if (cycles <= 0) continue;
      const MemoryPool* fast = analysis.fast_pool(*function.device);
      if (fast == nullptr) continue;
      const auto in_fast = [&](const MemoryPool& pool) { return pool.name == fast->name; };
      const auto anywhere = [](const MemoryPool& pool) { return !pool.read_only; };
      const int64_t room = fast->size - analysis.fullest(function, in_fast).beside;
      if (room <= 0) continue;
      spilled += cycles;
      limits[function.region->name] = room;
      before[function.region->name] = analysis.fullest(function, anywhere).own;
    }
    if (limits.empty()) return {};
    Result<LimitedPlan> attempt = within(limits);
    if (!attempt.ok() || !attempt->fits) return {};
    const Analysis again(program_, attempt->lowered, attempt->plan);
    double still_spilled = 0, longer = 0;
    for (const DeviceFunction& function : again.functions()) {
      if (!limits.contains(function.region->name)) continue;
      still_spilled += again.spilled_cycles(function);
      longer += cycles_of(function, limits) - cycles_of(function, {});
    }
    if (still_spilled + longer < spilled) adopt(std::move(attempt).value(), limits, before);
    return {};
  }

  double cycles_of(const DeviceFunction& function, const Limits& limits) const {
    LoweringOptions asked = options_;
    asked.function_limits = limits;
    return registry_.kind_of(*function.device)
        .cost(*function.device, program_.module, *function.region, asked)
        .cycles;
  }

  static MemoryMap without_limits(MemoryMap memory) {
    for (MemoryPool& pool : memory.pools)
      if (!pool.read_only) pool.size = 0;
    return memory;
  }

  CompiledProgram& program_;
  const TargetRegistry& registry_;
  const LoweringOptions& options_;
  const MemoryMap& memory_;
  const MemoryMap roomy_;
  const PlanOptions& plan_options_;
  const bool fits_by_row_tiles_;
};

}  // namespace

Result<void> plan_or_schedule_again(CompiledProgram& program, const TargetRegistry& registry,
                                    const LoweringOptions& options, const MemoryMap& memory,
                                    const PlanOptions& plan_options, bool fits_by_row_tiles) {
  INTARSIA_TRY_VOID(
      Rescheduling(program, registry, options, memory, plan_options, fits_by_row_tiles).run());
  if (fits_by_row_tiles && !program.ram_budget) program.ram_budget = within_memory(program.plan);
  return {};
}

}  // namespace intarsia
