#include "schedule/constant_planner.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "intarsia/npu/fast_memory_sizes.h"
#include "intarsia/plugin/rounding.h"
#include "schedule/block_chain.h"

namespace intarsia::targets::ethos_u {

using npu::PrefetchPlan;
using npu::PrefetchUnit;

namespace {

// Preferences, and no facts of the hardware: two percent more fast memory are worth one percent of time, where what is fetched
// goes again once it has been used. What stays for all steps of a recurrent layer, and most of the time is not in use, is to
// bring as many percent of time as it takes of memory, unless time alone was asked for: without it such a layer needs next to none.
constexpr double kMemoryPerTime = 2, kMemoryPerTimeOfCopies = 1;
// And what is less than this part of an SRAM of the NPU's own is no less: nobody else has it.
constexpr int64_t kPartsOfOwnMemory = 512;
// What stays there for many operations may be more: what fetches it for each of them waits each time.
constexpr int64_t kPartsForCopies = 32;
// The number of sizes of fast memory that are tried; each takes its time.
constexpr size_t kMostBudgets = 4;
// The same when the operations have been cut into slices, and nothing else changes: each takes less.
constexpr size_t kMostSliceBudgets = 16;
// Another size has to be better by what the estimate leaves open in any case.
constexpr double kWorthLess = 0.99;
// And more than is enough for the operations that set the peak by twice that, or what has fewer gaps and fetches less.
constexpr double kWorthMore = 1.02;
// Of the slices of an operation two are in fast memory at a time, one that is used and one that arrives: room for both is less
// than the whole from this number on.
constexpr int kCutForBuffers = 3;
// What a slice adds to the constants of a core: its scales and its weights end where 16 bytes do, each half of
// that away on average, and its weights begin with the header of a section.
constexpr double kSectionHeaderBytes = 4.5;
constexpr double kSliceBytes = static_cast<double>(kStreamAlignment) + kSectionHeaderBytes;
constexpr int kSliceRounds = 2;
// More slices than this are for constants whose slices still take as many times longer to come than their first byte does: what is
// shorter shows the latency of slow memory with each of them, more than the estimate knows.
constexpr int32_t kFewSlices = 6;
constexpr double kLatenciesOfSlice = 128;
constexpr int64_t kLeastSliced = 2048;  // bytes of constants
// Bytes of weights that are encoded before it is known whether they are used so.
constexpr int64_t kMostEncodedToChoose = 32 << 10;
// And of weights of all operations, where their order is open still: the blocks that suit each other may want another one.
constexpr double kMostEncodedToChain = 256 << 10;

int64_t counted_bytes(const isa::ethos_u::MemorySystem& memory, int64_t bytes,
                      int64_t parts = kPartsOfOwnMemory) {
  if (memory.arena == memory.cache) return bytes;
  return std::max(bytes, memory.cache_bytes / parts);
}

double value_of(const isa::ethos_u::MemorySystem& memory, const ConstantPlanner::Worth& worth) {
  return worth.cycles *
         std::pow(static_cast<double>(counted_bytes(memory, worth.bytes)), 1 / kMemoryPerTime);
}
double value_of_copied(const ScheduleOptions& options, const ConstantPlanner::Worth& worth) {
  return worth.cycles *
         std::pow(static_cast<double>(counted_bytes(options.memory, worth.bytes, kPartsForCopies)),
                  1 / (options.for_speed ? kMemoryPerTime : kMemoryPerTimeOfCopies));
}

// Rising, each larger than the one before by the same part, the largest among them.
std::vector<int64_t> sizes_between(int64_t least, int64_t largest, size_t count) {
  const double ratio = static_cast<double>(largest) / static_cast<double>(least);
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < count; ++i)
    sizes.push_back(static_cast<int64_t>(
        static_cast<double>(least) *
        std::pow(ratio, static_cast<double>(i) / static_cast<double>(count - 1))));
  return sizes;
}

}  // namespace

ConstantPlanner::ConstantPlanner(ScheduleDraft& draft)
    : draft_(draft),
      prefetch_({draft.hardware.outstanding_kernels, draft.hardware.outstanding_dma,
                 draft.cost.commands()}),
      streams_(draft.streams) {
  find_owners();
  plan_tables();
}

void ConstantPlanner::plan_tables() {
  TableSlots slots(draft_.hardware);
  slots_.assign(draft_.units.size(), {});
  std::vector<TableSlots::Use> uses;
  for (size_t i = 0; i < draft_.units.size(); ++i) {
    const Operation& op = draft_.operation(draft_.units[i]);
    if (op.activation != Activation::Lut) continue;
    const std::vector<uint8_t>& bytes = draft_.program.tables.at(static_cast<size_t>(op.lut)).bytes;
    uses.push_back({op.lut, std::ssize(bytes), static_cast<int32_t>(i)});
  }
  const int32_t together = tables_together();
  size_t next = 0;
  for (size_t i = 0; i < draft_.units.size(); ++i)
    if (next < uses.size() && uses[next].moment == static_cast<int32_t>(i))
      slots_[i] = slots.use(std::span(uses).subspan(next++), together);
    else
      slots.clobber(static_cast<int32_t>(i));
}

// As many of a slot each as take no longer to move than the first byte takes to come. Half of the slots at most: the other half
// is in use meanwhile. Where operations without tables write over them there are none ahead.
int32_t ConstantPlanner::tables_together() const {
  if (draft_.hardware.reserved_banks() == 0) return 1;
  constexpr auto kMost = static_cast<int32_t>(kLutBytes / kLutSlotBytes / 2);
  const auto cycles = [&](int64_t tables) {
    return draft_.cost.transfer(Memory::Constants, std::nullopt, tables * kLutSlotBytes).cycles;
  };
  const double one = cycles(2) - cycles(1), before = cycles(1) - one;
  return std::clamp(static_cast<int32_t>(before / one), 1, kMost);
}

KnownConstantStreams::key_type ConstantPlanner::stream_key(const Unit& unit,
                                                           const BlockConfig& block) const {
  // From slow memory reading takes the time, not decoding.
  const bool waits = !draft_.constants_are_slow() && decoder_sets_pace(draft_.hardware, block);
  return {unit.view, unit.first, unit.end, block.ofm.depth, block.part_kernel, waits};
}

const ConstantStream& ConstantPlanner::stream(const Unit& unit, const BlockConfig& block) {
  const KnownConstantStreams::key_type key = stream_key(unit, block);
  const bool waits = std::get<5>(key);
  const auto [place, fresh] = streams_.try_emplace(key);
  if (!fresh) return place->second;
  // Most of the time that scheduling takes is spent here. How many there will be depends on what is tried.
  if (draft_.options.on_progress)
    draft_.options.on_progress(
        {"scheduling for the NPU, weights encoded", std::ssize(streams_), 0});
  place->second =
      make_constant_stream(*draft_.options.encoded, draft_.hardware,
                           draft_.schedule.operations.at(static_cast<size_t>(unit.view)),
                           unit.ifm.type, block, unit.first, unit.end, waits);
  return place->second;
}

const ConstantStream* ConstantPlanner::known_stream(const Unit& unit) const {
  for (const BlockConfig* block : {&unit.fetched_block, &unit.direct_block})
    if (const auto found = streams_.find(stream_key(unit, *block)); found != streams_.end())
      return &found->second;
  return nullptr;
}

std::vector<ConstantPlanner::Kept> ConstantPlanner::kept() {
  std::vector<Kept> result;
  std::map<int32_t, size_t> place;  // by group
  for (size_t i = 0; i < draft_.units.size(); ++i) {
    const Unit& unit = draft_.units[i];
    if (!unit.weights_kept) continue;
    const auto [at, fresh] = place.try_emplace(unit.repeated, result.size());
    if (fresh) {
      const auto whole = static_cast<int64_t>(stream(unit, unit.fetched_block).bytes.size());
      result.push_back({unit.repeated, i, i, i, whole - unit.scale_bytes});
    }
    result[at->second].last = i;
  }
  for (Kept& one : result) {
    // Early enough that nothing waits for it.
    double cycles = draft_.cost.transfer(Memory::Constants, Memory::Cache, one.bytes).cycles;
    while (one.from > 0 && cycles > 0) cycles -= draft_.units[--one.from].fetched.alone();
  }
  return result;
}

// With the copies that stay.
std::vector<int64_t> ConstantPlanner::live_bytes(const std::vector<Kept>& kept) const {
  std::vector<int64_t> live = draft_.live_bytes();
  for (const Kept& one : kept)
    for (size_t i = one.from; i <= one.last; ++i) live[i] += aligned_to_stream(one.bytes);
  return live;
}

std::vector<PrefetchUnit> ConstantPlanner::prefetch_units(bool exact) {
  const std::vector<Kept> copies = kept();
  const std::vector<int64_t> live = live_bytes(copies);
  std::vector<PrefetchUnit> units(draft_.units.size());
  for (size_t i = 0; i < draft_.units.size(); ++i) {
    const Unit& unit = draft_.units[i];
    PrefetchUnit& out = units[i];
    out.direct = unit.direct;
    out.fetched = unit.fetched;
    out.waits = i > 0 && draft_.waits_for_last(draft_.units[i - 1], unit);
    out.live_bytes = live[i];
    out.owner = unit.owner;
    out.operation = static_cast<int32_t>(unit.operation);
    if (unit.owner >= 0) units[static_cast<size_t>(unit.owner)].last_user = static_cast<int32_t>(i);
    if (const int32_t group = draft_.group_of(unit); group >= 0 && unit.owner < 0) {
      out.bytes = draft_.schedule.storages[static_cast<size_t>(group)].bytes;
      out.transfer = draft_.cost.transfer(Memory::Constants, Memory::Cache, out.bytes);
    }
    if (unit.owner < 0) add_weights(unit, exact, out);
    out.has_table = slots_[i].load;
    if (out.has_table) {
      const auto lut = static_cast<size_t>(draft_.operation(unit).lut);
      const int64_t bytes = std::ssize(draft_.program.tables.at(lut).bytes) +
                            std::ssize(slots_[i].more) * int64_t{kLutSlotBytes};
      out.table = draft_.cost.transfer(Memory::Constants, std::nullopt, bytes);
      out.table_earliest = slots_[i].earliest;
    }
  }
  // Copies that stay come as tables do, without which a unit cannot begin.
  for (const Kept& one : copies) {
    PrefetchUnit& out = units[one.first];
    const TransferCost copy = draft_.cost.transfer(Memory::Constants, Memory::Cache, one.bytes);
    out.table.cycles += copy.cycles;
    for (size_t port = 0; port < copy.ports.size(); ++port)
      out.table.ports[port] += copy.ports[port];
    // Commands are taken as far ahead as their queue is deep.
    const int32_t issued =
        std::min(static_cast<int32_t>(one.from) + draft_.hardware.outstanding_kernels,
                 static_cast<int32_t>(one.first));
    out.table_earliest = out.has_table ? std::max(out.table_earliest, issued) : issued;
    out.has_table = true;
  }
  return units;
}

void ConstantPlanner::add_weights(const Unit& unit, bool exact, PrefetchUnit& out) {
  if (!has_weights(draft_.operation(unit).kind) || !draft_.constants_are_slow()) return;
  if (unit.weights_kept) {
    out.bytes = unit.scale_bytes;
    out.transfer = draft_.cost.transfer(Memory::Constants, Memory::Cache, out.bytes);
    return;
  }
  const bool whole = unit.end - unit.first == draft_.operation(unit).ofm.extent.depth;
  // Encoding takes time: not for what is divided or does not fit anyway, nor for many weights, of which the estimate is near.
  const bool worth_it =
      whole && !draft_.options.only_cycles &&
      unit.estimated_bytes <= std::min<int64_t>(most_budget_, kMostEncodedToChoose);
  // What another block would make of them differs by next to nothing.
  const ConstantStream* known = exact ? known_stream(unit) : nullptr;
  if (known == nullptr && (exact || worth_it)) known = &stream(unit, unit.fetched_block);
  out.bytes = known != nullptr
                  ? static_cast<int64_t>(known->bytes.size())
                  : aligned_to_stream(unit.estimated_bytes * 102 / 100 + 2 * kStreamAlignment);
  if (unit.repeated >= 0) out.bytes -= unit.scale_bytes;
  out.transfer = draft_.cost.transfer(Memory::Constants, Memory::Cache, out.bytes);
}

PrefetchPlan ConstantPlanner::choose(int64_t fetch_limit) {
  const std::vector<int64_t> live = live_bytes(kept());
  const int64_t base = live.empty() ? 0 : *std::max_element(live.begin(), live.end());
  std::vector<int64_t> budgets = {base};
  if (draft_.options.sram_limit) {
    budgets = {fetch_limit};
  } else if (!draft_.options.for_size) {
    std::vector<int64_t> constants;
    for (const Unit& unit : draft_.units)
      constants.push_back(aligned_to_stream(unit.fetched_bytes()));
    budgets = npu::fast_memory_sizes(live, constants, kMostBudgets);
    const int64_t most = std::max(base, draft_.maker.copies().most_bytes);
    for (int64_t& budget : budgets) budget = std::min(budget, most);
    budgets.erase(std::unique(budgets.begin(), budgets.end()), budgets.end());
  }
  most_budget_ = *std::max_element(budgets.begin(), budgets.end());
  whole_ = draft_.units;
  counts_.assign(whole_.size(), 1);
  const npu::ConstantSearch search = {
      .least_bytes = counted(base),
      .memory_per_time = kMemoryPerTime,
      .slice_rounds = draft_.constants_are_slow() ? kSliceRounds : 0,
      .looks_closer = false};
  npu::ConstantPlan best = npu::plan_constants(*this, prefetch_, budgets, search);
  if (budgets.size() > 1 && !draft_.options.only_cycles)
    if (const std::optional<int64_t> modest = modest_bytes(live, base))
      best = or_within(*modest, std::move(best), base, search);
  best = npu::looked_at_closer(*this, prefetch_, std::move(best), search);
  if (draft_.options.only_cycles) return best.prefetch;
  chain_blocks(best.budget, best.prefetch);
  PrefetchPlan plan = prefetch_.best_plan(prefetch_units(true), best.budget);
  if (budgets.size() == 1 || !draft_.constants_are_slow()) return plan;
  return plan_of_slices(std::move(plan), base);
}

PrefetchPlan ConstantPlanner::choose_beside(const Worth& other,
                                            const std::vector<int32_t>& slices) {
  whole_ = draft_.units;
  counts_.assign(whole_.size(), 1);
  std::vector<Unit> units;
  for (size_t piece = 0; piece < whole_.size(); ++piece) {
    const int32_t count = slices.at(static_cast<size_t>(whole_[piece].operation));
    const std::vector<Unit> parts = this->slices(whole_[piece], count);
    units.insert(units.end(), parts.begin(), parts.end());
    counts_[piece] = parts.size();
  }
  take_units(std::move(units));
  const int64_t base = std::max<int64_t>(draft_.peak_bytes(), 1);
  const std::vector<int64_t> budgets =
      sizes_between(base, std::max(base, other.bytes), kMostSliceBudgets);
  most_budget_ = budgets.back();
  const auto best_of = [&](const std::vector<PrefetchUnit>& prefetch) {
    npu::ConstantPlan best;
    std::optional<double> least;
    for (const int64_t budget : budgets) {
      PrefetchPlan plan = prefetch_.best_plan(prefetch, budget);
      const bool is_last = plan.cycles <= other.cycles || budget == budgets.back();
      const double worth = value(plan.cycles, std::max(plan.peak_bytes, base));
      if ((is_as_fast({plan.cycles, 0}, other) || is_last) && (!least || worth < *least)) {
        least = worth;
        best = {std::move(plan), budget};
      }
      if (is_last) break;
    }
    return best;
  };
  const npu::ConstantPlan plan = best_of(prefetch_units(false));
  chain_blocks(plan.budget, plan.prefetch);
  return best_of(prefetch_units(true)).prefetch;
}

PrefetchPlan ConstantPlanner::within(int64_t budget, const std::vector<int64_t>& gaps) {
  std::vector<PrefetchUnit> units = prefetch_units(true);
  for (size_t i = 0; i < units.size(); ++i) units[i].live_bytes += gaps.at(i);
  PrefetchPlan plan = prefetch_.best_plan(units, budget);
  plan.peak_bytes = std::min(plan.peak_bytes, budget);
  return plan;
}

int64_t ConstantPlanner::counted(int64_t bytes) const {
  return counted_bytes(draft_.options.memory, bytes);
}

double ConstantPlanner::value(double cycles, int64_t bytes) const {
  return value_of(draft_.options.memory, {cycles, bytes});
}

double ConstantPlanner::value(const ScheduleOptions& options, const Worth& worth) {
  return value_of(options.memory, worth);
}

bool ConstantPlanner::is_better(const ScheduleOptions& options, const Worth& one,
                                const Worth& other) {
  if (options.for_size) return one.bytes < other.bytes;
  return kWorthMore * value_of(options.memory, one) < value_of(options.memory, other);
}

bool ConstantPlanner::is_as_fast(const Worth& one, const Worth& other) {
  return kWorthLess * one.cycles <= other.cycles;
}

bool ConstantPlanner::is_better_copied(const ScheduleOptions& options, const Worth& one,
                                       const Worth& other) {
  return kWorthMore * value_of_copied(options, one) < value_of_copied(options, other);
}

// What is enough for the operations that set the peak to have their own constants, through two buffers of a third where they
// can be cut, or for what stays beside them; the others have more room than that. None where those operations have no constants.
std::optional<int64_t> ConstantPlanner::modest_bytes(const std::vector<int64_t>& live,
                                                     int64_t base) const {
  // Constants that stay for several operations, those at the peak among them.
  std::vector<int64_t> staying(live.size(), 0);
  std::vector<size_t> last(live.size(), 0);
  for (size_t i = 0; i < live.size(); ++i)
    if (whole_[i].owner >= 0) last[static_cast<size_t>(whole_[i].owner)] = i;
  for (size_t first = 0; first < live.size(); ++first) {
    if (last[first] == 0) continue;
    const int32_t group = draft_.group_of(whole_[first]);
    const int64_t bytes = group >= 0 ? draft_.schedule.storages[static_cast<size_t>(group)].bytes
                                     : whole_[first].fetched_bytes();
    for (size_t i = first + 1; i <= last[first]; ++i) staying[i] += aligned_to_stream(bytes);
  }
  int64_t most = 0;
  for (size_t i = 0; i < live.size(); ++i) {
    if (live[i] < base) continue;
    most = std::max(most, staying[i]);
    if (whole_[i].owner >= 0) continue;
    const int64_t own = whole_[i].fetched_bytes();
    const bool is_cut =
        can_slice(whole_[i]) && whole_[i].end - whole_[i].first >= kCutForBuffers * kBrickDepth;
    most = std::max(most, is_cut ? own * 2 / kCutForBuffers : own);
  }
  return most > 0 ? std::optional(base + aligned_to_stream(most)) : std::nullopt;
}

// The better of it and what there is within fewer bytes, or within more where it takes less than is enough.
npu::ConstantPlan ConstantPlanner::or_within(int64_t bytes, npu::ConstantPlan best, int64_t base,
                                             npu::ConstantSearch search) {
  if (best.prefetch.peak_bytes <= bytes && best.budget >= bytes) return best;
  const bool is_more = best.prefetch.peak_bytes <= bytes;
  const Choice chosen = choice();
  take_units(whole_);
  counts_.assign(whole_.size(), 1);
  search.score_to_beat = kWorthMore * npu::plan_score(best.prefetch, search);
  const int64_t budgets[] = {bytes};
  npu::ConstantPlan other = npu::plan_constants(*this, prefetch_, budgets, search);
  const auto value_of = [&](const npu::ConstantPlan& one) {
    return value(one.prefetch.cycles, std::max(one.prefetch.peak_bytes, base));
  };
  if (is_more ? kWorthMore * value_of(other) < value_of(best)
              : kWorthMore * value_of(best) >= value_of(other))
    return other;
  take(chosen);
  return best;
}

// Slices find room in less fast memory than whole operations, for which the sizes were that have been tried.
PrefetchPlan ConstantPlanner::plan_of_slices(PrefetchPlan plan, int64_t base) {
  const std::vector<PrefetchUnit> units = prefetch_units(true);
  std::vector<int64_t> constants;
  for (const PrefetchUnit& unit : units) constants.push_back(unit.bytes);
  const auto score = [&](const PrefetchPlan& one) {
    return value(one.cycles, std::max(one.peak_bytes, base));
  };
  for (const int64_t size :
       npu::fast_memory_sizes(live_bytes(kept()), constants, kMostSliceBudgets)) {
    if (size >= plan.peak_bytes) break;
    PrefetchPlan other = prefetch_.plan(units, size);
    const bool is_less = other.cycles <= plan.cycles && other.peak_bytes < plan.peak_bytes;
    if (is_less || score(other) < kWorthLess * score(plan)) plan = std::move(other);
  }
  return plan;
}

// Blocks that suit each other, where that makes the plan better. What is close is decided with the real sizes of constants where
// these are few. Of many the estimate is near, and the block says in which order they are encoded: that is done behind the choice, of
// most of them once.
void ConstantPlanner::chain_blocks(int64_t budget, const PrefetchPlan& plan) {
  std::vector<bool> fetched = plan.fetched;
  const auto take_size = [&](Unit& unit, const ConstantStream& constants) {
    unit.estimated_bytes = static_cast<int64_t>(constants.bytes.size());
    unit.header_cycles = constants.header_cycles;
    draft_.maker.count_again(unit);
  };
  for (size_t i = 0; i < fetched.size(); ++i) {
    Unit& unit = draft_.units[i];
    if (unit.owner >= 0) {
      fetched[i] = fetched[static_cast<size_t>(unit.owner)];
    } else if (has_weights(draft_.operation(unit).kind)) {
      const BlockConfig& block = fetched[i] ? unit.fetched_block : unit.direct_block;
      const ConstantStream* const known =
          constant_bytes_ <= kMostEncodedToChain ? &stream(unit, block) : known_stream(unit);
      if (known != nullptr) take_size(unit, *known);
    }
  }
  const double before = prefetch_.plan(prefetch_units(false), budget).cycles;
  std::vector<Unit> units = with_chained_blocks(draft_, fetched);
  std::swap(units, draft_.units);
  if (prefetch_.plan(prefetch_units(false), budget).cycles >= before)
    std::swap(units, draft_.units);
  for (size_t i = 0; i < fetched.size(); ++i) {
    Unit& unit = draft_.units[i];
    if (unit.owner < 0 && has_weights(draft_.operation(unit).kind))
      take_size(unit, stream(unit, fetched[i] ? unit.fetched_block : unit.direct_block));
  }
}

bool ConstantPlanner::can_slice(const Unit& unit) const {
  const Operation& view = draft_.schedule.operations.at(static_cast<size_t>(unit.view));
  return unit.repeated < 0 && unit.estimated_bytes >= kLeastSliced && !is_stripe(view, unit) &&
         unit.end - unit.first > kBrickDepth;
}

// The unit in slices of the output's depth; itself alone where that is not possible.
std::vector<Unit> ConstantPlanner::slices(const Unit& unit, int32_t count) {
  if (count > kFewSlices) {
    const isa::ethos_u::MemoryTiming& from = draft_.cost.memory(Memory::Constants);
    const double latency = static_cast<double>(from.read_latency) * from.bytes_per_cycle,
                 most = static_cast<double>(unit.estimated_bytes) / (kLatenciesOfSlice * latency);
    if (static_cast<double>(count) > most) count = std::max(kFewSlices, static_cast<int32_t>(most));
  }
  const int32_t depth = unit.end - unit.first;
  const auto brick = static_cast<int32_t>(kBrickDepth);
  const int32_t slice = std::max(brick, round_up(depth / count, brick));
  if (!can_slice(unit) || slice >= depth) return {unit};
  std::vector<Unit> result;
  for (int32_t first = unit.first; first < unit.end; first += slice) {
    const int32_t end = std::min(first + slice, unit.end);
    const auto [known, fresh] = parts_.try_emplace({unit.view, first, end});
    if (fresh) known->second = draft_.maker.make_part(unit, first, end);
    result.push_back(known->second);
  }
  return result;
}

// Stripes of an operation share its constants, readers of a group of constants the group.
void ConstantPlanner::find_owners() {
  // The first unit of each operation's, and the one behind it of the same; the first reader of each group.
  std::vector<int32_t> first_of(draft_.program.operations.size(), -1),
      next(draft_.units.size(), -1);
  std::map<int32_t, int32_t> readers;
  slices_ = constant_bytes_ = 0;
  for (size_t i = 0; i < draft_.units.size(); ++i) {
    Unit& unit = draft_.units[i];
    unit.owner = -1;
    if (const int32_t group = draft_.group_of(unit); group >= 0) {
      const auto [at, fresh] = readers.try_emplace(group, static_cast<int32_t>(i));
      if (!fresh) unit.owner = at->second;
    } else {
      int32_t* link = &first_of[static_cast<size_t>(unit.operation)];
      for (; *link >= 0 && unit.owner < 0; link = &next[static_cast<size_t>(*link)]) {
        const Unit& other = draft_.units[static_cast<size_t>(*link)];
        if (other.first == unit.first && other.end == unit.end) unit.owner = *link;
      }
      if (unit.owner < 0) *link = static_cast<int32_t>(i);
    }
    if (unit.owner < 0) constant_bytes_ += static_cast<double>(unit.estimated_bytes);
    if (unit.first > 0) ++slices_;
  }
}

// Slices add to the constants what their ends take.
double ConstantPlanner::growth_with(double more_slices) const {
  if (constant_bytes_ <= 0) return 1;
  return 1 + (slices_ + more_slices) * kSliceBytes * draft_.hardware.cores / constant_bytes_;
}

double ConstantPlanner::constants_growth(size_t piece, size_t slices) const {
  return growth_with(static_cast<double>(slices) - static_cast<double>(counts_[piece]));
}

size_t ConstantPlanner::first_unit(size_t piece) const {
  return std::accumulate(counts_.begin(), counts_.begin() + static_cast<ptrdiff_t>(piece),
                         size_t{0});
}

npu::SlicedPiece ConstantPlanner::sliced(size_t piece, int32_t count) {
  const size_t first = first_unit(piece), end = first + counts_[piece];
  const std::vector<Unit> parts = slices(whole_[piece], count);
  npu::SlicedPiece result;
  const Unit* before = first > 0 ? &draft_.units[first - 1] : nullptr;
  for (const Unit& part : parts) {
    PrefetchUnit& out = result.units.emplace_back();
    out.direct = part.direct;
    out.fetched = part.fetched;
    out.waits = before != nullptr && draft_.waits_for_last(*before, part);
    add_weights(part, false, out);
    before = &part;
  }
  result.next_waits =
      end < draft_.units.size() && draft_.waits_for_last(*before, draft_.units[end]);
  return result;
}

void ConstantPlanner::slice(size_t piece, int32_t count) {
  const std::vector<Unit> parts = slices(whole_[piece], count);
  std::vector<Unit> units = std::move(draft_.units);
  const auto first = units.begin() + static_cast<ptrdiff_t>(first_unit(piece));
  units.insert(units.erase(first, first + static_cast<ptrdiff_t>(counts_[piece])), parts.begin(),
               parts.end());
  counts_[piece] = parts.size();
  take_units(std::move(units));
}

void ConstantPlanner::slice_all(int32_t count) {
  std::vector<Unit> units;
  for (size_t piece = 0; piece < whole_.size(); ++piece) {
    const std::vector<Unit> parts = slices(whole_[piece], count);
    units.insert(units.end(), parts.begin(), parts.end());
    counts_[piece] = parts.size();
  }
  take_units(std::move(units));
}

void ConstantPlanner::take_units(std::vector<Unit> units) {
  draft_.units = std::move(units);
  find_owners();
  plan_tables();
}

std::shared_ptr<const void> ConstantPlanner::save() const {
  return std::make_shared<const Choice>(choice());
}
void ConstantPlanner::restore(const std::shared_ptr<const void>& saved) {
  take(*std::static_pointer_cast<const Choice>(saved));
}

}  // namespace intarsia::targets::ethos_u
