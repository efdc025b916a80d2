#include "intarsia/npu/prefetch.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

namespace intarsia::npu {
namespace {

// A plan on the timeline, with the timeline as it was before each unit: what differs from this plan behind some unit only
// is measured from there.
struct Measured {
  PrefetchPlan plan;
  std::vector<Timeline> before;          // per unit
  std::vector<int64_t> weights, tables;  // numbers of the transfers; -1: none
};

// The units between which one plan takes its time otherwise than another.
struct Reach {
  size_t first = 0, last = 0;
};

class Planner {
 public:
  Planner(const QueueDepths& queues, const std::vector<PrefetchUnit>& units, int64_t budget)
      : queues_(queues), units_(units), budget_(budget) {
    const auto span = [](const OperationCost& cost, bool waits) {
      return Span{cost.alone(), waits ? cost.first_fetch : 0};
    };
    spans_.reserve(units.size());
    for (const PrefetchUnit& unit : units)
      spans_.push_back({span(unit.direct, unit.waits), span(unit.fetched, unit.waits)});
  }

  PrefetchPlan run() {
    return improved({std::vector<bool>(units_.size(), false), all_constants(units_)}, 0,
                    units_.size());
  }

  PrefetchPlan improved(const std::vector<std::vector<bool>>& starts, size_t first, size_t end) {
    Measured best = measured(starts.at(0));
    for (size_t i = 1; i < starts.size(); ++i) {
      Measured other = measured(starts[i]);
      if (other.plan.cycles < best.plan.cycles) best = std::move(other);
    }
    // One at a time, the other way, as long as it helps. What was tried in vain is tried again when something within its reach
    // has changed.
    std::vector<std::optional<Reach>> in_vain(units_.size());
    for (int round = 0; round < 3; ++round) {
      bool better = false;
      for (size_t i = first; i < end; ++i) {
        if (units_[i].bytes == 0 || in_vain[i]) continue;
        Reach reach;
        if (!try_other_way(i, best, reach)) {
          in_vain[i] = reach;
          continue;
        }
        better = true;
        for (std::optional<Reach>& other : in_vain)
          if (other && other->first <= reach.last && reach.first <= other->last) other.reset();
      }
      if (!better) break;
    }
    return std::move(best.plan);
  }

  PrefetchPlan placed(std::vector<bool> fetched) const {
    return std::move(measured(std::move(fetched)).plan);
  }

 private:
  Measured measured(std::vector<bool> fetched) const {
    Measured made;
    made.plan.fetched = std::move(fetched);
    place(made.plan);
    made.before.reserve(units_.size());
    made.weights.assign(units_.size(), -1), made.tables.assign(units_.size(), -1);
    made.plan.cycles = measure(made, 0, std::numeric_limits<double>::infinity());
    return made;
  }

  // Keeps it when it is faster.
  bool try_other_way(size_t unit, Measured& best, Reach& reach) const {
    Measured other;
    other.plan.fetched = best.plan.fetched;
    other.plan.fetched[unit] = !other.plan.fetched[unit];
    place(other.plan);
    const size_t first = first_difference(best.plan, other.plan);
    reach = {first, units_.size()};
    if (first == units_.size()) {  // there is no room for it, whatever takes it
      reach.first = 0;
      return false;
    }
    other.weights = best.weights, other.tables = best.tables;
    forget_from(first, best.plan.position, other.weights);
    forget_from(first, best.plan.table_position, other.tables);
    other.before = {best.before[first]};
    if (measure(other, first, best.plan.cycles, &best, &reach.last) >= best.plan.cycles)
      return false;
    other.before = {best.before[first]};
    forget_from(first, other.plan.position, other.weights);
    forget_from(first, other.plan.table_position, other.tables);
    other.plan.cycles = measure(other, first, std::numeric_limits<double>::infinity());
    if (other.plan.cycles >= best.plan.cycles) return false;  // it was a matter of rounding
    best.before.erase(best.before.begin() + static_cast<ptrdiff_t>(first), best.before.end());
    best.before.insert(best.before.end(), std::make_move_iterator(other.before.begin()),
                       std::make_move_iterator(other.before.end()));
    best.plan = std::move(other.plan);
    best.weights = std::move(other.weights), best.tables = std::move(other.tables);
    return true;
  }

  // The first unit in front of which other commands stand, or which takes another time.
  size_t first_difference(const PrefetchPlan& a, const PrefetchPlan& b) const {
    auto first = static_cast<int32_t>(units_.size());
    const auto at = [&](int32_t one, int32_t other) {
      for (const int32_t place : {one, other})
        if (place >= 0) first = std::min(first, place);
    };
    for (size_t i = 0; i < units_.size(); ++i) {
      if (&cost(a, i) != &cost(b, i)) first = std::min(first, static_cast<int32_t>(i));
      if (a.position[i] != b.position[i] || a.reserved_from[i] != b.reserved_from[i])
        at(a.position[i], b.position[i]);
      if (a.table_position[i] != b.table_position[i]) at(a.table_position[i], b.table_position[i]);
    }
    return static_cast<size_t>(first);
  }

  // The last unit that takes another time, or whose transfers stand elsewhere; -1: there is none.
  int32_t last_difference(const PrefetchPlan& a, const PrefetchPlan& b) const {
    for (size_t i = units_.size(); i-- > 0;)
      if (&cost(a, i) != &cost(b, i) || a.position[i] != b.position[i] ||
          a.reserved_from[i] != b.reserved_from[i] || a.table_position[i] != b.table_position[i])
        return static_cast<int32_t>(i);
    return -1;
  }

  // Whether transfers that are issued in front of unit k for it and later ones are as recent in both.
  bool waits_alike(const Measured& a, const Timeline& now_a, const Measured& b, size_t k) const {
    const int64_t more = now_a.transfers_started() - b.before[k].transfers_started();
    const auto alike = [&](const std::vector<int32_t>& position, const std::vector<int64_t>& in_a,
                           const std::vector<int64_t>& in_b) {
      for (size_t i = k; i < units_.size(); ++i)
        if (position[i] >= 0 && position[i] < static_cast<int32_t>(k) &&
            in_a[i] - in_b[i] != (in_b[i] < 0 ? 0 : more))
          return false;
      return true;
    };
    return alike(a.plan.position, a.weights, b.weights) &&
           alike(a.plan.table_position, a.tables, b.tables);
  }

  // Transfers that are issued from that unit on have no number yet.
  static void forget_from(size_t first, const std::vector<int32_t>& position,
                          std::vector<int64_t>& numbers) {
    for (size_t i = 0; i < numbers.size(); ++i)
      if (position[i] >= static_cast<int32_t>(first)) numbers[i] = -1;
  }

  bool is_fetched(const PrefetchPlan& plan, size_t i) const {
    return plan.fetched[units_[i].owner < 0 ? i : static_cast<size_t>(units_[i].owner)];
  }
  const OperationCost& cost(const PrefetchPlan& plan, size_t i) const {
    return is_fetched(plan, i) ? units_[i].fetched : units_[i].direct;
  }

  // Starts every transfer as late as its operation need not wait for it, but not where memory is short.
  void place(PrefetchPlan& plan) const {
    const size_t count = units_.size();
    std::vector<double>& starts = starts_;
    starts.assign(count + 1, 0);
    for (size_t i = 0; i < count; ++i) {
      const Span& span = spans_[i][is_fetched(plan, i) ? 1 : 0];
      starts[i + 1] = starts[i] + span.alone + span.first_fetch;
    }
    plan.position.assign(count, -1);
    plan.reserved_from.assign(count, -1);
    plan.table_position.assign(count, -1);
    double engine = starts[count];
    size_t at = count;  // the last unit that starts no later than the engine; both go backwards
    for (size_t i = count; i-- > 0;) {
      const auto before = [&](const TransferCost& transfer) {
        engine = std::min(engine, starts[i]) - transfer.cycles;
        at = std::min(at, i);
        while (at > 0 && starts[at] > engine) --at;
        return static_cast<int32_t>(at);
      };
      if (plan.fetched[i]) plan.reserved_from[i] = before(units_[i].transfer);
      if (units_[i].has_table)
        plan.table_position[i] =
            std::max(issue_position(before(units_[i].table), i), units_[i].table_earliest);
    }
    fit(plan);
  }

  // Commands in front of unit k are executed when the unit before it is in the queue of operations: with a depth of 2,
  // when unit k - 2 begins.
  int32_t issue_position(int32_t running, size_t unit) const {
    return std::min(static_cast<int32_t>(unit), running + queues_.operations);
  }

  void fit(PrefetchPlan& plan) const {
    std::vector<int64_t>& used = used_;
    used.resize(units_.size());
    for (size_t i = 0; i < units_.size(); ++i) used[i] = units_[i].live_bytes;
    for (size_t i = 0; i < units_.size(); ++i) {
      if (!plan.fetched[i]) continue;
      // From the unit itself towards the wanted position, as far as there is room.
      const size_t last = units_[i].last_user < 0 ? i : static_cast<size_t>(units_[i].last_user);
      bool fits = true;
      for (size_t k = i + 1; k <= last; ++k) fits = fits && used[k] + units_[i].bytes <= budget_;
      auto from = static_cast<int32_t>(i) + 1;
      while (fits && from > plan.reserved_from[i] &&
             used[static_cast<size_t>(from - 1)] + units_[i].bytes <= budget_)
        --from;
      if (from > static_cast<int32_t>(i)) {
        plan.fetched[i] = false;
        plan.reserved_from[i] = -1;
        continue;
      }
      plan.reserved_from[i] = from;
      plan.position[i] = issue_position(from, i);
      for (size_t k = static_cast<size_t>(from); k <= last; ++k) used[k] += units_[i].bytes;
    }
    plan.peak_bytes = used.empty() ? 0 : *std::max_element(used.begin(), used.end());
  }

  // Of all units, where those before `from` are measured already: `before` has the timeline at `from`, and gets those behind.
  // Infinity as soon as it is not below `limit`. Behind the last difference to `known`, whose plan is measured, it ends where
  // the timeline goes on as that one did, which is in front of unit `end`; no timelines are kept then.
  double measure(Measured& measured, size_t from, double limit, const Measured* known = nullptr,
                 size_t* end = nullptr) const {
    const PrefetchPlan& plan = measured.plan;
    const int32_t last = known == nullptr ? 0 : last_difference(plan, known->plan);
    if (measured.before.empty()) measured.before.emplace_back(queues_);
    Timeline timeline = measured.before.back();
    measured.before.pop_back();
    // Units whose constants or tables are issued in front of unit k, as lists.
    const auto none = static_cast<int32_t>(units_.size());
    auto& [first, next, first_table, next_table] = lists_;
    for (std::vector<int32_t>* list : {&first, &next, &first_table, &next_table})
      list->assign(units_.size(), none);
    for (int32_t i = none; i-- > static_cast<int32_t>(from);) {
      const auto add = [&](int32_t at, std::vector<int32_t>& heads, std::vector<int32_t>& links) {
        if (at < 0 || at > i) return;
        links[static_cast<size_t>(i)] = std::exchange(heads[static_cast<size_t>(at)], i);
      };
      add(plan.position[static_cast<size_t>(i)], first, next);
      add(plan.table_position[static_cast<size_t>(i)], first_table, next_table);
    }
    for (size_t k = from; k < units_.size(); ++k) {
      if (timeline.now() >= limit) return std::numeric_limits<double>::infinity();
      if (known != nullptr && static_cast<int32_t>(k) > last &&
          timeline.goes_on_as(known->before[k]) && waits_alike(measured, timeline, *known, k)) {
        *end = k;
        return known->plan.cycles + (timeline.now() - known->before[k].now());
      }
      if (known == nullptr) measured.before.push_back(timeline);
      // In the order of the units, a table before constants.
      for (int32_t weight = first[k], table = first_table[k]; weight < none || table < none;) {
        const bool is_table = table <= weight;
        const auto i = static_cast<size_t>(is_table ? table : weight);
        if (is_table) {
          measured.tables[i] = timeline.transfer(units_[i].table);
          table = next_table[i];
        } else {
          timeline.wait_for_operations(plan.position[i] - plan.reserved_from[i]);
          measured.weights[i] = timeline.transfer(units_[i].transfer);
          weight = next[i];
        }
      }
      if (measured.weights[k] >= 0) timeline.wait_for(measured.weights[k]);
      if (measured.tables[k] >= 0) timeline.wait_for(measured.tables[k]);
      timeline.operation(cost(plan, k), units_[k].waits);
    }
    return timeline.finish();
  }

  const QueueDepths& queues_;
  const std::vector<PrefetchUnit>& units_;
  int64_t budget_;

  // How long a unit takes by itself: with its constants where they are, and fetched.
  struct Span {
    double alone = 0, first_fetch = 0;
  };
  std::vector<std::array<Span, 2>> spans_;

  // Scratch of place() and measure(), which are called for every change that is tried.
  mutable std::vector<double> starts_;
  mutable std::vector<int64_t> used_;
  mutable std::array<std::vector<int32_t>, 4> lists_;
};

}  // namespace

std::vector<bool> all_constants(const std::vector<PrefetchUnit>& units) {
  std::vector<bool> result(units.size());
  for (size_t i = 0; i < units.size(); ++i) result[i] = units[i].bytes > 0;
  return result;
}

PrefetchPlan place_prefetch(const QueueDepths& queues, const std::vector<PrefetchUnit>& units,
                            std::vector<bool> fetched, int64_t budget) {
  return Planner(queues, units, budget).placed(std::move(fetched));
}

PrefetchPlan improve_prefetch(const QueueDepths& queues, const std::vector<PrefetchUnit>& units,
                              const std::vector<std::vector<bool>>& starts, size_t first,
                              size_t end, int64_t budget) {
  return Planner(queues, units, budget).improved(starts, first, end);
}

PrefetchPlan plan_prefetch(const QueueDepths& queues, const std::vector<PrefetchUnit>& units,
                           int64_t budget) {
  return Planner(queues, units, budget).run();
}

}  // namespace intarsia::npu
