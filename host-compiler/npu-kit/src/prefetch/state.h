// Plans of constants that are fetched while they are made, and what was measured for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "intarsia/npu/timeline.h"

namespace intarsia::npu::prefetch {

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
  size_t exact =
      0;  // the first so many timelines are what the whole plan measured at once gives; others are rounded otherwise
};

inline constexpr int32_t kNone = std::numeric_limits<int32_t>::max();

// Units whose constants or tables are issued in front of unit k, in their order. Units are added by rising numbers.
struct IssueLists {
  std::vector<int32_t> first, last, next;

  void clear(size_t units) {
    for (std::vector<int32_t>* list : {&first, &last, &next}) list->resize(units);
  }
  // What is issued from `from` on has no number yet.
  void add(size_t unit, int32_t at, size_t from, std::vector<int64_t>& numbers) {
    const auto i = static_cast<int32_t>(unit);
    first[unit] = next[unit] = kNone;
    if (at >= 0 && at < static_cast<int32_t>(from)) return;
    numbers[unit] = -1;
    if (at < 0 || at > i) return;
    const auto k = static_cast<size_t>(at);
    (first[k] == kNone ? first[k] : next[static_cast<size_t>(last[k])]) = i;
    last[k] = i;
  }
};

}  // namespace intarsia::npu::prefetch
