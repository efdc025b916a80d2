#include "intarsia/ram_budget.h"

#include <algorithm>

#include <fmt/format.h>

#include "intarsia/lower.h"

namespace intarsia {
namespace {

// The lowering knows the bytes of buffers, not what placing them wastes: it is asked for less until the
// plan is small enough. Few models need a second question.
constexpr int kMostQuestions = 8;

int64_t peak_of(const Plan& plan) {
  int64_t bytes = 0;
  for (size_t p = 0; p < plan.use.size(); ++p)
    if (!plan.memory.pools[p].read_only) bytes += plan.use[p].peak;
  return bytes;
}

// Bytes that are in use at a step.
int64_t used_at(const Plan& plan, int32_t step) {
  int64_t bytes = 0;
  for (size_t pool = 0; pool < plan.use.size(); ++pool) {
    std::vector<std::pair<int64_t, int64_t>> ranges;
    for (const Placement& p : plan.placements)
      if (p.pool == static_cast<int32_t>(pool) && p.first_step <= step && step <= p.last_step)
        ranges.push_back({p.offset, p.offset + p.bytes});
    std::sort(ranges.begin(), ranges.end());
    int64_t end = 0;
    for (const auto& [first, last] : ranges) {
      bytes += std::max<int64_t>(0, last - std::max(first, end));
      end = std::max(end, last);
    }
  }
  return bytes;
}

// Of the step at which most bytes are in use.
std::string deciding_operator(const PlannedModel& model) {
  int32_t fullest = 0;
  for (int32_t step = 1; step < model.plan.steps; ++step)
    if (used_at(model.plan, step) > used_at(model.plan, fullest)) fullest = step;
  int32_t next = 0;
  const auto* schedule = std::get_if<tir::Seq>(&model.lowered.entry_func().body->node);
  if (schedule == nullptr) return model.lowered.entry;
  for (const tir::Stmt& stmt : schedule->statements) {
    const tir::Func* callee = model.lowered.find(std::get<tir::Call>(stmt->node).function);
    const auto* commands = callee->stepwise ? std::get_if<tir::Seq>(&callee->body->node) : nullptr;
    next += commands != nullptr
                ? std::max<int32_t>(1, static_cast<int32_t>(commands->statements.size()))
                : 1;
    if (fullest < next) return callee->node.empty() ? callee->name : callee->node;
  }
  return model.lowered.entry;
}

struct Planner {
  const graph::Module& partitioned;
  const TargetRegistry& registry;
  const TargetSpec& target;
  const LoweringOptions& options;
  const MemoryMap& memory;
  const PlanOptions& plan_options;

  Result<PlannedModel> with(std::optional<int64_t> ram_budget) const {
    LoweringOptions asked = options;
    asked.ram_budget = ram_budget;
    PlannedModel model;
    INTARSIA_TRY(model.lowered, lower(partitioned, registry, target, asked));
    INTARSIA_TRY(model.plan, plan_memory(model.lowered, memory, plan_options));
    return model;
  }
};

std::vector<std::string> striped_in(const tir::Module& module) {
  std::vector<std::string> striped;
  for (const tir::Func& func : module.funcs)
    if (func.striped) striped.push_back(func.origin);
  return striped;
}

}  // namespace

Result<PlannedModel> lower_and_plan(const graph::Module& partitioned,
                                    const TargetRegistry& registry, const TargetSpec& target,
                                    const LoweringOptions& options, const MemoryMap& memory,
                                    const PlanOptions& plan_options) {
  const Planner planner{partitioned, registry, target, options, memory, plan_options};
  if (!options.ram_budget) return planner.with(std::nullopt);

  const int64_t budget = *options.ram_budget;
  MemoryMap unlimited = memory;  // how much it would be does not depend on what there is
  for (MemoryPool& pool : unlimited.pools)
    if (!pool.read_only) pool.size = 0;
  std::optional<int64_t> before;
  int64_t asked = budget;
  for (int question = 1;; ++question) {
    const bool is_last = question == kMostQuestions || asked == 0;
    INTARSIA_TRY(PlannedModel model, planner.with(is_last ? 0 : asked));
    std::vector<std::string> striped = striped_in(model.lowered);
    if (striped.empty()) before = peak_of(model.plan);
    if (!before) {
      const Planner anywhere{partitioned, registry, target, options, unlimited, plan_options};
      INTARSIA_TRY(const PlannedModel whole, anywhere.with(std::nullopt));
      before = peak_of(whole.plan);
      if (*before <= budget) {  // the plan shares more than the lowering knew
        INTARSIA_TRY(model, planner.with(std::nullopt));
        striped.clear();
      }
    }
    const int64_t peak = peak_of(model.plan);
    if (peak <= budget) {
      model.ram_budget = {budget, *before, peak, std::move(striped)};
      return model;
    }
    if (is_last)
      return Diagnostics(fmt::format("{}: RAM budget of {} bytes", partitioned.name, budget),
                         fmt::format("cannot be met: the least is {} bytes, which '{}' decides",
                                     peak, deciding_operator(model)),
                         fmt::format("--ram-budget {}", peak));
    asked = std::max<int64_t>(0, asked - (peak - budget));
  }
}

}  // namespace intarsia
