#include "intarsia/npu/prefetch.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

namespace intarsia::npu {
namespace {

// PrefetchPlan while it is made.
struct Plan {
  std::vector<uint8_t> fetched;
  std::vector<int32_t> position, reserved_from, table_position;
  double cycles = 0;
  int64_t peak_bytes = 0;
};

// A plan on the timeline, with the timeline as it was before each unit: what differs from this plan behind some unit only
// is measured from there.
struct Measured {
  Plan plan;
  std::vector<Timeline> before;          // per unit
  std::vector<int64_t> weights, tables;  // numbers of the transfers; -1: none
};

// Units from the first to the one in front of `end`.
struct Stretch {
  size_t first = 0, end = 0;
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
    source_.reserve(units.size());
    constants_.reserve(units.size());
    live_.reserve(units.size());
    for (const PrefetchUnit& unit : units) {
      source_.push_back(unit.owner < 0 ? static_cast<uint32_t>(spans_.size())
                                       : static_cast<uint32_t>(unit.owner));
      constants_.push_back({unit.transfer.cycles, unit.table.cycles, unit.bytes,
                            unit.last_user < 0 ? static_cast<uint32_t>(spans_.size())
                                               : static_cast<uint32_t>(unit.last_user),
                            unit.has_table});
      live_.push_back(unit.live_bytes);
      spans_.push_back({span(unit.direct, unit.waits), span(unit.fetched, unit.waits)});
    }
  }

  PrefetchPlan run() {
    return improved({std::vector<bool>(units_.size(), false), all_constants(units_)}, 0,
                    units_.size());
  }

  PrefetchPlan improved(const std::vector<std::vector<bool>>& starts, size_t first, size_t end) {
    Measured best = measured(starts.at(0));
    for (size_t i = 1; i < starts.size(); ++i) take_better(starts[i], best);
    // One at a time, the other way, as long as it helps. What was tried in vain is tried again when something within its reach
    // has changed.
    std::vector<std::optional<Reach>> in_vain(units_.size());
    bool changed = false;
    for (int round = 0; round < 3; ++round) {
      bool better = false;
      for (size_t i = first; i < end; ++i) {
        if (units_[i].bytes == 0 || in_vain[i]) continue;
        Reach reach;
        if (!try_other_way(i, best, reach)) {
          in_vain[i] = reach;
          continue;
        }
        better = changed = true;
        for (std::optional<Reach>& other : in_vain)
          if (other && other->first <= reach.last && reach.first <= other->last) other.reset();
      }
      if (!better) break;
    }
    // The sum of differences is not rounded as the whole is.
    if (changed)
      best.plan.cycles =
          measure(best.plan, best.weights, best.tables, Timeline(queues_), {}, nullptr);
    return result(std::move(best.plan));
  }

  PrefetchPlan placed(const std::vector<bool>& fetched) const {
    return result(std::move(measured(fetched, false).plan));
  }

 private:
  PrefetchPlan result(Plan plan) const {
    std::vector<int64_t> used = live_;
    take_room(plan, 0, units_.size(), used);
    plan.peak_bytes = used.empty() ? 0 : *std::max_element(used.begin(), used.end());
    return {{plan.fetched.begin(), plan.fetched.end()},
            std::move(plan.position),
            std::move(plan.reserved_from),
            std::move(plan.table_position),
            plan.cycles,
            plan.peak_bytes};
  }

  Measured measured(const std::vector<bool>& fetched, bool keeps = true) const {
    Measured made;
    made.plan.fetched.assign(fetched.begin(), fetched.end());
    place(made.plan);
    made.weights.assign(units_.size(), -1), made.tables.assign(units_.size(), -1);
    if (keeps) made.before.reserve(units_.size());
    made.plan.cycles = measure(made.plan, made.weights, made.tables, Timeline(queues_), {},
                               keeps ? &made.before : nullptr);
    return made;
  }

  // The plan that fetches these, where it is faster: what is in front of the first difference need not be measured again.
  void take_better(const std::vector<bool>& fetched, Measured& best) {
    Measured& other = other_;
    other.plan.fetched.assign(fetched.begin(), fetched.end());
    place(other.plan);
    Range range = differences(best.plan, other.plan, {0, units_.size()});
    if (range.from == units_.size()) return;
    range.limit = best.plan.cycles;
    other.weights = best.weights, other.tables = best.tables;
    other.before.clear();
    const double cycles = measure(other.plan, other.weights, other.tables, best.before[range.from],
                                  range, &other.before);
    if (cycles >= best.plan.cycles) return;
    std::copy(other.before.begin(), other.before.end(),
              best.before.begin() + static_cast<ptrdiff_t>(range.from));
    std::swap(best.plan, other.plan);
    std::swap(best.weights, other.weights), std::swap(best.tables, other.tables);
    best.plan.cycles = cycles;
  }

  // Keeps it when it is faster.
  bool try_other_way(size_t unit, Measured& best, Reach& reach) {
    Measured& other = other_;
    const Stretch changed = place_otherwise(unit, best.plan, other.plan);
    Range range = known_.is_best ? differences(best.plan, other.plan, changed)
                                 : differences(best.plan, other.plan, {0, units_.size()});
    reach = {range.from, units_.size()};
    if (range.from == units_.size()) {  // there is no room for it, whatever takes it
      reach.first = 0;
      return false;
    }
    other.weights = best.weights, other.tables = best.tables;
    range.limit = best.plan.cycles;
    range.known = &best;
    const double cycles = measure(other.plan, other.weights, other.tables, best.before[range.from],
                                  range, nullptr, &reach.last);
    if (cycles >= best.plan.cycles) return false;
    // Once more, for the timelines in front of the units. Behind them they are those that there are, at another time.
    const size_t end = reach.last;
    const Timeline known_there = end < units_.size() ? best.before[end] : Timeline(queues_);
    Range again;
    again.from = range.from, again.end = end;
    const std::vector<int64_t> weights = best.weights, tables = best.tables;
    best.weights = other.weights, best.tables = other.tables;
    const Timeline first = best.before[range.from];
    Timeline now = first;
    other.before.clear();
    measure(other.plan, best.weights, best.tables, first, again, &other.before, nullptr, &now);
    std::copy(other.before.begin(), other.before.end(),
              best.before.begin() + static_cast<ptrdiff_t>(range.from));
    if (end < units_.size()) {
      const double later = now.now() - known_there.now();
      const int64_t more = now.transfers_started() - known_there.transfers_started();
      for (size_t k = end; k < units_.size(); ++k) best.before[k].delay(later, more);
      // Transfers that are issued from there on are numbered anew.
      const auto renumber = [&](const std::vector<int32_t>& position,
                                const std::vector<int64_t>& known, std::vector<int64_t>& numbers) {
        for (size_t i = end; i < units_.size(); ++i)
          if (position[i] >= static_cast<int32_t>(end) && known[i] >= 0)
            numbers[i] = known[i] + more;
      };
      renumber(other.plan.position, weights, best.weights);
      renumber(other.plan.table_position, tables, best.tables);
    }
    std::swap(best.plan, other.plan);
    best.plan.cycles = cycles;
    known_.is_of_best = false;
    return true;
  }

  bool is_fetched(const Plan& plan, size_t i) const { return plan.fetched[source_[i]] != 0; }
  const OperationCost& cost(const Plan& plan, size_t i) const {
    return is_fetched(plan, i) ? units_[i].fetched : units_[i].direct;
  }

  // Units that are measured: those from `from`, where those before are, to `end`. Infinity as soon as it is not below `limit`. Behind `last`,
  // the last that differs from `known`, it ends where the timeline goes on as that one did.
  struct Range {
    size_t from = 0, end = std::numeric_limits<size_t>::max();
    double limit = std::numeric_limits<double>::infinity();
    const Measured* known = nullptr;
    int32_t last = -1;
  };

  // From the first unit in front of which other commands stand, or which takes another time, to the last such unit, or whose transfers
  // stand elsewhere; `from` behind all units: there is none.
  // Both are the same outside of the stretch, but what units use that an owner in it fetches.
  Range differences(const Plan& a, const Plan& b, const Stretch& changed) const {
    Range range;
    auto first = static_cast<int32_t>(units_.size());
    const auto at = [&](int32_t one, int32_t other) {
      for (const int32_t place : {one, other})
        if (place >= 0) first = std::min(first, place);
    };
    for (size_t i = changed.first; i < changed.end; ++i) {
      const bool same_cost = is_fetched(a, i) == is_fetched(b, i),
                 same_place =
                     a.position[i] == b.position[i] && a.reserved_from[i] == b.reserved_from[i],
                 same_table = a.table_position[i] == b.table_position[i];
      if (same_cost && same_place && same_table) continue;
      range.last = static_cast<int32_t>(i);
      if (!same_cost) first = std::min(first, static_cast<int32_t>(i));
      if (!same_place) at(a.position[i], b.position[i]);
      if (!same_table) at(a.table_position[i], b.table_position[i]);
    }
    range.from = static_cast<size_t>(first);
    return range;
  }

  // Whether transfers that are issued in front of unit k for it and later ones are as recent in both.
  bool waits_alike(const Plan& plan, const std::vector<int64_t>& weights,
                   const std::vector<int64_t>& tables, const Timeline& now, const Measured& known,
                   size_t k) const {
    const int64_t more = now.transfers_started() - known.before[k].transfers_started();
    const auto alike = [&](const std::vector<int32_t>& position, const std::vector<int64_t>& in_a,
                           const std::vector<int64_t>& in_b) {
      for (size_t i = k; i < units_.size(); ++i)
        if (position[i] >= 0 && position[i] < static_cast<int32_t>(k) &&
            in_a[i] - in_b[i] != (in_b[i] < 0 ? 0 : more))
          return false;
      return true;
    };
    return alike(plan.position, weights, known.weights) &&
           alike(plan.table_position, tables, known.tables);
  }

  // Where transfers go when there is room for all of them, and what that follows from, of each unit: when it starts, and when
  // the engine has to begin what is transferred for it and those behind it.
  struct Wanted {
    std::vector<double> starts, engine;
  };

  // Starts every transfer as late as its operation need not wait for it, but not where memory is short.
  void place(Plan& plan, std::vector<int32_t>* wanted_from = nullptr) const {
    const size_t count = units_.size();
    plan.position.assign(count, -1);
    plan.reserved_from.assign(count, -1);
    plan.table_position.assign(count, -1);
    wanted_.starts.resize(count + 1);
    wanted_.engine.resize(count);
    follow(plan, 0, wanted_.starts);
    want(plan, wanted_, [](size_t, double) { return false; });
    if (wanted_from != nullptr) *wanted_from = plan.reserved_from;
    used_ = live_;
    for (size_t i = 0; i < count; ++i) fit(plan, i, used_);
  }

  // The plan of `best` with the constants of one unit the other way. Outside of the units that it returns it is as known_.plan.
  Stretch place_otherwise(size_t unit, const Plan& best, Plan& plan) const {
    if (!known_.is_of_best) know(best);
    plan.fetched = best.fetched;
    plan.fetched[unit] ^= 1;
    plan.position = known_.plan.position;
    plan.reserved_from = known_.plan.reserved_from;
    plan.table_position = known_.plan.table_position;
    const size_t count = units_.size();
    wanted_.starts.resize(count + 1);
    wanted_.engine.resize(count);
    // Of units in front the starts are those that are known.
    std::copy_n(known_.wanted.starts.begin(), unit + 1, wanted_.starts.begin());
    follow(plan, unit, wanted_.starts);
    // Where the engine has the same to do in front of the unit, all that is in front of there is the same.
    const size_t first = want(plan, wanted_, [&](size_t i, double engine) {
      return i <= unit && engine == known_.wanted.engine[i];
    });
    std::copy_n(known_.plan.fetched.begin(), first, plan.fetched.begin());
    if (known_.taken > first) {
      known_.used = live_;
      known_.taken = 0;
    }
    take_room(known_.plan, known_.taken, first, known_.used);
    known_.taken = first;
    used_ = known_.used;
    // Behind the last unit that wants another place nothing changes but what finds other room.
    size_t alike = count;
    while (alike > unit + 1 && plan.reserved_from[alike - 1] == known_.wanted_from[alike - 1] &&
           plan.table_position[alike - 1] == known_.plan.table_position[alike - 1])
      --alike;
    size_t other_room = 0;  // up to where another room is taken than in the plan that is known
    for (size_t i = first; i < count; ++i) {
      if (i >= alike && other_room <= known_.looks_from[i]) {
        const auto at = static_cast<ptrdiff_t>(i);
        const auto rest = [&](const auto& from, auto& to) {
          std::copy(from.begin() + at, from.end(), to.begin() + at);
        };
        rest(known_.plan.fetched, plan.fetched);
        rest(known_.plan.position, plan.position);
        rest(known_.plan.reserved_from, plan.reserved_from);
        // Units that use the constants of another are fetched as that is.
        return {first, std::max(i, last_use(first, i))};
      }
      fit(plan, i, used_);
      if (plan.fetched[i] != known_.plan.fetched[i] ||
          plan.reserved_from[i] != known_.plan.reserved_from[i])
        other_room = std::max<size_t>(other_room, constants_[i].last_user + 1);
    }
    return {first, count};
  }

  // Behind the last unit that uses constants of those of a stretch.
  size_t last_use(size_t first, size_t end) const {
    size_t last = end;
    for (size_t i = first; i < end; ++i) last = std::max<size_t>(last, constants_[i].last_user + 1);
    return last;
  }

  // Places what `best` fetches, as what is tried beside it is compared to.
  void know(const Plan& best) const {
    known_.plan.fetched = best.fetched;
    place(known_.plan, &known_.wanted_from);
    std::swap(known_.wanted, wanted_);
    known_.is_of_best = true;
    known_.is_best = known_.plan.fetched == best.fetched && known_.plan.position == best.position &&
                     known_.plan.reserved_from == best.reserved_from &&
                     known_.plan.table_position == best.table_position;
    known_.used = live_;
    known_.taken = 0;
    // What does not fit, or what wants more room than there was, has looked at what is in front of its place.
    known_.looks_from.resize(units_.size());
    size_t least = units_.size();
    for (size_t i = units_.size(); i-- > 0;) {
      if (best.fetched[i] != 0)
        least = std::min(least, static_cast<size_t>(std::max(known_.wanted_from[i], 0)));
      known_.looks_from[i] = least;
    }
  }

  void follow(const Plan& plan, size_t first, std::vector<double>& starts) const {
    for (size_t i = first; i < units_.size(); ++i) {
      const Span& span = spans_[i][is_fetched(plan, i) ? 1 : 0];
      starts[i + 1] = starts[i] + span.alone + span.first_fetch;
    }
  }

  // From the last unit on, as long as `ends` does not say of a unit, when the engine has begun what is for it, that those in
  // front of it are known. Returns the first that was not.
  template <class Ends>
  size_t want(Plan& plan, Wanted& wanted, const Ends& ends) const {
    const std::vector<double>& starts = wanted.starts;
    const size_t count = units_.size();
    double engine = starts[count];
    size_t at = count;  // the last unit that starts no later than the engine; both go backwards
    for (size_t i = count; i-- > 0;) {
      const Constants& constants = constants_[i];
      const auto before = [&](double cycles) {
        engine = std::min(engine, starts[i]) - cycles;
        at = std::min(at, i);
        while (at > 0 && starts[at] > engine) --at;
        return static_cast<int32_t>(at);
      };
      plan.position[i] = -1;
      plan.reserved_from[i] = plan.fetched[i] != 0 ? before(constants.transfer) : -1;
      if (constants.has_table)
        plan.table_position[i] =
            std::max(issue_position(before(constants.table), i), units_[i].table_earliest);
      wanted.engine[i] = engine;
      if ((plan.fetched[i] != 0 || constants.has_table) && ends(i, engine)) return i;
    }
    return 0;
  }

  // Commands in front of unit k are executed when the unit before it is in the queue of operations: with a depth of 2,
  // when unit k - 2 begins.
  int32_t issue_position(int32_t running, size_t unit) const {
    return std::min(static_cast<int32_t>(unit), running + queues_.operations);
  }

  // `used` is what is taken where those in front of it have their places.
  void fit(Plan& plan, size_t i, std::vector<int64_t>& used) const {
    if (plan.fetched[i] == 0) return;
    // From the unit itself towards the wanted position, as far as there is room.
    const int64_t bytes = constants_[i].bytes;
    const size_t last = constants_[i].last_user;
    bool fits = true;
    for (size_t k = i + 1; k <= last; ++k) fits = fits && used[k] + bytes <= budget_;
    auto from = static_cast<int32_t>(i) + 1;
    while (fits && from > plan.reserved_from[i] &&
           used[static_cast<size_t>(from - 1)] + bytes <= budget_)
      --from;
    if (from > static_cast<int32_t>(i)) {
      plan.fetched[i] = 0;
      plan.reserved_from[i] = -1;
      return;
    }
    plan.reserved_from[i] = from;
    plan.position[i] = issue_position(from, i);
    for (size_t k = static_cast<size_t>(from); k <= last; ++k) used[k] += bytes;
  }

  // What the constants of these units take in a plan that has been fitted.
  void take_room(const Plan& plan, size_t first, size_t end, std::vector<int64_t>& used) const {
    for (size_t i = first; i < end; ++i)
      if (plan.fetched[i] != 0)
        for (auto k = static_cast<size_t>(plan.reserved_from[i]); k <= constants_[i].last_user; ++k)
          used[k] += constants_[i].bytes;
  }

  // `timeline` is as it is in front of the first unit of the range; `keep` gets those in front of each, and `now` the
  // one in front of the end. `end` gets the unit in front of which it ended.
  double measure(const Plan& plan, std::vector<int64_t>& weights, std::vector<int64_t>& tables,
                 Timeline timeline, const Range& range, std::vector<Timeline>* keep,
                 size_t* end = nullptr, Timeline* now = nullptr) const {
    // Units whose constants or tables are issued in front of unit k, as lists.
    const auto none = static_cast<int32_t>(units_.size());
    auto& [first, next, first_table, next_table] = lists_;
    for (std::vector<int32_t>* list : {&first, &next, &first_table, &next_table})
      list->resize(units_.size());
    for (std::vector<int32_t>* heads : {&first, &first_table})
      std::fill(heads->begin() + static_cast<ptrdiff_t>(range.from), heads->end(), none);
    // Those that are issued in the range have no number yet.
    for (int32_t i = none; i-- > static_cast<int32_t>(range.from);) {
      const auto add = [&](int32_t at, std::vector<int32_t>& heads, std::vector<int32_t>& links,
                           std::vector<int64_t>& numbers) {
        if (at >= 0 && at < static_cast<int32_t>(range.from)) return;
        numbers[static_cast<size_t>(i)] = -1;
        if (at < 0 || at > i) return;
        links[static_cast<size_t>(i)] = std::exchange(heads[static_cast<size_t>(at)], i);
      };
      add(plan.position[static_cast<size_t>(i)], first, next, weights);
      add(plan.table_position[static_cast<size_t>(i)], first_table, next_table, tables);
    }
    for (size_t k = range.from; k < units_.size(); ++k) {
      if (timeline.now() >= range.limit) return std::numeric_limits<double>::infinity();
      if (range.known != nullptr && static_cast<int32_t>(k) > range.last &&
          timeline.goes_on_as(range.known->before[k]) &&
          waits_alike(plan, weights, tables, timeline, *range.known, k)) {
        *end = k;
        return range.known->plan.cycles + (timeline.now() - range.known->before[k].now());
      }
      if (k == range.end) {
        *now = timeline;
        return timeline.now();
      }
      if (keep != nullptr) keep->push_back(timeline);
      // In the order of the units, a table before constants.
      for (int32_t weight = first[k], table = first_table[k]; weight < none || table < none;) {
        const bool is_table = table <= weight;
        const auto i = static_cast<size_t>(is_table ? table : weight);
        if (is_table) {
          tables[i] = timeline.transfer(units_[i].table);
          table = next_table[i];
        } else {
          timeline.wait_for_operations(plan.position[i] - plan.reserved_from[i]);
          weights[i] = timeline.transfer(units_[i].transfer);
          weight = next[i];
        }
      }
      if (weights[k] >= 0) timeline.wait_for(weights[k]);
      if (tables[k] >= 0) timeline.wait_for(tables[k]);
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
  std::vector<uint32_t> source_;  // the unit whose constants each unit uses

  // Of each unit, close together: what placing asks for.
  struct Constants {
    double transfer = 0, table = 0;  // cycles
    int64_t bytes = 0;
    uint32_t last_user = 0;
    bool has_table = false;
  };
  std::vector<Constants> constants_;
  std::vector<int64_t> live_;

  // The best plan's fetched constants, placed again: what did not fit in it is no longer in the way of others.
  struct Known {
    bool is_of_best = false;
    Plan plan;
    bool is_best = false;  // the plan is the best one
    Wanted wanted;
    std::vector<int32_t> wanted_from;  // where each would be reserved from if there were room
    std::vector<size_t> looks_from;  // the first unit whose room matters to a unit or one behind it
    std::vector<int64_t> used;  // by maps, and by the constants of the units in front of `taken`
    size_t taken = 0;
  };
  mutable Known known_;

  // Scratch of what is called for every change that is tried.
  Measured other_;
  mutable Wanted wanted_;
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
  return Planner(queues, units, budget).placed(fetched);
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
