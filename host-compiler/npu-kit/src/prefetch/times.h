// How long plans of constants that are fetched take, on the timeline, and what need not be measured again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "intarsia/npu/prefetch.h"
#include "state.h"

namespace intarsia::npu::prefetch {

// Units that are measured: those from `from`, where those before are, to `end`. Infinity as soon as it is not below `limit`. Behind
// `last`, the last that differs from `known`, it ends where the timeline goes on as that one did.
struct Range {
  size_t from = 0, end = std::numeric_limits<size_t>::max();
  double limit = std::numeric_limits<double>::infinity();
  const Measured* known = nullptr;
  int32_t last = -1;
  int32_t move = 0;  // how many places further in front the units of `known` are behind there
  // What a unit waits for is issued in front of fewer units than this.
  size_t ahead = std::numeric_limits<size_t>::max();
};

// What is issued behind a unit where everything goes on as it did: so much later, and with so many more transfers before it.
struct Later {
  double cycles = 0;
  int64_t transfers = 0;
};

// The place that a unit behind those that differ has in what is known.
inline size_t moved(size_t unit, int32_t move) {
  return static_cast<size_t>(static_cast<int64_t>(unit) - move);
}

class Measurer {
 public:
  explicit Measurer(const std::vector<PrefetchUnit>& units);

  // The unit whose constants a unit uses.
  size_t source(size_t unit) const { return source_[unit]; }
  bool is_fetched(const Plan& plan, size_t unit) const { return plan.fetched[source_[unit]] != 0; }
  // In front of how many units, with its own, what a unit waits for is issued.
  size_t issued_ahead(const Plan& plan, size_t unit) const {
    const auto ahead = [&](int32_t at) {
      return at < 0 || at > static_cast<int32_t>(unit) ? 1 : unit - static_cast<size_t>(at) + 1;
    };
    return std::max(ahead(plan.position[unit]), has_tables_ ? ahead(plan.table_position[unit]) : 1);
  }

  // `timeline` is as it is in front of the first unit of the range; `keep` gets those in front of each, and `now` the
  // one in front of the end. `end` gets the unit in front of which it ended.
  double measure(const Plan& plan, std::vector<int64_t>& weights, std::vector<int64_t>& tables,
                 Timeline timeline, const Range& range, std::vector<Timeline>* keep,
                 size_t* end = nullptr, Timeline* now = nullptr);

  // Numbers of transfers that are issued from unit `from` on, from those of `known`, whose units are `move` places further in front.
  void renumber(const std::vector<int32_t>& position, size_t from,
                const std::vector<int64_t>& known, int32_t move, const Later& later,
                std::vector<int64_t>& numbers) const;

 private:
  const OperationCost& cost(const Plan& plan, size_t i) const {
    return is_fetched(plan, i) ? units_[i].fetched : units_[i].direct;
  }
  bool waits_alike(const Plan& plan, const std::vector<int64_t>& weights,
                   const std::vector<int64_t>& tables, const Timeline& now, const Range& range,
                   size_t k, size_t end) const;

  const std::vector<PrefetchUnit>& units_;
  std::vector<uint32_t> source_;
  bool has_tables_ = false;
  IssueLists weights_issued_, tables_issued_;  // scratch
};

}  // namespace intarsia::npu::prefetch
