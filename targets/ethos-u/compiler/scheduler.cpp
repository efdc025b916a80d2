#include "scheduler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "constant_groups.h"
#include "constant_streams.h"
#include "dependencies.h"
#include "feature_map.h"
#include "intarsia/check.h"
#include "layouts.h"
#include "map_placement.h"
#include "prefetch.h"
#include "schedule_peak.h"
#include "table_slots.h"
#include "units.h"

namespace intarsia::targets::ethos_u {
namespace {

int64_t aligned(int64_t bytes) {
  return (bytes + kStreamAlignment - 1) / kStreamAlignment * kStreamAlignment;
}

// More fast memory than the feature maps need has to pay for itself: so many percent of memory are
// worth one percent of time.
constexpr double kMemoryPerTime = 2;
// And any more has to save so much of the time.
constexpr double kMemoryGain = 0.03;
constexpr double kSizeBudget = 1.025;
constexpr double kBudgets[] = {1.0, 1.025, 1.054, 1.38};
// Slicing an operation has to save so much of the whole time. All slices together may add so much to the
// constants, of which each takes about so many bytes for a core: its palette and padding.
constexpr double kSliceGain = 0.002, kMostSliceBytes = 0.006;
constexpr double kSliceBytes = 24;
constexpr int kSliceRounds = 2;
// And another layout of a tensor.
constexpr double kLayoutGain = 0.001;
// Cascades: operations at most, stripes at most, how much slower all operations may become, and how
// many percent of memory one percent of time is worth.
constexpr int32_t kLongestCascade = 4;
constexpr size_t kMostStripes = 100;
constexpr double kMostCascadeCost = 1.5;
constexpr double kCascadeTimeWeight = 0.25;
constexpr int64_t kLeastSliced = 2048;  // bytes of constants
// Times that constants fetched ahead get less of a limit because placing them all left gaps.
constexpr int kGapRounds = 4;

// Ways to keep feature maps small: cascades while they need more than this at once, and no more than
// this of them in fast memory where there is another.
struct Attempt {
  std::optional<int64_t> cascade_to, most_fast;
};

class Scheduler {
 public:
  Scheduler(const Hardware& hardware, const Program& program, const ScheduleOptions& options)
      : hardware_(hardware),
        program_(program),
        options_(options),
        cost_(hardware, options.memory),
        places_(program.tensors.size()),
        table_storage_(program.tables.size(), -1),
        maker_(hardware_, program_, result_.operations, cost_, places_, memories_) {}

  // Returns the fast memory that feature maps take at once.
  int64_t place(const Attempt& attempt) {
    find_in_place();
    if (constants_are_slow()) place_groups();
    for (size_t i = 0; i < program_.tensors.size(); ++i) place_tensor(static_cast<int32_t>(i));
    result_.operations = program_.operations;
    units_.resize(program_.operations.size());
    for (size_t i = 0; i < units_.size(); ++i) make_whole(maker_, i);
    choose_layouts(maker_);
    if (attempt.cascade_to) cascade(maker_, *attempt.cascade_to);
    if (attempt.most_fast && peak_bytes() > *attempt.most_fast) {
      spill(*attempt.most_fast);
      // Slower memory likes other layouts.
      if (units_.size() == program_.operations.size()) {
        for (TensorPlace& place : places_) place.layout = Layout::Nhwc;
        for (size_t i = 0; i < units_.size(); ++i) make_whole(maker_, i);
        choose_layouts(maker_);
      }
    }
    return peak_bytes();
  }

  // The operation that runs while feature maps take most.
  const Operation& fullest() const {
    const std::vector<int64_t> live = live_bytes();
    return operation(units_.at(static_cast<size_t>(std::max_element(live.begin(), live.end()) - live.begin())));
  }

  // After `place`; returns the time it is estimated to take. With a limit, `placed_bytes` may be above it
  // only where feature maps alone are.
  double plan() {
    find_owners();
    plan_tables();
    const std::vector<Unit> whole = units_;
    const std::vector<TableSlots::Slot> whole_slots = slots_;
    if (options_.sram_limit) fetch_limit_ = peak_bytes() <= *options_.sram_limit ? *options_.sram_limit : 0;
    for (int round = 0;; ++round) {
      plan_ = choose_plan(maker_);
      emit();
      if (!options_.sram_limit) break;
      placed_bytes_ = placed();
      const int64_t excess = placed_bytes_ - *options_.sram_limit;
      const bool fetches = std::find(plan_.fetched.begin(), plan_.fetched.end(), true) != plan_.fetched.end();
      if (excess <= 0 || !fetches) break;
      // Addresses leave gaps. What is fetched has to leave them room, in the last round all of it.
      fetch_limit_ = round < kGapRounds ? std::min(fetch_limit_, plan_.peak_bytes) - excess : 0;
      retract();
      units_ = whole;
      slots_ = whole_slots;
    }
    return plan_.cycles;
  }

  // After `plan` with a limit: the fast memory that everything takes with its addresses.
  int64_t placed_bytes() const { return placed_bytes_; }

  Schedule finish() { return std::move(result_); }

 private:
  const NpuTensor& tensor(int32_t id) const { return program_.tensors.at(static_cast<size_t>(id)); }
  const Operation& operation(const Unit& unit) const {
    return program_.operations.at(static_cast<size_t>(unit.operation));
  }

  // ---- memory ----

  int32_t add_storage(Storage storage, Memory memory) {
    result_.storages.push_back(std::move(storage));
    memories_.push_back(memory);
    return static_cast<int32_t>(result_.storages.size() - 1);
  }

  bool is_whole(const Operand& operand) const {
    return operand.extent == tensor(operand.tensor).extent && operand.step == Extent{} && !operand.walk;
  }

  // An element-wise result takes the place of an operand that nobody reads afterwards: every block is
  // read before it is written.
  void find_in_place() {
    const size_t count = program_.tensors.size();
    std::vector<int32_t> last_use(count, -1), writers(count, 0);
    std::vector<bool> aliased(count, false);
    for (size_t i = 0; i < count; ++i)
      if (const int32_t root = program_.tensors[i].alias_of; root >= 0)
        aliased[i] = aliased[static_cast<size_t>(root)] = true;
    for (size_t i = 0; i < program_.operations.size(); ++i) {
      const Operation& op = program_.operations[i];
      const auto use = [&](const Operand& operand) {
        last_use[static_cast<size_t>(operand.tensor)] = static_cast<int32_t>(i);
      };
      use(op.ifm);
      if (op.ifm2) use(*op.ifm2);
      ++writers[static_cast<size_t>(op.ofm.tensor)];
    }
    const auto free_standing = [&](const Operand& operand) {
      return tensor(operand.tensor).kind == NpuTensor::Kind::Inner && is_whole(operand) &&
             !aliased[static_cast<size_t>(operand.tensor)] &&
             writers[static_cast<size_t>(operand.tensor)] == 1;
    };
    in_place_of_.assign(count, -1);
    for (size_t i = 0; i < program_.operations.size(); ++i) {
      const Operation& op = program_.operations[i];
      if (!is_elementwise(op.kind) || !free_standing(op.ofm)) continue;
      const auto take = [&](const Operand& operand) {
        const NpuTensor &from = tensor(operand.tensor), &to = tensor(op.ofm.tensor);
        if (in_place_of_[static_cast<size_t>(op.ofm.tensor)] < 0 && free_standing(operand) &&
            last_use[static_cast<size_t>(operand.tensor)] == static_cast<int32_t>(i) &&
            from.extent == to.extent && from.type == to.type)
          in_place_of_[static_cast<size_t>(op.ofm.tensor)] = operand.tensor;
      };
      take(op.ifm);
      if (op.ifm2) take(*op.ifm2);
    }
  }

  const TensorPlace& place_tensor(int32_t id) {
    TensorPlace& place = places_.at(static_cast<size_t>(id));
    if (place.storage >= 0) return place;
    const NpuTensor& t = tensor(id);
    if (const int32_t taken = in_place_of_.at(static_cast<size_t>(id)); taken >= 0) {
      const TensorPlace from = place_tensor(taken);
      place = from;
      return place;
    }
    if (t.alias_of >= 0) {
      const TensorPlace root = place_tensor(t.alias_of);
      place = {root.storage, root.offset + t.alias_offset, Layout::Nhwc};
      return place;
    }
    Storage storage;
    storage.name = t.name;
    storage.bytes = stored_bytes(t.extent, t.type, Layout::Nhwc);
    storage.parameter = t.parameter;
    Memory memory = Memory::Arena;
    switch (t.kind) {
      case NpuTensor::Kind::Input:
        storage.kind = Storage::Kind::Input;
        break;
      case NpuTensor::Kind::Output:
        storage.kind = Storage::Kind::Output;
        break;
      case NpuTensor::Kind::Inner:
        memory = Memory::Cache;
        storage.fast = true;
        break;
      case NpuTensor::Kind::Constant:
        storage.kind = Storage::Kind::Constant;
        storage.contents = t.bytes;
        memory = Memory::Constants;
        break;
    }
    place = {add_storage(std::move(storage), memory), 0, Layout::Nhwc};
    return place;
  }

  void place_groups() {
    for (ConstantGroup& group : constant_groups(program_)) {
      const int32_t storage =
          add_storage({"constants", Storage::Kind::Constant, -1,
                       static_cast<int64_t>(group.bytes.size()), std::move(group.bytes)},
                      Memory::Constants);
      groups_.insert(storage);
      for (const ConstantGroup::Member& member : group.members)
        places_.at(static_cast<size_t>(member.tensor)) = {storage, member.offset, Layout::Nhwc};
    }
  }

  // The group of constants that the unit reads as feature maps; -1: none.
  int32_t group_of(const Unit& unit) const {
    for (const FeatureMap* map : {&unit.ifm, unit.ifm2 ? &*unit.ifm2 : nullptr})
      if (map != nullptr && groups_.contains(map->span.storage)) return map->span.storage;
    return -1;
  }

  bool is_fast(int32_t storage) const {
    return cost_.port(memories_.at(static_cast<size_t>(storage))) == cost_.port(Memory::Cache) &&
           result_.storages[static_cast<size_t>(storage)].kind != Storage::Kind::Constant;
  }

  struct Life {
    size_t first = std::numeric_limits<size_t>::max(), last = 0;  // units
  };
  // Of storages that are feature maps.
  std::vector<Life> map_lives() const {
    std::vector<Life> lives(result_.storages.size());
    for (size_t i = 0; i < units_.size(); ++i) {
      const auto touch = [&](const FeatureMap& map) {
        Life& life = lives[static_cast<size_t>(map.span.storage)];
        life.first = std::min(life.first, i);
        life.last = std::max(life.last, i);
      };
      touch(units_[i].ifm);
      touch(units_[i].ofm);
      if (units_[i].ifm2) touch(*units_[i].ifm2);
    }
    return lives;
  }

  // Bytes of fast memory that feature maps take while each unit runs.
  std::vector<int64_t> live_bytes() const {
    const std::vector<Life> lives = map_lives();
    std::vector<int64_t> bytes(units_.size(), 0);
    for (size_t s = 0; s < lives.size(); ++s) {
      Life life = lives[s];
      if (life.first > life.last || !is_fast(static_cast<int32_t>(s))) continue;
      if (result_.storages[s].kind == Storage::Kind::Input) life.first = 0;
      if (result_.storages[s].kind == Storage::Kind::Output) life.last = units_.size() - 1;
      for (size_t i = life.first; i <= life.last; ++i)
        bytes[i] += aligned(result_.storages[s].bytes);
    }
    return bytes;
  }

  int64_t peak_bytes() const {
    const std::vector<int64_t> live = live_bytes();
    return live.empty() ? 0 : *std::max_element(live.begin(), live.end());
  }

  // ---- layouts ----

  void make_whole(UnitMaker& maker, size_t i) {
    units_[i] = maker.make(static_cast<int32_t>(i), 0, program_.operations[i].ofm.extent.depth,
                           i > 0 && maker.by_columns(units_[i - 1]));
  }

  void set_layout(const std::vector<int32_t>& tensors, Layout layout) {
    for (const int32_t id : tensors) places_.at(static_cast<size_t>(id)).layout = layout;
  }

  // Cycles of all units, each with what it waits for.
  double chain_cycles() {
    double total = 0;
    for (size_t i = 0; i < units_.size(); ++i) {
      const OperationCost& cost = units_[i].fetched;
      total += cost.alone();
      if (i == 0 || dependency(units_[i - 1], units_[i]) == 0)
        total += cost.first_fetch;
      else
        total -= std::min(units_[i - 1].fetched.drain, cost.pipeline / 2);
    }
    return total;
  }

  // Tries the layout for some tensors; keeps it when all operations together take less time.
  bool try_layout(UnitMaker& maker, const std::vector<const std::vector<int32_t>*>& sets, Layout layout,
                  double& cycles) {
    const std::vector<Unit> before = units_;
    const Layout other = layout == Layout::Nhwc ? Layout::Nhcwb16 : Layout::Nhwc;
    std::set<int32_t> changed;
    for (const std::vector<int32_t>* set : sets) {
      set_layout(*set, layout);
      changed.insert(set->begin(), set->end());
    }
    for (size_t i = 0; i < units_.size(); ++i) {
      const Operation& op = program_.operations[i];
      if (changed.contains(op.ifm.tensor) || changed.contains(op.ofm.tensor) ||
          (op.ifm2 && changed.contains(op.ifm2->tensor)))
        make_whole(maker, i);
    }
    const double now = chain_cycles();
    if (now < cycles * (1 - kLayoutGain)) {
      cycles = now;
      return true;
    }
    units_ = before;
    for (const std::vector<int32_t>* set : sets) set_layout(*set, other);
    return false;
  }

  // All tensors that can in bricks, and then each otherwise.
  void choose_layouts(UnitMaker& maker) {
    const std::vector<std::vector<int32_t>> sets = brick_candidates(program_, [&](int32_t id) {
      while (in_place_of_[static_cast<size_t>(id)] >= 0) id = in_place_of_[static_cast<size_t>(id)];
      return id;
    });
    if (sets.empty()) return;
    double cycles = chain_cycles();
    std::vector<const std::vector<int32_t>*> all;
    for (const std::vector<int32_t>& set : sets) all.push_back(&set);
    try_layout(maker, all, Layout::Nhcwb16, cycles);
    for (const std::vector<int32_t>& set : sets) {
      const Layout now = places_.at(static_cast<size_t>(set[0])).layout;
      try_layout(maker, {&set}, now == Layout::Nhwc ? Layout::Nhcwb16 : Layout::Nhwc, cycles);
    }
  }

  // ---- memories ----

  // Storages of a unit's maps, each once.
  static std::array<int32_t, kMapsOfUnit> storages_of(const Unit& unit) {
    std::array<int32_t, kMapsOfUnit> storages = {unit.ifm.span.storage, unit.ofm.span.storage,
                                                 unit.ifm2 ? unit.ifm2->span.storage : -1};
    if (storages[1] == storages[0]) storages[1] = -1;
    if (storages[2] == storages[0] || storages[2] == storages[1]) storages[2] = -1;
    return storages;
  }

  // Keeps those maps in fast memory that save most time there; the others go to the arena's.
  void spill(int64_t limit) {
    MapPlacementProblem problem;
    problem.limit = limit;
    std::vector<int32_t> map_of(result_.storages.size(), -1), storages;
    const std::vector<Life> lives = map_lives();
    for (size_t s = 0; s < lives.size(); ++s) {
      const Storage& storage = result_.storages[s];
      if (storage.kind != Storage::Kind::Inner || !storage.fast || lives[s].first > lives[s].last) continue;
      map_of[s] = static_cast<int32_t>(storages.size());
      storages.push_back(static_cast<int32_t>(s));
      problem.maps.push_back({aligned(storage.bytes), static_cast<int32_t>(lives[s].first),
                              static_cast<int32_t>(lives[s].last)});
    }
    for (const Unit& unit : units_) problem.units.push_back(placement_costs(unit, map_of, limit));
    const std::vector<bool> fast = place_maps(problem);
    for (size_t m = 0; m < storages.size(); ++m)
      if (!fast[m]) {
        result_.storages[static_cast<size_t>(storages[m])].fast = false;
        memories_[static_cast<size_t>(storages[m])] = Memory::Arena;
      }
    for (Unit& unit : units_) maker_.reconsider(unit);
  }

  MapPlacementProblem::Unit placement_costs(const Unit& unit, const std::vector<int32_t>& map_of,
                                            int64_t limit) {
    MapPlacementProblem::Unit result;
    const std::array<int32_t, kMapsOfUnit> storages = storages_of(unit);
    for (size_t i = 0; i < kMapsOfUnit; ++i)
      if (storages[i] >= 0) result.maps[i] = map_of[static_cast<size_t>(storages[i])];
    for (size_t which = 0; which < result.cycles.size(); ++which) {
      bool possible = true;
      for (size_t i = 0; i < kMapsOfUnit; ++i) {
        const bool fast = (which >> i & 1) != 0;
        possible = possible && (!fast || result.maps[i] >= 0);
        if (result.maps[i] >= 0)
          memories_[static_cast<size_t>(storages[i])] = fast ? Memory::Cache : Memory::Arena;
      }
      if (!possible) continue;
      Unit other = unit;
      maker_.reconsider(other);
      result.cycles[which] =
          (unit.estimated_bytes <= limit ? other.fetched : other.direct).alone();
    }
    for (size_t i = 0; i < kMapsOfUnit; ++i)
      if (result.maps[i] >= 0) memories_[static_cast<size_t>(storages[i])] = Memory::Cache;
    return result;
  }

  // ---- cascades ----

  double total_cycles() const {
    double total = 0;
    for (const Unit& unit : units_) total += unit.fetched.alone();
    return total;
  }

  void set_rolling(int32_t id, int32_t rows) {
    TensorPlace& place = places_.at(static_cast<size_t>(id));
    const NpuTensor& t = tensor(id);
    Extent kept = t.extent;
    if (rows > 0) kept.height = rows;
    place.rolling_rows = rows > 0 && rows < t.extent.height ? rows : 0;
    result_.storages[static_cast<size_t>(place.storage)].bytes =
        stored_bytes(kept, t.type, place.layout);
  }

  // Replaces the units of operations first .. last by stripes.
  std::vector<Unit> striped(UnitMaker& maker, const Cascade& cascade, int32_t first, int32_t last) {
    for (const auto& [id, rows] : cascade.rolling) set_rolling(id, rows);
    std::vector<Unit> units;
    bool placed = false;
    for (const Unit& unit : units_) {
      if (unit.operation < first || unit.operation > last) {
        units.push_back(unit);
        continue;
      }
      if (placed) continue;
      placed = true;
      std::map<int32_t, size_t> owners;
      for (const Stripe& stripe : cascade.stripes) {
        const auto owner = owners.find(stripe.operation);
        const Unit* like = owner == owners.end() ? nullptr : &units[owner->second];
        Unit made = maker.make_stripe(stripe.operation, {stripe.first_row, stripe.end_row}, like);
        owners.try_emplace(stripe.operation, units.size());
        units.push_back(std::move(made));
      }
    }
    return units;
  }

  // While feature maps need more than is wished for, the operations around the peak run in turns.
  void cascade(UnitMaker& maker, int64_t wished) {
    const std::vector<bool> rolls = rolls_into_next(program_);
    std::vector<bool> used(program_.operations.size(), false);
    const double most_cycles = options_.sram_limit ? std::numeric_limits<double>::infinity()
                                                   : total_cycles() * kMostCascadeCost;
    for (int64_t peak = peak_bytes(); peak > wished;) {
      const std::vector<int64_t> live = live_bytes();
      const auto at = static_cast<size_t>(std::max_element(live.begin(), live.end()) - live.begin());
      const int32_t middle = units_[at].operation;
      std::vector<Unit> best;
      std::map<int32_t, int32_t> best_rolling;
      int32_t best_first = 0, best_last = 0;
      double best_score = std::numeric_limits<double>::infinity();
      const std::vector<Unit> before = units_;
      for (int32_t first = std::max(0, middle - kLongestCascade); first <= middle; ++first)
        for (int32_t last = std::max(first + 1, middle - 1); last < first + kLongestCascade; ++last) {
          if (!can_cascade(rolls, used, first, last) || last < middle - 1) break;
          const int32_t height = program_.operations[static_cast<size_t>(last)].ofm.extent.height;
          for (int32_t rows = height / 2; rows >= 1; rows /= 2) {
            const Cascade plan = plan_cascade(program_, first, last, rows);
            if (plan.stripes.size() > kMostStripes) break;
            units_ = striped(maker, plan, first, last);
            const int64_t now = peak_bytes();
            const double cycles = total_cycles();
            const double memory = static_cast<double>(std::max(now, wished));
            const double score = memory * std::pow(cycles, kCascadeTimeWeight);
            if (now < peak && cycles <= most_cycles && score < best_score) {
              best_score = score;
              best = units_;
              best_rolling = plan.rolling;
              best_first = first;
              best_last = last;
            }
            for (const auto& [id, kept] : plan.rolling) set_rolling(id, 0);
            units_ = before;
          }
        }
      if (best.empty()) return;
      units_ = std::move(best);
      for (const auto& [id, kept] : best_rolling) set_rolling(id, kept);
      for (int32_t i = best_first; i <= best_last; ++i) used[static_cast<size_t>(i)] = true;
      const int64_t now = peak_bytes();
      if (now >= peak) return;
      peak = now;
    }
  }

  static bool can_cascade(const std::vector<bool>& rolls, const std::vector<bool>& used,
                          int32_t first, int32_t last) {
    if (static_cast<size_t>(last) >= rolls.size()) return false;
    for (int32_t i = first; i <= last; ++i)
      if (used[static_cast<size_t>(i)] || (i < last && !rolls[static_cast<size_t>(i)])) return false;
    return true;
  }

  // ---- constants ----

  void plan_tables() {
    TableSlots slots(hardware_);
    slots_.assign(units_.size(), {});
    for (size_t i = 0; i < units_.size(); ++i) {
      const Operation& op = operation(units_[i]);
      if (op.activation != Activation::Lut) {
        slots.clobber(static_cast<int32_t>(i));
        continue;
      }
      const auto bytes =
          static_cast<int64_t>(program_.tables.at(static_cast<size_t>(op.lut)).bytes.size());
      slots_[i] = slots.use(op.lut, bytes, static_cast<int32_t>(i));
    }
  }

  const ConstantStream& stream(const Unit& unit, const BlockConfig& block) {
    const auto key = std::tuple(unit.view, unit.first, unit.end, block.ofm.depth, block.part_kernel);
    const auto [place, fresh] = streams_.try_emplace(key);
    if (fresh)
      place->second =
          make_constant_stream(hardware_, result_.operations.at(static_cast<size_t>(unit.view)),
                               unit.ifm.type, block, unit.first, unit.end);
    return place->second;
  }

  bool constants_are_slow() const {
    return cost_.memory(Memory::Constants).bytes_per_cycle <
           cost_.memory(Memory::Cache).bytes_per_cycle;
  }

  std::vector<PrefetchUnit> prefetch_units(bool exact) {
    const std::vector<int64_t> live = live_bytes();
    std::vector<PrefetchUnit> units(units_.size());
    for (size_t i = 0; i < units_.size(); ++i) {
      const Unit& unit = units_[i];
      PrefetchUnit& out = units[i];
      out.direct = unit.direct;
      out.fetched = unit.fetched;
      out.waits = i > 0 && dependency(units_[i - 1], unit) == 0;
      out.live_bytes = live[i];
      out.owner = unit.owner;
      if (unit.owner >= 0) units[static_cast<size_t>(unit.owner)].last_user = static_cast<int32_t>(i);
      if (const int32_t group = group_of(unit); group >= 0 && unit.owner < 0) {
        out.bytes = result_.storages[static_cast<size_t>(group)].bytes;
        out.transfer = cost_.transfer(Memory::Constants, Memory::Cache, out.bytes);
      }
      if (has_weights(operation(unit).kind) && constants_are_slow() && unit.owner < 0) {
        const bool whole = unit.end - unit.first == operation(unit).ofm.extent.depth;
        // Encoding takes time: not for what is divided, or does not fit, anyway.
        out.bytes = exact || (whole && unit.estimated_bytes <= most_budget_)
                        ? static_cast<int64_t>(stream(unit, unit.fetched_block).bytes.size())
                        : aligned(unit.estimated_bytes * 102 / 100 + 2 * kStreamAlignment);
        out.transfer = cost_.transfer(Memory::Constants, Memory::Cache, out.bytes);
      }
      out.has_table = slots_[i].load;
      if (out.has_table) {
        const auto lut = static_cast<size_t>(operation(unit).lut);
        out.table = cost_.transfer(Memory::Constants, std::nullopt,
                                   static_cast<int64_t>(program_.tables.at(lut).bytes.size()));
        out.table_earliest = slots_[i].earliest;
      }
    }
    return units;
  }

  // Fast memory with which every operation may have its own constants there and those of the next.
  int64_t room_for_two(const std::vector<int64_t>& live) const {
    int64_t most = 0, next = 0;
    for (size_t i = units_.size(); i-- > 0;) {
      const int64_t own = aligned(units_[i].estimated_bytes);
      most = std::max(most, live[i] + own + next);
      if (own > 0) next = own;
    }
    return most;
  }

  int32_t dependency(const Unit& before, const Unit& unit) {
    const auto block = [](const Extent& e) { return std::tuple(e.height, e.width, e.depth); };
    const auto side = [&](const Unit& u) {
      const bool bricks[] = {u.ifm.layout == Layout::Nhcwb16, u.ofm.layout == Layout::Nhcwb16};
      return std::tuple(u.view, u.first, u.end, u.rows.first,
                        block(u.fetched_block.ofm), bricks[0] + 2 * bricks[1]);
    };
    const auto [known, fresh] = dependencies_.try_emplace({side(before), side(unit)});
    if (fresh)
      known->second = unit_dependency(
          hardware_, result_.operations.at(static_cast<size_t>(before.view)), before,
          before.fetched_block, result_.operations.at(static_cast<size_t>(unit.view)), unit,
          unit.fetched_block);
    return known->second;
  }

  PrefetchPlan choose_plan(UnitMaker& maker) {
    const std::vector<int64_t> live = live_bytes();
    const int64_t base = live.empty() ? 0 : *std::max_element(live.begin(), live.end());
    std::vector<int64_t> budgets = {base};
    if (options_.sram_limit) {
      budgets = {fetch_limit_};
    } else if (options_.for_size) {
      budgets = {static_cast<int64_t>(static_cast<double>(base) * kSizeBudget)};
    } else {
      budgets.clear();
      const int64_t most = room_for_two(live);
      for (const double factor : kBudgets)
        budgets.push_back(
            std::min(most, static_cast<int64_t>(static_cast<double>(base) * factor)));
    }
    budgets.erase(std::unique(budgets.begin(), budgets.end()), budgets.end());
    most_budget_ = *std::max_element(budgets.begin(), budgets.end());
    struct Option {
      PrefetchPlan plan;
      std::vector<Unit> units;
      std::vector<TableSlots::Slot> slots;
      int64_t budget;
    };
    std::optional<Option> best;
    double best_score = std::numeric_limits<double>::infinity();
    const std::vector<Unit> whole = units_;
    const std::vector<TableSlots::Slot> whole_slots = slots_;
    for (const int64_t budget : budgets) {
      units_ = whole;
      slots_ = whole_slots;
      PrefetchPlan plan = plan_prefetch(hardware_, prefetch_units(false), budget);
      if (constants_are_slow()) plan = slice_units(maker, budget, std::move(plan));
      const double memory = static_cast<double>(std::max(plan.peak_bytes, base)) /
                            static_cast<double>(std::max<int64_t>(base, 1));
      const double score = plan.cycles * std::pow(memory, 1 / kMemoryPerTime) *
                           (plan.peak_bytes > base ? 1 + kMemoryGain : 1);
      if (score < best_score) {
        best_score = score;
        best = Option{std::move(plan), units_, slots_, budget};
      }
    }
    units_ = std::move(best->units);
    slots_ = std::move(best->slots);
    return plan_prefetch(hardware_, prefetch_units(true), best->budget);
  }

  bool can_slice(const Unit& unit) const {
    const Extent& whole = result_.operations.at(static_cast<size_t>(unit.view)).ofm.extent;
    const bool is_stripe = unit.rows.end - unit.rows.first < whole.height;
    return unit.estimated_bytes >= kLeastSliced && !is_stripe && unit.end - unit.first > kBrickDepth;
  }

  // The unit in slices of the output's depth; itself alone where that is not possible.
  std::vector<Unit> slices(UnitMaker& maker, const Unit& unit, int32_t count) {
    const int32_t depth = unit.end - unit.first;
    const auto brick = static_cast<int32_t>(kBrickDepth);
    const int32_t slice = std::max(brick, (depth / count + brick - 1) / brick * brick);
    if (!can_slice(unit) || slice >= depth) return {unit};
    std::vector<Unit> result;
    for (int32_t first = unit.first; first < unit.end; first += slice) {
      const int32_t end = std::min(first + slice, unit.end);
      const auto [known, fresh] = parts_.try_emplace({unit.view, first, end});
      if (fresh) known->second = maker.make_part(unit, first, end);
      result.push_back(known->second);
    }
    return result;
  }

  // Stripes of an operation share its constants, readers of a group of constants the group.
  void find_owners() {
    std::map<std::tuple<int32_t, int32_t, int32_t>, int32_t> owners;
    for (size_t i = 0; i < units_.size(); ++i) {
      Unit& unit = units_[i];
      const int32_t group = group_of(unit);
      const auto key = group >= 0 ? std::tuple(-1, group, 0)
                                  : std::tuple(unit.operation, unit.first, unit.end);
      const auto [at, fresh] = owners.try_emplace(key, static_cast<int32_t>(i));
      unit.owner = fresh ? -1 : at->second;
    }
  }

  // What slices add to the constants, as a part of them.
  double slice_bytes(const std::vector<Unit>& units) const {
    double bytes = 0, slices = 0;
    for (const Unit& unit : units) {
      if (unit.owner < 0) bytes += static_cast<double>(unit.estimated_bytes);
      if (unit.first > 0) ++slices;
    }
    return bytes > 0 ? slices * kSliceBytes * hardware_.cores / bytes : 0;
  }

  // Takes `units` when they make the plan better.
  bool try_units(std::vector<Unit> units, int64_t budget, PrefetchPlan& plan) {
    if (slice_bytes(units) > kMostSliceBytes) return false;
    std::swap(units, units_);
    const std::vector<TableSlots::Slot> slots = slots_;
    find_owners();
    plan_tables();
    PrefetchPlan other = plan_prefetch(hardware_, prefetch_units(false), budget);
    if (other.cycles < plan.cycles * (1 - kSliceGain)) {
      plan = std::move(other);
      return true;
    }
    std::swap(units, units_);
    slots_ = slots;
    return false;
  }

  // The units with those of one operation in `count` slices.
  std::vector<Unit> resliced(UnitMaker& maker, const std::vector<Unit>& whole, size_t operation,
                             int32_t count) {
    std::vector<Unit> result;
    bool placed = false;
    for (const Unit& unit : units_) {
      if (unit.operation != whole[operation].operation) {
        result.push_back(unit);
      } else if (!std::exchange(placed, true)) {
        const std::vector<Unit> parts = slices(maker, whole[operation], count);
        result.insert(result.end(), parts.begin(), parts.end());
      }
    }
    return result;
  }

  // Slices' constants take less memory at a time and arrive earlier: all operations in two or four, then
  // each otherwise, as long as it helps.
  PrefetchPlan slice_units(UnitMaker& maker, int64_t budget, PrefetchPlan plan) {
    const std::vector<Unit> whole = units_;
    for (const int32_t count : {2, 4}) {
      std::vector<Unit> all;
      for (const Unit& unit : whole) {
        const std::vector<Unit> parts = slices(maker, unit, count);
        all.insert(all.end(), parts.begin(), parts.end());
      }
      try_units(std::move(all), budget, plan);
    }
    for (int round = 0; round < kSliceRounds; ++round) {
      bool better = false;
      for (size_t i = 0; i < whole.size(); ++i) {
        if (!can_slice(whole[i])) continue;
        const auto now = std::count_if(units_.begin(), units_.end(), [&](const Unit& unit) {
          return unit.operation == whole[i].operation;
        });
        auto tried = static_cast<size_t>(now);
        for (const int32_t count : {1, 2, 3, 4, 6}) {
          std::vector<Unit> units = resliced(maker, whole, i, count);
          const size_t parts = units.size() - units_.size() + static_cast<size_t>(now);
          if (parts == tried || parts == static_cast<size_t>(now)) continue;
          tried = parts;
          if (!try_units(std::move(units), budget, plan)) continue;
          better = true;
          break;
        }
      }
      if (!better) break;
    }
    return plan;
  }

  // ---- steps ----

  int64_t placed() const {
    std::vector<bool> is_placed(result_.storages.size());
    for (size_t i = 0; i < is_placed.size(); ++i) is_placed[i] = is_fast(static_cast<int32_t>(i));
    return placed_peak(result_, is_placed);
  }

  // Takes back what `emit` has added.
  void retract() {
    const auto kept = static_cast<ptrdiff_t>(storages_before_);
    result_.steps.clear();
    result_.storages.erase(result_.storages.begin() + kept, result_.storages.end());
    memories_.erase(memories_.begin() + kept, memories_.end());
    std::fill(table_storage_.begin(), table_storage_.end(), -1);
    constants_.clear();
    buffers_.clear();
  }

  // A buffer for what is fetched for each unit.
  void make_buffers() {
    for (size_t i = 0; i < units_.size(); ++i) {
      if (!plan_.fetched[i]) continue;
      Storage buffer;
      buffer.name = operation(units_[i]).node;
      const int32_t group = group_of(units_[i]);
      buffer.bytes =
          group >= 0 ? result_.storages[static_cast<size_t>(group)].bytes
                     : static_cast<int64_t>(stream(units_[i], units_[i].fetched_block).bytes.size());
      buffer.fast = true;
      buffers_[i] = add_storage(std::move(buffer), Memory::Cache);
    }
  }

  void emit() {
    storages_before_ = result_.storages.size();
    make_buffers();
    for (size_t k = 0; k < units_.size(); ++k) {
      for (size_t i = k; i < units_.size(); ++i) {
        if (plan_.table_position[i] == static_cast<int32_t>(k)) emit_table(i);
        if (plan_.position[i] == static_cast<int32_t>(k)) emit_transfer(i);
      }
      emit_unit(k);
    }
  }

  size_t owner_of(size_t i) const {
    return units_[i].owner < 0 ? i : static_cast<size_t>(units_[i].owner);
  }

  int32_t constant_storage(size_t i) {
    const Unit& unit = units_[i];
    if (const int32_t group = group_of(unit); group >= 0) return group;
    if (unit.owner >= 0) return constants_.at(owner_of(i));
    const BlockConfig& block = plan_.fetched[i] ? unit.fetched_block : unit.direct_block;
    const ConstantStream& constants = stream(unit, block);
    constants_[i] = add_storage({operation(unit).node, Storage::Kind::Constant, -1,
                                 static_cast<int64_t>(constants.bytes.size()), constants.bytes},
                                Memory::Constants);
    return constants_[i];
  }

  void emit_table(size_t i) {
    const Operation& op = operation(units_[i]);
    const LookUpTable& table = program_.tables.at(static_cast<size_t>(op.lut));
    const auto bytes = static_cast<int64_t>(table.bytes.size());
    int32_t& storage = table_storage_.at(static_cast<size_t>(op.lut));
    if (storage < 0)
      storage = add_storage({table.name, Storage::Kind::Constant, -1, bytes, table.bytes},
                            Memory::Constants);
    Step transfer;
    transfer.node = op.node;
    transfer.from = {storage, 0, bytes};
    transfer.to = {-1, hardware_.lut_address() + slots_[i].number * kLutSlotBytes, bytes};
    result_.steps.push_back(std::move(transfer));
  }

  void emit_transfer(size_t i) {
    const int32_t from = constant_storage(i);
    const int64_t bytes = result_.storages[static_cast<size_t>(from)].bytes;
    Step transfer;
    transfer.node = operation(units_[i]).node;
    transfer.from = {from, 0, bytes};
    transfer.to = {buffers_.at(i), 0, bytes};
    result_.steps.push_back(std::move(transfer));
  }

  void emit_unit(size_t i) {
    const Unit& unit = units_[i];
    const Operation& op = operation(unit);
    Step step;
    step.operation = unit.view;
    step.node = op.node;
    step.ifm = unit.ifm;
    step.ofm = unit.ofm;
    step.ifm2 = unit.ifm2;
    step.pads = unit.pads;
    const bool fetched = plan_.fetched[owner_of(i)];
    step.block = fetched ? unit.fetched_block : unit.direct_block;
    step.table_slot = slots_[i].number;
    for (size_t later = i; later < units_.size(); ++later)
      if (plan_.fetched[later] && plan_.reserved_from[later] <= static_cast<int32_t>(i) &&
          plan_.position[later] > static_cast<int32_t>(i))
        step.reserved.push_back(buffers_.at(later));
    if (fetched && !has_weights(op.kind)) {
      for (FeatureMap* map : {&step.ifm, step.ifm2 ? &*step.ifm2 : nullptr})
        if (map != nullptr && groups_.contains(map->span.storage))
          map->span.storage = buffers_.at(owner_of(i));
    }
    if (has_weights(op.kind)) {
      const int32_t storage = fetched ? buffers_.at(owner_of(i)) : constant_storage(i);
      const ConstantStream& constants = stream(units_[owner_of(i)], step.block);
      step.weights = constants.weights;
      step.scales = constants.scales;
      for (Span& span : step.weights) span.storage = storage;
      for (Span& span : step.scales) span.storage = storage;
    }
    result_.steps.push_back(std::move(step));
  }

  const Hardware& hardware_;
  const Program& program_;
  const ScheduleOptions& options_;
  CostModel cost_;
  std::vector<TensorPlace> places_;
  std::vector<int32_t> in_place_of_;  // by tensor: whose place it takes; -1
  std::vector<Memory> memories_;  // by storage
  std::set<int32_t> groups_;       // storages of constants that are read as feature maps
  std::vector<int32_t> table_storage_;
  std::vector<Unit> units_;
  std::vector<TableSlots::Slot> slots_;  // by unit
  std::map<std::tuple<int32_t, int32_t, int32_t, int32_t, bool>, ConstantStream> streams_;
  std::map<std::tuple<int32_t, int32_t, int32_t>, Unit> parts_;  // slices, by view and channels
  using Side =
      std::tuple<int32_t, int32_t, int32_t, int32_t, std::tuple<int32_t, int32_t, int32_t>, int>;
  std::map<std::pair<Side, Side>, int32_t> dependencies_;  // BLOCKDEP of a unit behind another
  int64_t most_budget_ = 0;
  int64_t fetch_limit_ = 0;   // with --sram-limit: maps and what is fetched, at any time
  int64_t placed_bytes_ = 0;
  size_t storages_before_ = 0;  // that are there without steps
  std::map<size_t, int32_t> constants_;  // storages, by the unit that owns them
  std::map<size_t, int32_t> buffers_;  // of fetched constants, by unit
  PrefetchPlan plan_;
  Schedule result_;
  UnitMaker maker_;
};

Diagnostics beyond_limit(const Operation& fullest, int64_t limit, int64_t least) {
  return Diagnostics(fmt::format("'{}'", fullest.node),
                     fmt::format("the NPU's feature maps take {} bytes while it runs, and no order of its "
                                 "rows is known that takes less; --sram-limit is {}",
                                 least, limit),
                     fmt::format("allow {} bytes, or choose a memory mode with a dedicated SRAM, which lets "
                                 "feature maps lie in slower memory", least));
}

}  // namespace

Result<Schedule> make_schedule(const Hardware& hardware, const Program& program,
                               const ScheduleOptions& options) {
  const isa::ethos_u::MemorySystem& memory = options.memory;
  const bool has_slower = memory.arena != memory.cache;
  std::vector<Attempt> attempts;
  if (has_slower && options.sram_limit) {
    attempts = {{std::nullopt, options.sram_limit}, {options.sram_limit, options.sram_limit}};
  } else if (has_slower) {
    attempts = {{std::nullopt, options.for_size ? 0 : memory.cache_bytes}};
  } else if (options.sram_limit) {
    // What keeps within the limit with the least loss, then the least there is.
    attempts = {{options.sram_limit, std::nullopt}, {0, std::nullopt}};
  } else {
    attempts = {{options.for_size ? std::optional<int64_t>(0) : std::nullopt, std::nullopt}};
  }
  std::unique_ptr<Scheduler> best;
  double least_cycles = std::numeric_limits<double>::infinity();
  for (const Attempt& attempt : attempts) {
    auto scheduler = std::make_unique<Scheduler>(hardware, program, options);
    const bool is_last = &attempt == &attempts.back();
    const int64_t live = scheduler->place(attempt);
    // Where there is slower memory, the planner puts there what gaps leave no room for.
    const bool must_fit = options.sram_limit && !has_slower;
    if (must_fit && live > *options.sram_limit && !is_last) continue;
    const double cycles = scheduler->plan();
    if (must_fit && scheduler->placed_bytes() > *options.sram_limit) {
      if (!is_last) continue;
      return beyond_limit(scheduler->fullest(), *options.sram_limit, scheduler->placed_bytes());
    }
    if (cycles < least_cycles) {
      least_cycles = cycles;
      best = std::move(scheduler);
    }
    if (!has_slower) break;
  }
  return best->finish();
}

}  // namespace intarsia::targets::ethos_u
