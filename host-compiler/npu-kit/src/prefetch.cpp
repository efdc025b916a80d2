#include "intarsia/npu/prefetch.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "prefetch/state.h"
#include "prefetch/times.h"

namespace intarsia::npu {
namespace {

using prefetch::Later;
using prefetch::Measured;
using prefetch::moved;
using prefetch::Plan;
using prefetch::Range;

// Units of a plan that is being made: from `first` to `end` they stand where others stood in one that is known, from `first` to
// `known_end`. All others are those of that plan.
struct Beside {
  const Measured* known = nullptr;
  size_t first = 0, end = 0, known_end = 0;
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
  Planner(const QueueDepths& queues, const std::vector<PrefetchUnit>& units, int64_t budget,
          PortUse use = PortUse::OfTransfers)
      : queues_(queues), units_(units), budget_(budget), budgets_{.least = budget}, times_(units) {
    // What an operation moves over the port that transfers keep busiest, these do not move meanwhile.
    std::array<double, kMostPorts> busy = {};
    for (const PrefetchUnit& unit : units)
      for (size_t port = 0; port < kMostPorts; ++port) busy[port] += unit.transfer.ports[port];
    const auto port =
        static_cast<size_t>(std::max_element(busy.begin(), busy.end()) - busy.begin());
    const auto span = [&](const OperationCost& cost, bool waits) {
      const double moves = use == PortUse::OfAll ? cost.ports[port] : 0;
      return Span{std::max(0.0, cost.alone() - moves), waits ? cost.first_fetch : 0};
    };
    spans_.reserve(units.size());
    constants_.reserve(units.size());
    live_.reserve(units.size());
    for (const PrefetchUnit& unit : units) {
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

  // `kept` gets what was measured.
  PrefetchPlan improved(const std::vector<std::vector<bool>>& starts, size_t first, size_t end,
                        const Beside* beside = nullptr, Measured* kept = nullptr) {
    Measured best =
        beside != nullptr ? measured_beside(starts.at(0), *beside) : measured(starts.at(0));
    bool changed = false;
    for (size_t i = 1; i < starts.size(); ++i) changed = take_better(starts[i], best) || changed;
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
        better = changed = true;
        for (std::optional<Reach>& other : in_vain)
          if (other && other->first <= reach.last && reach.first <= other->last) other.reset();
      }
      if (!better) break;
    }
    // The sum of differences is not rounded as the whole is.
    if (changed) best.plan.cycles = measured_again(best);
    if (kept == nullptr) return result(std::move(best.plan));
    PrefetchPlan made = result(best.plan);
    *kept = std::move(best);
    return made;
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
            plan.peak_bytes,
            budgets_};
  }

  Measured measured(const std::vector<bool>& fetched, bool keeps = true) const {
    Measured made;
    made.plan.fetched.assign(fetched.begin(), fetched.end());
    place(made.plan);
    made.weights.assign(units_.size(), -1), made.tables.assign(units_.size(), -1);
    if (keeps) made.before.reserve(units_.size());
    made.plan.cycles = times_.measure(made.plan, made.weights, made.tables, Timeline(queues_), {},
                                      keeps ? &made.before : nullptr);
    made.exact = made.before.size();
    return made;
  }

  // From the last unit on whose time is exact.
  double measured_again(Measured& made) const {
    if (made.exact == 0)
      return times_.measure(made.plan, made.weights, made.tables, Timeline(queues_), {}, nullptr);
    Range rest;
    rest.from = made.exact - 1;
    return times_.measure(made.plan, made.weights, made.tables, made.before[rest.from], rest,
                          nullptr);
  }

  // The same where most units are those of a plan that is known: what is in front of the first change is measured, and what is behind
  // the last goes on as it did.
  Measured measured_beside(const std::vector<bool>& fetched, const Beside& beside) const {
    const Measured& known = *beside.known;
    const size_t count = units_.size();
    Measured made;
    made.plan.fetched.assign(fetched.begin(), fetched.end());
    place(made.plan);
    Range range = differences_beside(made.plan, beside);
    const auto numbers_of = [&](const std::vector<int64_t>& numbers) {
      std::vector<int64_t> result(count, -1);
      std::copy_n(numbers.begin(), beside.first, result.begin());
      std::copy(numbers.begin() + static_cast<ptrdiff_t>(beside.known_end), numbers.end(),
                result.begin() + static_cast<ptrdiff_t>(beside.end));
      return result;
    };
    made.weights = numbers_of(known.weights), made.tables = numbers_of(known.tables);
    made.before.reserve(count);
    made.before.assign(known.before.begin(),
                       known.before.begin() + static_cast<ptrdiff_t>(range.from));
    size_t end = count;
    Timeline now = known.before[range.from];
    made.plan.cycles =
        times_.measure(made.plan, made.weights, made.tables, now, range, &made.before, &end, &now);
    made.exact = range.from < known.exact ? end : known.exact;
    if (end == count) return made;
    const Timeline& known_there = known.before[moved(end, range.move)];
    const Later later = {now.now() - known_there.now(),
                         now.transfers_started() - known_there.transfers_started()};
    for (size_t k = end; k < count; ++k) {
      made.before.push_back(known.before[moved(k, range.move)]);
      made.before.back().delay(later.cycles, later.transfers);
    }
    times_.renumber(made.plan.position, end, known.weights, range.move, later, made.weights);
    times_.renumber(made.plan.table_position, end, known.tables, range.move, later, made.tables);
    return made;
  }

  Range differences_beside(const Plan& plan, const Beside& beside) const {
    const Plan& known = beside.known->plan;
    Range range;
    range.known = beside.known;
    range.move = static_cast<int32_t>(beside.end) - static_cast<int32_t>(beside.known_end);
    range.ahead = 1;
    // The first behind the others may wait otherwise.
    range.last = static_cast<int32_t>(beside.end);
    size_t from = beside.first;
    const auto at = [&](const Plan& of, size_t i) {
      for (const int32_t place : {of.position[i], of.table_position[i]})
        if (place >= 0) from = std::min(from, static_cast<size_t>(place));
    };
    const auto alike = [&](int32_t place, int32_t other) {
      if (other >= static_cast<int32_t>(beside.known_end)) return place == other + range.move;
      return place == other && other < static_cast<int32_t>(beside.first);
    };
    for (size_t i = 0; i < units_.size(); ++i) {
      range.ahead = std::max(range.ahead, times_.issued_ahead(plan, i));
      if (i >= beside.first && i < beside.end) {
        at(plan, i);
        continue;
      }
      const size_t j = i < beside.first ? i : moved(i, range.move), own = times_.source(i),
                   source = own < beside.first ? own : moved(own, range.move);
      const bool same_cost = times_.is_fetched(plan, i) == (known.fetched[source] != 0);
      if (same_cost && alike(plan.position[i], known.position[j]) &&
          alike(plan.reserved_from[i], known.reserved_from[j]) &&
          alike(plan.table_position[i], known.table_position[j]))
        continue;
      range.last = std::max(range.last, static_cast<int32_t>(i));
      if (!same_cost) from = std::min(from, i);
      at(plan, i), at(known, j);
    }
    for (size_t j = beside.first; j < beside.known_end; ++j) at(known, j);
    range.from = from;
    return range;
  }

  // The plan that fetches these, where it is faster.
  bool take_better(const std::vector<bool>& fetched, Measured& best) {
    other_.plan.fetched.assign(fetched.begin(), fetched.end());
    place(other_.plan);
    const Range range = differences(best.plan, other_.plan, {0, units_.size()});
    Reach reach;
    return range.from < units_.size() && take_faster(range, best, reach);
  }

  // Keeps it when it is faster.
  bool try_other_way(size_t unit, Measured& best, Reach& reach) {
    const Stretch changed = place_otherwise(unit, best.plan, other_.plan);
    const Range range = known_.is_best ? differences(best.plan, other_.plan, changed)
                                       : differences(best.plan, other_.plan, {0, units_.size()});
    reach = {range.from, units_.size()};
    if (range.from == units_.size()) {  // there is no room for it, whatever takes it
      reach.first = 0;
      return false;
    }
    if (!take_faster(range, best, reach)) return false;
    known_.is_of_best = false;
    return true;
  }

  // The other plan, which differs in that range, where it is faster. What is in front of the first difference need not be measured
  // again, nor what goes on as it did.
  bool take_faster(Range range, Measured& best, Reach& reach) {
    Measured& other = other_;
    reach = {range.from, units_.size()};
    other.weights = best.weights, other.tables = best.tables;
    range.limit = best.plan.cycles;
    range.known = &best;
    const double cycles = times_.measure(other.plan, other.weights, other.tables,
                                         best.before[range.from], range, nullptr, &reach.last);
    if (cycles >= best.plan.cycles) return false;
    // Once more, for the timelines in front of the units. Behind them they are those that there are, at another time.
    const size_t end = reach.last;
    const Timeline known_there = end < units_.size() ? best.before[end] : Timeline(queues_);
    Range again;
    again.from = range.from, again.end = end, again.ahead = range.ahead;
    const std::vector<int64_t> weights = best.weights, tables = best.tables;
    best.weights = other.weights, best.tables = other.tables;
    const Timeline first = best.before[range.from];
    Timeline now = first;
    other.before.clear();
    times_.measure(other.plan, best.weights, best.tables, first, again, &other.before, nullptr,
                   &now);
    std::copy(other.before.begin(), other.before.end(),
              best.before.begin() + static_cast<ptrdiff_t>(range.from));
    if (range.from < best.exact) best.exact = end;
    if (end < units_.size()) {
      const Later later = {now.now() - known_there.now(),
                           now.transfers_started() - known_there.transfers_started()};
      for (size_t k = end; k < units_.size(); ++k)
        best.before[k].delay(later.cycles, later.transfers);
      times_.renumber(other.plan.position, end, weights, 0, later, best.weights);
      times_.renumber(other.plan.table_position, end, tables, 0, later, best.tables);
    }
    std::swap(best.plan, other.plan);
    best.plan.cycles = cycles;
    return true;
  }

  // From the first unit in front of which other commands stand, or which takes another time, to the last such unit, or whose transfers
  // stand elsewhere; `from` behind all units: there is none.
  // Both are the same outside of the stretch, but what units use that an owner in it fetches.
  Range differences(const Plan& a, const Plan& b, const Stretch& changed) const {
    Range range;
    range.ahead = known_.is_best ? known_.ahead : 1;
    auto first = static_cast<int32_t>(units_.size());
    const auto at = [&](int32_t one, int32_t other) {
      for (const int32_t place : {one, other})
        if (place >= 0) first = std::min(first, place);
    };
    for (size_t i = changed.first; i < changed.end; ++i) {
      const bool same_cost = times_.is_fetched(a, i) == times_.is_fetched(b, i),
                 same_place =
                     a.position[i] == b.position[i] && a.reserved_from[i] == b.reserved_from[i],
                 same_table = a.table_position[i] == b.table_position[i];
      range.ahead = std::max(range.ahead, times_.issued_ahead(b, i));
      if (same_cost && same_place && same_table) continue;
      range.last = static_cast<int32_t>(i);
      if (!same_cost) first = std::min(first, static_cast<int32_t>(i));
      if (!same_place) at(a.position[i], b.position[i]);
      if (!same_table) at(a.table_position[i], b.table_position[i]);
    }
    range.from = static_cast<size_t>(first);
    return range;
  }

  // Where transfers go when there is room for all of them, and what that follows from, of each unit: when it starts (in the time that is
  // left to transfers), and when the engine has to begin what is transferred for it and those behind it.
  // `places`: the last unit that starts no later than that.
  struct Wanted {
    std::vector<double> starts, engine;
    std::vector<uint32_t> places;

    void resize(size_t units) {
      starts.resize(units + 1);
      engine.resize(units);
      places.resize(units);
    }
  };

  // Starts every transfer as late as its operation need not wait for it, but not where memory is short.
  void place(Plan& plan, std::vector<int32_t>* wanted_from = nullptr) const {
    const size_t count = units_.size();
    plan.position.assign(count, -1);
    plan.reserved_from.assign(count, -1);
    plan.table_position.assign(count, -1);
    wanted_.resize(count);
    follow(plan, 0, count, wanted_.starts);
    want(plan, wanted_, count, wanted_.starts[count], [](size_t, double) { return false; });
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
    wanted_.resize(count);
    // Units behind those that take another time start so much later, and so does what is transferred for them, but for what begins
    // in front of there.
    const size_t other_time = constants_[unit].last_user + 1;
    size_t behind = other_time;
    while (behind < count && known_.wanted.places[behind] < other_time) ++behind;
    // Of units in front the starts are those that are known.
    std::copy_n(known_.wanted.starts.begin(), unit + 1, wanted_.starts.begin());
    follow(plan, unit, behind, wanted_.starts);
    const double engine = behind == count ? wanted_.starts[count]
                                          : wanted_.starts[behind] + (known_.wanted.engine[behind] -
                                                                      known_.wanted.starts[behind]);
    // Where the engine has the same to do in front of the unit, all that is in front of there is the same.
    const size_t first = want(plan, wanted_, behind, engine, [&](size_t i, double its_engine) {
      return i <= unit && its_engine == known_.wanted.engine[i];
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
    size_t alike = behind;
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
      if (i >= behind) {
        plan.position[i] = -1;
        plan.reserved_from[i] = known_.wanted_from[i];
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
    known_.ahead = 1;
    for (size_t i = 0; i < units_.size(); ++i)
      known_.ahead = std::max(known_.ahead, times_.issued_ahead(known_.plan, i));
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

  void follow(const Plan& plan, size_t first, size_t end, std::vector<double>& starts) const {
    for (size_t i = first; i < end; ++i) {
      const Span& span = spans_[i][times_.is_fetched(plan, i) ? 1 : 0];
      starts[i + 1] = starts[i] + span.alone + span.first_fetch;
    }
  }

  // From the last unit in front of `end` on, what is for those behind begun by the engine then, as long as `ends` does not say of a
  // unit, when the engine has begun what is for it, that those in front of it are known. Returns the first that was not.
  template <class Ends>
  size_t want(Plan& plan, Wanted& wanted, size_t end, double engine, const Ends& ends) const {
    const std::vector<double>& starts = wanted.starts;
    size_t at = end;  // the last unit that starts no later than the engine; both go backwards
    for (size_t i = end; i-- > 0;) {
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
      wanted.places[i] = static_cast<uint32_t>(at);
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
    const int64_t bytes = constants_[i].bytes, most = budget_ - bytes;
    const size_t last = constants_[i].last_user;
    int64_t* const taken = used.data();
    size_t user = i + 1;
    while (user <= last && taken[user] <= most) ++user;
    const bool fits = user > last;
    if (!fits) budgets_.refuse(taken[user] + bytes);
    auto from = static_cast<int32_t>(i) + 1;
    if (fits) {
      const int32_t wanted = plan.reserved_from[i];
      // Four at a time where all have it: transfers may begin many units ahead, and most of what placing them takes is this.
      for (; from - wanted >= 4; from -= 4) {
        int64_t* const four = taken + (from - 4);
        if (((most - four[0]) | (most - four[1]) | (most - four[2]) | (most - four[3])) < 0) break;
        for (int k = 0; k < 4; ++k) four[k] += bytes;
      }
      for (; from > wanted && taken[from - 1] <= most; --from) taken[from - 1] += bytes;
      if (from > wanted) budgets_.refuse(taken[from - 1] + bytes);
    }
    if (from > static_cast<int32_t>(i)) {
      plan.fetched[i] = 0;
      plan.reserved_from[i] = -1;
      return;
    }
    plan.reserved_from[i] = from;
    plan.position[i] = issue_position(from, i);
    for (size_t k = i + 1; k <= last; ++k) used[k] += bytes;
  }

  // What the constants of these units take in a plan that has been fitted.
  void take_room(const Plan& plan, size_t first, size_t end, std::vector<int64_t>& used) const {
    for (size_t i = first; i < end; ++i)
      if (plan.fetched[i] != 0)
        for (auto k = static_cast<size_t>(plan.reserved_from[i]); k <= constants_[i].last_user; ++k)
          used[k] += constants_[i].bytes;
  }

  const QueueDepths& queues_;
  const std::vector<PrefetchUnit>& units_;
  int64_t budget_;
  mutable BudgetRange budgets_;       // with which all that was asked has the same answers
  mutable prefetch::Measurer times_;  // its scratch changes

  // How long a unit leaves the port to transfers, by itself: with its constants where they are, and fetched.
  struct Span {
    double alone = 0, first_fetch = 0;
  };
  std::vector<std::array<Span, 2>> spans_;

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
    size_t ahead = 1;  // of all units
  };
  mutable Known known_;

  // Scratch of what is called for every change that is tried.
  Measured other_;
  mutable Wanted wanted_;
  mutable std::vector<int64_t> used_;
};

}  // namespace

std::vector<bool> all_constants(const std::vector<PrefetchUnit>& units) {
  std::vector<bool> result(units.size());
  for (size_t i = 0; i < units.size(); ++i) result[i] = units[i].bytes > 0;
  return result;
}

PrefetchPlan place_prefetch(const QueueDepths& queues, const std::vector<PrefetchUnit>& units,
                            std::vector<bool> fetched, int64_t budget, PortUse use) {
  return Planner(queues, units, budget, use).placed(fetched);
}

KnownPrefetch::KnownPrefetch(const QueueDepths& queues, const std::vector<PrefetchUnit>& units,
                             const std::vector<std::vector<bool>>& starts, size_t first, size_t end,
                             int64_t budget)
    : queues_(queues), budget_(budget), measured_(std::make_unique<prefetch::Measured>()) {
  plan_ = Planner(queues, units, budget).improved(starts, first, end, nullptr, measured_.get());
}
KnownPrefetch::KnownPrefetch(KnownPrefetch&&) noexcept = default;
KnownPrefetch::~KnownPrefetch() = default;

PrefetchPlan KnownPrefetch::with_others(const std::vector<PrefetchUnit>& units,
                                        const OtherUnits& others,
                                        const std::vector<std::vector<bool>>& starts, size_t first,
                                        size_t end) const {
  const Beside beside = {measured_.get(), others.first, others.end, others.known_end};
  return Planner(queues_, units, budget_).improved(starts, first, end, &beside);
}

PrefetchPlan plan_prefetch(const QueueDepths& queues, const std::vector<PrefetchUnit>& units,
                           int64_t budget, PortUse use) {
  return Planner(queues, units, budget, use).run();
}

}  // namespace intarsia::npu
