// The two questions put to a problem, answered group by group: greedy first, then attempts of the
// exact search. Search times have heavy tails, so many short attempts with different strategies
// find what one long attempt misses; a third of the steps goes to ever longer attempts, which
// exhaust the space when there is nothing to find.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <random>

#include "plan/first_fit.h"
#include "plan/instance.h"
#include "plan/search.h"
#include "support/watched.h"

namespace intarsia::plan {

namespace {

// Placing all items once takes as many steps as there are items; more than a few times that is a
// search that repeats itself.
int64_t short_attempt(const Instance& group) {
  return std::max<int64_t>(1500, 4 * std::ssize(group.items));
}

// What a step costs grows with the instance: where thousands of long lives meet, placing one buffer looks at
// all the others. Steps that cost more than those of a few hundred buffers count as several, and no search
// takes more than a minute or two.
constexpr int64_t kWorkOfAStep = 5'000;
constexpr int64_t kMostWork = 40'000'000'000;
// The search lists the items of every section. Instances with more entries than this are left to greedy
// orders.
constexpr int64_t kMostEntries = 20'000'000;

class Budget {
 public:
  explicit Budget(const SearchLimits& limits)
      : steps_(limits.steps),
        work_(limits.steps > kMostWork / kWorkOfAStep ? kMostWork : limits.steps * kWorkOfAStep) {
    stop_ = [] { return !watched::is_wanted(); };
    if (limits.seconds) {
      const auto end = Clock::now() + std::chrono::duration<double>(*limits.seconds);
      stop_ = [end] { return Clock::now() >= end || !watched::is_wanted(); };
    }
    total_ = steps_;
    on_progress_ = limits.on_progress;
  }

  int64_t steps() const { return stop_() ? 0 : steps_; }
  int64_t spent() const { return spent_; }
  int64_t work() const { return work_; }
  void spend(int64_t steps, int64_t work = 0) {
    steps_ -= std::min(steps, steps_);
    spent_ += steps;
    work_ -= std::min(work, work_);
    if (work_ == 0) steps_ = 0;
    if (on_progress_) on_progress_({"planning memory, steps at most", total_ - steps_, total_});
  }
  const std::function<bool()>& stop() const { return stop_; }

 private:
  using Clock = std::chrono::steady_clock;
  int64_t steps_;
  int64_t work_;
  int64_t spent_ = 0;
  std::function<bool()> stop_;
  int64_t total_ = 0;
  ProgressListener on_progress_;
};

// The first attempts follow the best single recipes; later ones mix ingredients that proved useful
// on MiniMalloc's instances and on variants of them. What is wrong for one problem is right for
// another.
Strategy strategy_for(int attempt) {
  if (attempt == 0) return {};
  if (attempt == 1) return {.lifetime_eighths = 8};
  std::mt19937_64 random(static_cast<uint64_t>(attempt));
  const auto one_of = [&](const auto& values) { return values[random() % std::size(values)]; };
  Strategy strategy;
  strategy.seed = random();
  strategy.lifetime_eighths = one_of(std::array{0, 0, 1, 2, -1, -2, -3, 8});
  strategy.noise = one_of(std::array{0.05, 0.1, 0.5});
  struct Bonus {
    double nook, flush;
  };
  const Bonus bonus = one_of(std::array{Bonus{1, 4}, Bonus{2, 5}, Bonus{3, 2}, Bonus{3, 2}});
  strategy.nook_bonus = bonus.nook;
  strategy.flush_bonus = bonus.flush;
  struct Where {
    double tightness, depth;
  };
  const Where where =
      one_of(std::array{Where{0, 0}, Where{0, 0}, Where{8, 0}, Where{30, 0}, Where{0, 0.9}});
  strategy.tightness = where.tightness;
  strategy.depth = where.depth;
  return strategy;
}

struct GroupAnswer {
  SearchEnd end = SearchEnd::OutOfSteps;
  std::vector<int64_t> offsets;
  int64_t peak = 0;
  std::string method;
};

// The exact search knows no buffers that may overlap; changing greedy orders serves those.
GroupAnswer attempt_orders(const Instance& group, int64_t capacity, Budget& budget) {
  constexpr int64_t kMostChanges = 3000;
  const auto items = std::ssize(group.items);
  const int64_t allowed = std::min(kMostChanges, budget.steps() / items);
  int64_t left = allowed;
  GreedyAnswer found = improved_greedy(group, capacity, left);
  budget.spend((allowed - left) * items);
  return {found.peak <= capacity ? SearchEnd::Found : SearchEnd::OutOfSteps,
          std::move(found.offsets), found.peak, "greedy, improved"};
}

// What an attempt of the exact search found.
GroupAnswer placed(const Instance& group, SearchAnswer found, int attempt) {
  GroupAnswer answer{found.end, std::move(found.offsets), 0,
                     fmt::format("search, attempt {}", attempt + 1)};
  group.settle(answer.offsets);
  answer.peak = group.peak(answer.offsets);
  return answer;
}

GroupAnswer attempt_fit(Instance& group, int64_t capacity, int64_t share, Budget& budget) {
  if (!group.overlaps.empty()) return attempt_orders(group, capacity, budget);
  GroupAnswer answer;
  if (group.section_entries() > kMostEntries) return answer;
  group.list_sections();
  const int64_t short_limit = short_attempt(group);
  int64_t long_attempt = 16 * short_limit;
  int64_t in_short_attempts = 0;
  for (int k = 0; share > 0 && budget.steps() > 0; ++k) {
    const bool is_long = in_short_attempts >= 2 * long_attempt;
    int64_t limit = short_limit;
    if (is_long) {
      limit = long_attempt;
      long_attempt *= 2;
    }
    limit = std::min({limit, share, budget.steps()});
    SearchAnswer found =
        search_fit(group, capacity, strategy_for(k), {limit, budget.work()}, budget.stop());
    budget.spend(found.steps, found.work);
    share -= found.steps;
    if (!is_long) in_short_attempts += found.steps;
    if (found.end == SearchEnd::OutOfSteps) continue;
    answer.end = found.end;
    if (found.end == SearchEnd::Found) answer = placed(group, std::move(found), k);
    return answer;
  }
  return answer;
}

// A group with the best placement so far and what is proven about it, both in its units.
struct Group {
  Instance instance;
  std::vector<int64_t> offsets;
  int64_t peak = 0;
  int64_t bound = 0;
  std::string method;

  int64_t units(int64_t bytes) const { return bytes / instance.unit; }
  void take(GroupAnswer answer) {
    if (answer.peak >= peak) return;
    offsets = std::move(answer.offsets);
    peak = answer.peak;
    method = std::move(answer.method);
  }
};

std::vector<Group> greedy_groups(const PlacementProblem& problem) {
  std::vector<Group> groups;
  for (Instance& instance : split_problem(problem)) {
    Group group;
    group.instance = std::move(instance);
    GreedyAnswer greedy = best_greedy(group.instance);
    group.offsets = std::move(greedy.offsets);
    group.peak = greedy.peak;
    group.bound = group.instance.bound;
    group.method = fmt::format("greedy {}", greedy.method);
    groups.push_back(std::move(group));
  }
  return groups;
}

int64_t bound_bytes(const std::vector<Group>& groups, int64_t at_least) {
  for (const Group& group : groups)
    at_least = std::max(at_least, group.bound * group.instance.unit);
  return at_least;
}

PlacementSolution assemble(const PlacementProblem& problem, const std::vector<Group>& groups) {
  PlacementSolution solution;
  solution.method = "nothing to place";
  solution.offsets.resize(problem.buffers.size());
  for (size_t i = 0; i < problem.buffers.size(); ++i)
    solution.offsets[i] = problem.buffers[i].fixed_offset.value_or(0);
  for (const Group& group : groups) {
    for (size_t i = 0; i < group.offsets.size(); ++i)
      solution.offsets[group.instance.items[i].buffer] = group.offsets[i] * group.instance.unit;
    const int64_t peak = group.peak * group.instance.unit;
    if (peak <= solution.peak) continue;
    solution.peak = peak;
    solution.method = group.method;  // the group that decides the peak
  }
  const int64_t live = live_bound(problem);
  solution.lower_bound = bound_bytes(groups, live);
  solution.bound_from_search = solution.lower_bound > live;
  solution.proven_optimal = solution.lower_bound == solution.peak;
  return solution;
}

// One attempt of the exact search, at most `most` steps long.
SearchEnd attempt_once(Group& group, int64_t asked, int attempt, int64_t most, Budget& budget) {
  SearchAnswer found = search_fit(group.instance, asked, strategy_for(attempt),
                                  {std::min(most, budget.steps()), budget.work()}, budget.stop());
  budget.spend(found.steps, found.work);
  if (found.end != SearchEnd::Found) return found.end;
  group.take(placed(group.instance, std::move(found), attempt));
  return SearchEnd::Found;
}

// Small groups are searched to the end: what is not found is proven not to exist, as far as the share goes.
void search_to_the_end(Group& group, int64_t low, Budget& budget) {
  constexpr int64_t kMostSteps = 250'000;
  for (int64_t share = std::min(kMostSteps, budget.steps()); low < group.peak && share > 0;) {
    const int64_t asked = low + (group.peak - low) / 2, before = budget.spent();
    GroupAnswer answer = attempt_fit(group.instance, asked, share, budget);
    share -= budget.spent() - before;
    if (answer.end == SearchEnd::OutOfSteps) return;
    if (answer.end == SearchEnd::Found) group.take(std::move(answer));
    if (answer.end == SearchEnd::Exhausted) low = group.bound = asked + 1;
  }
}

// Brings the group's peak down towards `target` units. Each attempt asks for a part of what there may still be
// to gain. Where an attempt succeeds, it does so early, and its strategy is asked for more; where many
// strategies in turn have gained nothing, further ones hardly do: the rest of the budget is not spent. Where a few hundred
// buffers meet, fewer are tried in vain, for each takes as long as many of a small network: the work in vain may grow with
// the buffers, that of all the strategies would grow with their square.
void minimise_group(Group& group, int64_t target, Budget& budget) {
  constexpr int kMostInVain = 64;
  constexpr int64_t kMostWorkInVainOfItem = 250'000;
  constexpr int64_t kShortest = 600, kFewItems = 32;
  constexpr std::array kEighthsLeft = {4, 6, 4, 7};
  int64_t low = std::max(target, group.bound);  // the smallest peak still worth asking for
  if (!group.instance.overlaps.empty()) {
    if (low < group.peak) group.take(attempt_orders(group.instance, low, budget));
    return;
  }
  if (low >= group.peak || group.instance.section_entries() > kMostEntries) return;
  group.instance.list_sections();
  const int64_t items = std::ssize(group.instance.items), most = std::max(kShortest, 4 * items);
  size_t asks = 0;
  int64_t work_in_vain = 0;
  for (int attempt = 0, in_vain = 0;
       low < group.peak && in_vain < kMostInVain && work_in_vain < kMostWorkInVainOfItem * items &&
       budget.steps() > 0;
       ++asks) {
    // Many networks reach their bound at once.
    const int64_t left = asks == 0 ? 0 : kEighthsLeft[asks % kEighthsLeft.size()];
    const int64_t asked = low + (group.peak - low) * left / 8;
    const int64_t work_before = budget.work();
    const SearchEnd end = attempt_once(group, asked, attempt, most, budget);
    if (end == SearchEnd::Exhausted) low = group.bound = asked + 1;
    if (end == SearchEnd::OutOfSteps) {
      ++attempt, ++in_vain;
      work_in_vain += work_before - budget.work();
    } else {
      in_vain = 0;
      work_in_vain = 0;
    }
  }
  if (items <= kFewItems) search_to_the_end(group, low, budget);
}

void minimise(std::vector<Group>& groups, int64_t target_bytes, Budget& budget) {
  for (Group& group : groups) {
    const int64_t unit = group.instance.unit;
    minimise_group(group, target_bytes / unit, budget);
    // Below the peak of one group the others have nothing to gain.
    target_bytes = std::max(target_bytes, group.peak * unit);
  }
}

}  // namespace

Result<PlacementSolution> place_greedily(const PlacementProblem& problem) {
  INTARSIA_TRY_VOID(validate_problem(problem));
  return assemble(problem, greedy_groups(problem));
}

Result<PlacementSolution> minimise_peak(const PlacementProblem& problem,
                                        const SearchLimits& limits) {
  INTARSIA_TRY_VOID(validate_problem(problem));
  std::vector<Group> groups = greedy_groups(problem);
  Budget budget(limits);
  minimise(groups, bound_bytes(groups, live_bound(problem)), budget);
  PlacementSolution solution = assemble(problem, groups);
  solution.steps = budget.spent();
  return solution;
}

Result<FitOutcome> fit_in_capacity(const PlacementProblem& problem, const SearchLimits& limits) {
  INTARSIA_TRY_VOID(validate_problem(problem));
  INTARSIA_CHECK(problem.capacity.has_value(), "fit_in_capacity is asked about a capacity");
  const int64_t capacity = *problem.capacity;
  std::vector<Group> groups = greedy_groups(problem);
  FitOutcome outcome;
  outcome.status = FitStatus::Fits;
  if (bound_bytes(groups, live_bound(problem)) > capacity)
    outcome.status = FitStatus::ProvenNotToFit;
  Budget budget(limits);
  for (Group& group : groups) {
    if (outcome.status != FitStatus::Fits) break;
    const int64_t room = group.units(capacity);
    if (group.peak <= room) continue;
    GroupAnswer answer = attempt_fit(group.instance, room, budget.steps(), budget);
    if (answer.end == SearchEnd::Found) {
      group.take(std::move(answer));
    } else if (answer.end == SearchEnd::Exhausted) {
      group.bound = std::max(group.bound, room + 1);
      outcome.status = FitStatus::ProvenNotToFit;
    } else {
      outcome.status = FitStatus::BudgetEnded;
    }
  }
  int64_t spent = budget.spent();
  if (outcome.status != FitStatus::Fits) {
    // Say how near one comes: a person decides by it what to shrink.
    SearchLimits rest = limits;
    rest.steps = std::min<int64_t>(limits.steps / 8, 1'000'000);
    Budget consolation(rest);
    minimise(groups, std::max(capacity + 1, bound_bytes(groups, 0)), consolation);
    spent += consolation.spent();
  }
  outcome.best = assemble(problem, groups);
  outcome.best.steps = spent;
  if (outcome.best.peak <= capacity) outcome.status = FitStatus::Fits;
  return outcome;
}

}  // namespace intarsia::plan
