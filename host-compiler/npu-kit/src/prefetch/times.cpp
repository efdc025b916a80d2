#include "times.h"

namespace intarsia::npu::prefetch {

Measurer::Measurer(const std::vector<PrefetchUnit>& units) : units_(units) {
  source_.reserve(units.size());
  for (size_t i = 0; i < units.size(); ++i) {
    source_.push_back(
        static_cast<uint32_t>(units[i].owner < 0 ? static_cast<int64_t>(i) : units[i].owner));
    has_tables_ = has_tables_ || units[i].has_table;
  }
}

// Whether transfers that are issued in front of unit k for it and later ones are as recent in both.
bool Measurer::waits_alike(const Plan& plan, const std::vector<int64_t>& weights,
                           const std::vector<int64_t>& tables, const Timeline& now,
                           const Range& range, size_t k, size_t end) const {
  const int64_t more =
      now.transfers_started() - range.known->before[moved(k, range.move)].transfers_started();
  const auto alike = [&](const std::vector<int32_t>& position, const std::vector<int64_t>& in_a,
                         const std::vector<int64_t>& in_b) {
    for (size_t i = k; i < end; ++i)
      if (const int64_t other = in_b[moved(i, range.move)];
          position[i] >= 0 && position[i] < static_cast<int32_t>(k) &&
          in_a[i] - other != (other < 0 ? 0 : more))
        return false;
    return true;
  };
  return alike(plan.position, weights, range.known->weights) &&
         (!has_tables_ || alike(plan.table_position, tables, range.known->tables));
}

double Measurer::measure(const Plan& plan, std::vector<int64_t>& weights,
                         std::vector<int64_t>& tables, Timeline timeline, const Range& range,
                         std::vector<Timeline>* keep, size_t* end, Timeline* now) {
  const size_t count = units_.size();
  weights_issued_.clear(count);
  if (has_tables_) tables_issued_.clear(count);
  size_t listed = range.from;
  const auto list_to = [&](size_t to) {
    for (; listed < to; ++listed) {
      weights_issued_.add(listed, plan.position[listed], range.from, weights);
      if (has_tables_) tables_issued_.add(listed, plan.table_position[listed], range.from, tables);
    }
  };
  for (size_t k = range.from; k < count; ++k) {
    if (timeline.now() >= range.limit) return std::numeric_limits<double>::infinity();
    list_to(k + std::min(range.ahead, count - k));
    if (range.known != nullptr && static_cast<int32_t>(k) > range.last) {
      const Timeline& known = range.known->before[moved(k, range.move)];
      if (timeline.goes_on_as(known) &&
          waits_alike(plan, weights, tables, timeline, range, k, listed)) {
        *end = k;
        if (now != nullptr) *now = timeline;
        return range.known->plan.cycles + (timeline.now() - known.now());
      }
    }
    if (k == range.end) {
      *now = timeline;
      return timeline.now();
    }
    if (keep != nullptr) keep->push_back(timeline);
    // In the order of the units, a table before constants.
    int32_t weight = weights_issued_.first[k],
            table = has_tables_ ? tables_issued_.first[k] : kNone;
    while (weight != kNone || table != kNone) {
      const bool is_table = table <= weight;
      const auto i = static_cast<size_t>(is_table ? table : weight);
      if (is_table) {
        tables[i] = timeline.transfer(units_[i].table);
        table = tables_issued_.next[i];
      } else {
        timeline.wait_for_operations(plan.position[i] - plan.reserved_from[i]);
        weights[i] = timeline.transfer(units_[i].transfer);
        weight = weights_issued_.next[i];
      }
    }
    if (weights[k] >= 0) timeline.wait_for(weights[k]);
    if (tables[k] >= 0) timeline.wait_for(tables[k]);
    timeline.operation(cost(plan, k), units_[k].waits);
  }
  return timeline.finish();
}

void Measurer::renumber(const std::vector<int32_t>& position, size_t from,
                        const std::vector<int64_t>& known, int32_t move, const Later& later,
                        std::vector<int64_t>& numbers) const {
  for (size_t i = from; i < units_.size(); ++i)
    if (const int64_t number = known[moved(i, move)];
        position[i] >= static_cast<int32_t>(from) && number >= 0)
      numbers[i] = number + later.transfers;
}

}  // namespace intarsia::npu::prefetch
