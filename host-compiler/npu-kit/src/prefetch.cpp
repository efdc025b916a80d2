#include "intarsia/npu/prefetch.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace intarsia::npu {
namespace {

class Planner {
 public:
  Planner(const QueueDepths& queues, const std::vector<PrefetchUnit>& units, int64_t budget)
      : queues_(queues), units_(units), budget_(budget) {}

  PrefetchPlan run() {
    PrefetchPlan best = placed(std::vector<bool>(units_.size(), false));
    PrefetchPlan all = placed(all_constants(units_));
    if (all.cycles < best.cycles) best = std::move(all);
    // One at a time, the other way, as long as it helps.
    for (int round = 0; round < 3; ++round) {
      bool better = false;
      for (size_t i = 0; i < units_.size(); ++i) {
        if (units_[i].bytes == 0) continue;
        PrefetchPlan other = best;
        other.fetched[i] = !other.fetched[i];
        place(other);
        if (other.cycles < best.cycles) {
          best = std::move(other);
          better = true;
        }
      }
      if (!better) break;
    }
    return best;
  }

  PrefetchPlan placed(std::vector<bool> fetched) const {
    PrefetchPlan plan;
    plan.fetched = std::move(fetched);
    place(plan);
    return plan;
  }

 private:
  const OperationCost& cost(const PrefetchPlan& plan, size_t i) const {
    const size_t owner = units_[i].owner < 0 ? i : static_cast<size_t>(units_[i].owner);
    return plan.fetched[owner] ? units_[i].fetched : units_[i].direct;
  }

  // Starts every transfer as late as its operation need not wait for it, but not where memory is short.
  void place(PrefetchPlan& plan) const {
    const size_t count = units_.size();
    std::vector<double> starts(count + 1, 0);
    for (size_t i = 0; i < count; ++i)
      starts[i + 1] =
          starts[i] + cost(plan, i).alone() + (units_[i].waits ? cost(plan, i).first_fetch : 0);
    plan.position.assign(count, -1);
    plan.reserved_from.assign(count, -1);
    plan.table_position.assign(count, -1);
    double engine = starts[count];
    for (size_t i = count; i-- > 0;) {
      const auto before = [&](const TransferCost& transfer) {
        engine = std::min(engine, starts[i]) - transfer.cycles;
        const auto after =
            std::upper_bound(starts.begin(), starts.begin() + static_cast<int64_t>(i) + 1, engine);
        return std::max(0, static_cast<int32_t>(after - starts.begin()) - 1);
      };
      if (plan.fetched[i]) plan.reserved_from[i] = before(units_[i].transfer);
      if (units_[i].has_table)
        plan.table_position[i] =
            std::max(issue_position(before(units_[i].table), i), units_[i].table_earliest);
    }
    fit(plan);
    plan.cycles = measure(plan);
  }

  // Commands in front of unit k are executed when the unit before it is in the queue of operations: with a depth of 2,
  // when unit k - 2 begins.
  int32_t issue_position(int32_t running, size_t unit) const {
    return std::min(static_cast<int32_t>(unit), running + queues_.operations);
  }

  void fit(PrefetchPlan& plan) const {
    std::vector<int64_t> used(units_.size());
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

  double measure(const PrefetchPlan& plan) const {
    Timeline timeline(queues_);
    std::vector<int64_t> weights(units_.size(), -1), tables(units_.size(), -1);
    // Units whose constants or tables are issued in front of unit k, as lists.
    const auto none = static_cast<int32_t>(units_.size());
    std::vector<int32_t> first(units_.size(), none), next(units_.size(), none);
    std::vector<int32_t> first_table(units_.size(), none), next_table(units_.size(), none);
    for (int32_t i = none; i-- > 0;) {
      const auto add = [&](int32_t at, std::vector<int32_t>& heads, std::vector<int32_t>& links) {
        if (at < 0 || at > i) return;
        links[static_cast<size_t>(i)] = std::exchange(heads[static_cast<size_t>(at)], i);
      };
      add(plan.position[static_cast<size_t>(i)], first, next);
      add(plan.table_position[static_cast<size_t>(i)], first_table, next_table);
    }
    for (size_t k = 0; k < units_.size(); ++k) {
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

PrefetchPlan plan_prefetch(const QueueDepths& queues, const std::vector<PrefetchUnit>& units,
                           int64_t budget) {
  return Planner(queues, units, budget).run();
}

}  // namespace intarsia::npu
