#include "schedule/scheduler.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "schedule/constant_planner.h"
#include "schedule/layout_choice.h"
#include "schedule/layouts.h"
#include "schedule/map_spilling.h"
#include "schedule/schedule_draft.h"
#include "schedule/schedule_peak.h"
#include "schedule/step_writer.h"
#include "schedule/striping.h"

namespace intarsia::targets::ethos_u {
namespace {

// Times that constants fetched ahead get less of a limit because placing them all left gaps.
constexpr int kGapRounds = 4;

// Preferences, and no facts of the hardware. Where memory alone counts, all operations may take half as long again; four
// percent of time are worth one percent of memory.
constexpr double kMostCascadeCost = 1.5;
constexpr double kCascadeTimeWeight = 0.25;
// Where time counts, cascades are to take no longer than whole operations, constants aside: what these have in the memory that is
// left is weighed behind that. A percent of time is worth two of memory then, as in `ConstantPlanner::is_better`.
constexpr double kSameTime = 1.0025;
constexpr double kSameTimeWeight = 2;
// Copies of weights that stay are for time alone: less memory beside them is luck with gaps.
constexpr double kLessTime = 0.98;
// And memory that is less by as much as is worth it.
constexpr double kLessMemory = 0.95;
// What padded bricks are to save before all is planned with them: what makes one plan better than another.
constexpr double kLeastSavedByPadding = 0.02;

// Ways to keep feature maps small: cascades while they need more than this at once, and no more than
// this of them in fast memory where there is another.
struct Attempt {
  std::optional<int64_t> cascade_to, most_fast;
  bool pads_bricks = false;
};

class Scheduler {
 public:
  Scheduler(const Hardware& hardware, const Program& program, const ScheduleOptions& options,
            KnownConstantStreams& streams, WeightCopies copies = {})
      : draft_(hardware, program, options, streams, std::move(copies)) {}

  // Returns the fast memory that feature maps take at once.
  int64_t place(const Attempt& attempt) {
    saved_by_padding_ = choose_layouts(draft_, attempt.pads_bricks);
    whole_bytes_ = draft_.peak_bytes();
    if (attempt.cascade_to && !draft_.program.confirmed_only)
      stripe_operations(draft_, {*attempt.cascade_to,
                                 draft_.options.sram_limit ? std::numeric_limits<double>::infinity()
                                                           : kMostCascadeCost,
                                 kCascadeTimeWeight});
    if (attempt.most_fast && draft_.peak_bytes() > *attempt.most_fast) {
      spill_maps(draft_, *attempt.most_fast);
      // Slower memory likes other layouts.
      if (draft_.units.size() == draft_.program.operations.size()) {
        for (size_t id = 0; id < draft_.places.size(); ++id)
          if (draft_.places[id].layout != Layout::Nhwc)
            draft_.set_layout(static_cast<int32_t>(id), Layout::Nhwc);
        for (size_t i = 0; i < draft_.units.size(); ++i) draft_.make_whole(i);
        saved_by_padding_ = choose_layouts(draft_, attempt.pads_bricks);
      }
    }
    return draft_.peak_bytes();
  }

  // After `plan` without limits: whether the maps' peak is what cascades could lower, by enough to matter.
  bool may_gain_from_turns() const {
    const ScheduleOptions& options = draft_.options;
    return !options.sram_limit && !options.for_size && !options.only_cycles &&
           !draft_.program.confirmed_only && peak_is_worth(*this, least_striped_bytes(draft_));
  }

  // Instead of `place` and `plan`: operations around the peak in turns, such that all take as long as in the other
  // schedule and less memory. False where that is not so. Slices are the other's: looking for them is what takes most of the
  // time that a schedule takes.
  bool plan_in_turns(const Scheduler& other) {
    choose_layouts(draft_);
    const double whole = ConstantPlanner(draft_).cycles_of_whole(other.worth_.bytes);
    const int64_t bytes =
        stripe_operations(draft_, {0, kSameTime, kSameTimeWeight, draft_.constants_are_slow()});
    const isa::ethos_u::MemorySystem& memory = draft_.options.memory;
    const bool fits = memory.arena == memory.cache || draft_.peak_bytes() <= memory.cache_bytes;
    if (!fits || !peak_is_worth(other, bytes)) return false;
    ConstantPlanner constants(draft_);
    if (constants.cycles_of_whole(other.worth_.bytes) > kSameTime * whole) return false;
    std::vector<int32_t> slices(draft_.program.operations.size(), 0);
    for (const Unit& unit : other.draft_.units) ++slices[static_cast<size_t>(unit.operation)];
    const auto room = static_cast<int64_t>(kLessMemory * static_cast<double>(other.worth_.bytes));
    plan_freely(constants, constants.choose_beside({other.worth_.cycles, room}, slices), room);
    return ConstantPlanner::is_as_fast(worth_, other.worth_) &&
           ConstantPlanner::is_better(draft_.options, worth_, other.worth_);
  }

  // Instead of `place` and `plan`, with maps in padded bricks. False where these save too little.
  bool plan_padded(Attempt attempt) {
    attempt.pads_bricks = true;
    place(attempt);
    if (!may_gain_by_padding()) return false;
    plan();
    return true;
  }
  // After `place`: whether maps in padded bricks save enough time for a plan with them, or might, where it is one without.
  bool may_gain_by_padding() const { return saved_by_padding_ >= kLeastSavedByPadding; }
  // After `plan`: whether it is better than another without padded bricks.
  bool is_better_padded(const Scheduler& other) const {
    if (draft_.options.sram_limit)
      return placed_bytes_ <= *draft_.options.sram_limit &&
             draft_.schedule.cycles < kLessTime * other.draft_.schedule.cycles;
    return ConstantPlanner::is_better(draft_.options, worth_, other.worth_);
  }

  bool constants_are_slow() const { return draft_.constants_are_slow(); }
  // After `plan`: whether it is better than another by more than the estimate leaves open.
  bool is_better_than(const Scheduler& other) const {
    if (draft_.options.sram_limit)
      return draft_.schedule.cycles < kLessTime * other.draft_.schedule.cycles;
    return worth_.cycles < kLessTime * other.worth_.cycles &&
           ConstantPlanner::is_better_copied(draft_.options, worth_, other.worth_);
  }

  // After `plan`: whether fetching so many bytes for each of so many operations takes as long as a copy that stays has to save.
  bool may_gain_by_copy(int64_t bytes, int64_t operations) const {
    const double fetch = draft_.cost.transfer(Memory::Constants, Memory::Cache, bytes).cycles;
    return static_cast<double>(operations - 1) * fetch > (1 - kLessTime) * worth_.cycles;
  }

  // What it takes, or would if each operation's constants were fetched by themselves: those and the operation's own maps.
  int64_t bytes_in_turn() const {
    int64_t most = worth_.bytes;
    for (const Unit& unit : draft_.units) {
      std::set<int32_t> maps = {unit.ifm.span.storage, unit.ofm.span.storage};
      if (unit.ifm2) maps.insert(unit.ifm2->span.storage);
      int64_t bytes = aligned_to_stream(unit.fetched_bytes());
      for (const int32_t map : maps)
        if (draft_.is_fast(map))
          bytes += aligned_to_stream(draft_.schedule.storages[static_cast<size_t>(map)].bytes);
      most = std::max(most, bytes);
    }
    return most;
  }

  // What feature maps take of fast memory at once.
  int64_t fast_maps() const { return draft_.peak_bytes(); }

  // The operation that runs while feature maps take most.
  const Operation& fullest() const {
    const std::vector<int64_t> live = draft_.live_bytes();
    const auto at = std::max_element(live.begin(), live.end()) - live.begin();
    return draft_.operation(draft_.units.at(static_cast<size_t>(at)));
  }

  // After `place`; returns the time it is estimated to take. With a limit, `placed_bytes` may be above it
  // only where feature maps alone are.
  double plan() {
    ConstantPlanner constants(draft_);
    if (draft_.options.only_cycles) return take(constants.choose(0));
    if (draft_.options.sram_limit) return plan_within(constants, *draft_.options.sram_limit);
    npu::PrefetchPlan chosen = constants.choose(0);
    if (draft_.options.for_speed && draft_.constants_are_slow() && !draft_.program.confirmed_only)
      if (const std::optional<double> cycles = plan_much_faster(constants, chosen)) return *cycles;
    return plan_freely(constants, std::move(chosen));
  }

  // After `plan` with a limit: the fast memory that everything takes with its addresses.
  int64_t placed_bytes() const { return placed_bytes_; }

  const ConstantPlanner::Worth& worth() const { return worth_; }

  Schedule finish() {
    for (const auto& [storage, stream] : draft_.streamed)
      draft_.schedule.storages[static_cast<size_t>(storage)].contents = stream->bytes;
    name_single_bricks(draft_.schedule);
    return std::move(draft_.schedule);
  }

 private:
  // Whether a schedule like that one would be better by what the maps take less.
  static bool peak_is_worth(const Scheduler& other, int64_t map_bytes) {
    const int64_t less = std::max<int64_t>(0, other.whole_bytes_ - map_bytes);
    return ConstantPlanner::is_better(
        other.draft_.options, {other.worth_.cycles, std::max(map_bytes, other.worth_.bytes - less)},
        other.worth_);
  }

  double plan_within(ConstantPlanner& constants, int64_t limit) {
    const ConstantPlanner::Choice whole = constants.choice();
    int64_t fetch_limit = draft_.peak_bytes() <= limit ? limit : 0;
    for (int round = 0;; ++round) {
      const npu::PrefetchPlan plan = constants.choose(fetch_limit);
      StepWriter steps(draft_, constants, plan);
      steps.write();
      placed_bytes_ = placed_peak(draft_.schedule, fast_ones());
      const int64_t excess = placed_bytes_ - limit;
      if (excess <= 0 || !fetches(plan)) return take(plan);
      // Addresses leave gaps. What is fetched has to leave them room, in the last round all of it.
      fetch_limit = round < kGapRounds ? std::min(fetch_limit, plan.peak_bytes) - excess : 0;
      steps.retract();
      constants.take(whole);
    }
  }

  // With more memory than is worth it otherwise, gaps included, where there is such a plan.
  std::optional<double> plan_much_faster(ConstantPlanner& constants,
                                         const npu::PrefetchPlan& chosen) {
    const ConstantPlanner::Choice before = constants.choice();
    int64_t gaps = 0;
    for (int round = 0; round < kGapRounds; ++round) {
      const std::optional<npu::PrefetchPlan> plan = constants.much_faster(chosen, gaps);
      if (!plan) break;
      StepWriter steps(draft_, constants, *plan);
      steps.write();
      const int64_t bytes = placed_peak(draft_.schedule, fast_ones());
      if (bytes <= plan->peak_bytes + gaps) {
        worth_ = {plan->cycles, bytes};
        return take(*plan);
      }
      gaps = bytes - plan->peak_bytes;
      steps.retract();
      constants.take(before);
    }
    constants.take(before);
    return std::nullopt;
  }

  // Gaps are memory too: where what is fetched makes them, less of it is there, as long as that is worth it.
  double plan_freely(ConstantPlanner& constants, npu::PrefetchPlan plan, int64_t least_room = 0) {
    const size_t maps = draft_.schedule.storages.size();
    npu::PrefetchPlan best;
    int64_t room = std::max(plan.peak_bytes, least_room);
    std::optional<ConstantPlanner::Worth> least;
    std::vector<int64_t> gaps(draft_.units.size(), 0);
    for (int round = 0;; ++round) {
      StepWriter steps(draft_, constants, plan);
      steps.write();
      const std::vector<int64_t> ends = placed_ends(draft_.schedule, fast_ones());
      const int64_t bytes = greatest(ends);
      if (round == 0 && bytes > room)  // those of the maps alone stay
        room = std::max(room, greatest(placed_ends(draft_.schedule, fast_ones(maps))));
      const ConstantPlanner::Worth worth = {plan.cycles, bytes};
      const bool is_best = !least || ConstantPlanner::is_better(draft_.options, worth, *least);
      if (is_best) worth_ = worth;
      const bool is_last = bytes <= room || !fetches(plan) || round == kGapRounds;
      if (is_last && is_best) return take(plan);
      add_gaps(ends, room, gaps);
      steps.retract();
      if (is_best) {
        least = worth;
        best = std::move(plan);
      }
      if (is_last) break;
      plan = constants.within(room, gaps);
    }
    StepWriter(draft_, constants, best).write();
    return take(best);
  }

  // Of each unit, what its steps and the transfers before them reach beyond the room.
  void add_gaps(const std::vector<int64_t>& ends, int64_t room, std::vector<int64_t>& gaps) const {
    size_t unit = 0;
    int64_t end = 0;
    for (size_t step = 0; step < ends.size(); ++step) {
      end = std::max(end, ends[step]);
      if (draft_.schedule.steps[step].operation < 0) continue;
      gaps[unit++] += std::max<int64_t>(0, std::exchange(end, 0) - room);
    }
  }

  static int64_t greatest(const std::vector<int64_t>& ends) {
    return ends.empty() ? 0 : *std::max_element(ends.begin(), ends.end());
  }

  double take(const npu::PrefetchPlan& plan) {
    draft_.schedule.cycles = plan.cycles;
    draft_.schedule.fast_bytes = plan.peak_bytes;
    return plan.cycles;
  }

  static bool fetches(const npu::PrefetchPlan& plan) {
    return std::find(plan.fetched.begin(), plan.fetched.end(), true) != plan.fetched.end();
  }

  // Of the first `count` storages, which are in fast memory.
  std::vector<bool> fast_ones(size_t count = std::numeric_limits<size_t>::max()) const {
    std::vector<bool> fast(draft_.schedule.storages.size());
    for (size_t i = 0; i < std::min(count, fast.size()); ++i)
      fast[i] = draft_.is_fast(static_cast<int32_t>(i));
    return fast;
  }

  ScheduleDraft draft_;
  int64_t placed_bytes_ = 0;
  int64_t whole_bytes_ =
      0;  // of feature maps at once, without cascades and with none in slower memory
  double saved_by_padding_ = 0;  // part of time and memory, as they are weighed
  ConstantPlanner::Worth
      worth_;  // what was planned without limits, as far as the planner closes gaps at once
};

// Weights that several operations have, apart from their scales, and copies of some of them that stay: one more at a time, that
// which is the best then, or of long programs the largest; and all of them, which may be worth their memory where none is by itself.
class CopiesSearch {
 public:
  CopiesSearch(const Hardware& hardware, const Program& program, const ScheduleOptions& options,
               KnownConstantStreams& streams, const Attempt& attempt)
      : hardware_(hardware),
        program_(program),
        options_(options),
        streams_(streams),
        attempt_(attempt),
        for_speed_(options) {
    for_speed_.for_speed = true;
  }

  // What of all that was tried is the best for time alone. With a limit, or for that aim, it is the best in any case.
  const std::optional<ConstantPlanner::Worth>& fastest() const { return fastest_; }

  void run(std::unique_ptr<Scheduler>& best) {
    WeightCopies copies = weight_copies(program_, [&](const WeightCopies::Group& group) {
      const auto first = static_cast<size_t>(group.operations.front());
      return best->may_gain_by_copy(std::ssize(program_.operations[first].weights),
                                    std::ssize(group.operations));
    });
    if (copies.groups.empty() || copies.groups.size() > kMostCopies) return;
    // What stays takes no more than an operation with its constants needs anyway, unless time counts alone.
    if (!options_.sram_limit && !options_.for_speed) copies.most_bytes = best->bytes_in_turn();
    take_better(scheduled(copies), best);
    const size_t groups = copies.groups.size(), plans = groups * (groups + 1) / 2;
    if (plans * program_.operations.size() > kMostPlanned)
      keep_in_turn(copies, best);
    else
      keep_best(copies, best);
    if (std::all_of(copies.groups.begin(), copies.groups.end(), is_kept)) return;
    for (WeightCopies::Group& group : copies.groups) group.kept = true;
    take_better(scheduled(copies), best);
  }

 private:
  // Each is tried beside each: layers of a recurrent network have two or three.
  static constexpr size_t kMostCopies = 8;
  // Operations of all plans together; a plan of a thousand takes some hundredths of a second.
  static constexpr size_t kMostPlanned = 4096;

  static bool is_kept(const WeightCopies::Group& group) { return group.kept; }

  void keep_best(WeightCopies& copies, std::unique_ptr<Scheduler>& best) {
    for (size_t round = 0; round < copies.groups.size(); ++round) {
      std::unique_ptr<Scheduler> next;
      size_t kept = 0;
      for (size_t group = 0; group < copies.groups.size(); ++group) {
        if (copies.groups[group].kept) continue;
        WeightCopies more = copies;
        more.groups[group].kept = true;
        if (!take_better(scheduled(more), next)) continue;
        kept = group;
      }
      if (next == nullptr) return;
      copies.groups[kept].kept = true;
      take_better(std::move(next), best);
    }
  }

  // Of long programs: one more at a time, first that which saves most bytes.
  void keep_in_turn(WeightCopies& copies, std::unique_ptr<Scheduler>& best) {
    const auto saved = [&](const WeightCopies::Group* group) {
      const auto first = static_cast<size_t>(group->operations.front());
      return program_.operations[first].weights.size() * (group->operations.size() - 1);
    };
    std::vector<WeightCopies::Group*> order;
    for (WeightCopies::Group& group : copies.groups) order.push_back(&group);
    std::stable_sort(order.begin(), order.end(),
                     [&](const auto* a, const auto* b) { return saved(a) > saved(b); });
    for (WeightCopies::Group* group : order) {
      group->kept = true;
      take_better(scheduled(copies), best);
    }
  }

  // Within a limit, maps make room for the copies where there is slower memory for them.
  std::unique_ptr<Scheduler> scheduled(const WeightCopies& copies) {
    auto made = placed(copies, attempt_);
    if (!options_.sram_limit) {
      if (!fastest_ || ConstantPlanner::is_better_copied(for_speed_, made->worth(), *fastest_))
        fastest_ = made->worth();
      return made->worth().bytes <= copies.most_bytes ? std::move(made) : nullptr;
    }
    const int64_t excess = made->placed_bytes() - *options_.sram_limit;
    if (excess <= 0) return made;
    if (!attempt_.most_fast || excess >= made->fast_maps()) return nullptr;
    made = placed(copies, {attempt_.cascade_to, made->fast_maps() - excess});
    return made->placed_bytes() <= *options_.sram_limit ? std::move(made) : nullptr;
  }
  std::unique_ptr<Scheduler> placed(const WeightCopies& copies, const Attempt& attempt) const {
    auto made = std::make_unique<Scheduler>(hardware_, program_, options_, streams_, copies);
    made->place(attempt);
    made->plan();
    return made;
  }
  static bool take_better(std::unique_ptr<Scheduler> one, std::unique_ptr<Scheduler>& best) {
    if (one == nullptr || (best != nullptr && !one->is_better_than(*best))) return false;
    best = std::move(one);
    return true;
  }

  const Hardware& hardware_;
  const Program& program_;
  const ScheduleOptions& options_;
  KnownConstantStreams& streams_;
  Attempt attempt_;
  ScheduleOptions for_speed_;
  std::optional<ConstantPlanner::Worth> fastest_;
};

Diagnostics beyond_limit(const Operation& fullest, int64_t limit, int64_t least) {
  return Diagnostics(
      fmt::format("'{}'", fullest.node),
      fmt::format("the NPU's feature maps take {} bytes while it runs, and no order of its "
                  "rows is known that takes less; --sram-limit is {}",
                  least, limit),
      fmt::format("allow {} bytes, or choose a memory mode with a dedicated SRAM, which lets "
                  "feature maps lie in slower memory",
                  least));
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
  KnownConstantStreams streams;
  std::unique_ptr<Scheduler> best;
  Attempt chosen;
  double least_cycles = std::numeric_limits<double>::infinity();
  for (const Attempt& attempt : attempts) {
    auto scheduler = std::make_unique<Scheduler>(hardware, program, options, streams);
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
      chosen = attempt;
      best = std::move(scheduler);
    }
    if (!has_slower) break;
  }
  // Turns are for memory, of which padding takes more.
  bool may_pad = best->may_gain_by_padding() && !options.for_size && !options.only_cycles;
  if (best->may_gain_from_turns()) {
    auto in_turns = std::make_unique<Scheduler>(hardware, program, options, streams);
    if (in_turns->plan_in_turns(*best)) {
      best = std::move(in_turns);
      may_pad = false;
    }
  }
  if (may_pad) {
    auto padded = std::make_unique<Scheduler>(hardware, program, options, streams);
    if (padded->plan_padded(chosen) && padded->is_better_padded(*best)) best = std::move(padded);
  }
  std::optional<ConstantPlanner::Worth> faster;
  if (best->constants_are_slow() && !options.for_size && !options.only_cycles &&
      !program.confirmed_only) {
    CopiesSearch search(hardware, program, options, streams, chosen);
    search.run(best);
    faster = search.fastest();
  }
  Schedule schedule = best->finish();
  if (faster && kMuchFaster * faster->cycles < schedule.cycles)
    schedule.faster = {faster->cycles, faster->bytes};
  return schedule;
}

}  // namespace intarsia::targets::ethos_u
