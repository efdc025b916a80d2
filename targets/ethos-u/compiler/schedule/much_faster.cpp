// Fast memory for constants that operations would read several times, as large kernels do: one block of the plane after the other
// takes all weights. Where memory is weighed against time they stay in slow memory.
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "schedule/constant_planner.h"

namespace intarsia::targets::ethos_u {
namespace {

using npu::PrefetchPlan;
using npu::PrefetchUnit;

// Preferences, and no facts of the hardware. Where time counts, eight percent more fast memory are worth one percent of time, and what
// is better by less than two percent is not worth it; nor is a search for slices that could save less than five.
constexpr double kMemoryPerTimeForSpeed = 8, kWorthMuch = 1.02, kMuchLessTime = 0.95;
// Latencies of short operations are more than the estimate knows: so many cycles are to be saved.
constexpr double kLeastSaved = 1000;
// Of an operation that reads its constants once, and little else beside, the port has this much to do at most, as a multiple.
constexpr double kMoreThanOnce = 1.5;
// Of what can be cut into this many slices or more, two are in fast memory at a time.
constexpr int64_t kSlicesForBuffers = 3;
constexpr int kSizesForSpeed = 8, kRoundsOfSlices = 2;

// Whether reading its constants where they are stored is what an operation takes its time for, and it reads them more than once.
bool repeats(const Operation& operation, const PrefetchUnit& unit) {
  if (unit.bytes == 0 || !has_weights(operation.kind)) return false;
  const auto port =
      static_cast<size_t>(std::max_element(unit.transfer.ports.begin(), unit.transfer.ports.end()) -
                          unit.transfer.ports.begin());
  return unit.fetched.alone() <= kMuchLessTime * unit.direct.alone() &&
         unit.direct.ports[port] >= kMoreThanOnce * unit.transfer.ports[port];
}

}  // namespace

// What one operation needs that has its constants and its maps in fast memory, of those that would read their constants several times:
// no more than what everybody takes who fetches them.
int64_t ConstantPlanner::bytes_without_repeats(const std::vector<PrefetchUnit>& units) const {
  struct Own {
    int64_t bytes = 0;
    bool repeats = false;
  };
  std::vector<Own> own(draft_.program.operations.size());
  for (size_t i = 0; i < units.size(); ++i) {
    Own& its = own[static_cast<size_t>(draft_.units[i].operation)];
    its.bytes += aligned_to_stream(units[i].bytes);
    its.repeats = its.repeats || repeats(draft_.operation(draft_.units[i]), units[i]);
  }
  int64_t most = 0;
  for (const Unit& unit : draft_.units) {
    const Own& its = own[static_cast<size_t>(unit.operation)];
    if (!its.repeats) continue;
    const bool is_cut = draft_.operation(unit).ofm.extent.depth >= kSlicesForBuffers * kBrickDepth;
    int64_t bytes = aligned_to_stream(is_cut ? its.bytes * 2 / kSlicesForBuffers : its.bytes);
    std::set<int32_t> maps = {unit.ifm.span.storage, unit.ofm.span.storage};
    if (unit.ifm2) maps.insert(unit.ifm2->span.storage);
    for (const int32_t map : maps)
      if (draft_.is_fast(map))
        bytes += aligned_to_stream(draft_.schedule.storages[static_cast<size_t>(map)].bytes);
    most = std::max(most, bytes);
  }
  const isa::ethos_u::MemorySystem& memory = draft_.options.memory;
  return memory.arena == memory.cache ? most : std::min(most, memory.cache_bytes);
}

// Looking for slices takes time: not unless operations of the plan that read their constants several times could save so much.
bool ConstantPlanner::may_be_much_faster(const PrefetchPlan& plan) {
  const std::vector<PrefetchUnit> units = prefetch_units(true);
  double saved = 0;
  for (size_t i = 0; i < units.size(); ++i) {
    const size_t owner = units[i].owner >= 0 ? static_cast<size_t>(units[i].owner) : i;
    if (!plan.fetched[owner] && repeats(draft_.operation(draft_.units[i]), units[i]))
      saved += units[i].direct.alone() - units[i].fetched.alone();
  }
  return saved >= std::max(kLeastSaved, (1 - kMuchLessTime) * plan.cycles);
}

std::optional<PrefetchPlan> ConstantPlanner::much_faster(const PrefetchPlan& plan, int64_t gaps) {
  if (!may_be_much_faster(plan)) return std::nullopt;
  const Choice before = choice();
  take_units(whole_);
  counts_.assign(whole_.size(), 1);
  const int64_t most = bytes_without_repeats(prefetch_units(false)) - gaps;
  if (most <= plan.peak_bytes) {
    take(before);
    return std::nullopt;
  }
  const auto memory_of = [&](const PrefetchPlan& one) {
    return static_cast<double>(counted(std::max<int64_t>(one.peak_bytes, 1)));
  };
  const npu::ConstantSearch search = {.least_bytes = counted(std::max<int64_t>(plan.peak_bytes, 1)),
                                      .memory_per_time = kMemoryPerTimeForSpeed,
                                      .slice_rounds = kRoundsOfSlices};
  const int64_t budgets[] = {most};
  const npu::ConstantPlan sliced = npu::plan_constants(*this, prefetch_, budgets, search);
  chain_blocks(most, sliced.prefetch);
  const std::vector<PrefetchUnit> units = prefetch_units(true);
  const auto value = [&](const PrefetchPlan& one) {
    return one.cycles * std::pow(memory_of(one) / memory_of(plan), 1 / kMemoryPerTimeForSpeed);
  };
  std::optional<PrefetchPlan> best;
  double least = plan.cycles / kWorthMuch;
  for (int size = 1; size <= kSizesForSpeed; ++size) {
    PrefetchPlan other = prefetch_.best_plan(
        units, plan.peak_bytes + (most - plan.peak_bytes) * size / kSizesForSpeed);
    if (value(other) >= least || other.cycles + kLeastSaved > plan.cycles) continue;
    least = value(other);
    best = std::move(other);
  }
  if (!best) take(before);
  return best;
}

}  // namespace intarsia::targets::ethos_u
