// What the solvers work on: one group of buffers that time cannot split, with steps compressed to
// sections between which nothing begins or ends, and sizes divided by what divides them all.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "intarsia/memory_plan.h"

namespace intarsia::plan {

struct Instance {
  struct Item {
    int first = 0;  // first and last section the buffer is alive in
    int last = 0;
    int64_t size = 0;
    int64_t alignment = 1;
    int64_t fixed = -1;  // an offset, or -1
    int64_t weight = 0;  // size times lifetime in steps, for orders by area (saturated)
    int64_t steps = 0;   // lifetime in steps
    int buffer = 0;      // its place in the problem
  };
  int section_count = 0;
  int64_t unit = 1;   // every number here times `unit` is bytes
  int64_t bound = 0;  // in units: no placement has a smaller peak
  std::vector<Item> items;
  // The items alive in each section, once list_sections() was called: the search wants them, and for many
  // long lives they are many.
  std::vector<std::vector<int>> in_section;
  std::vector<int> fixed_items;  // by offset
  struct Overlap {
    int low = 0, high = 0;  // items
    int64_t distance = 0;
  };
  std::vector<Overlap> overlaps;  // ascending by low, high and distance

  // Called once when `items` are complete; they ascend by their first section.
  void index_items();
  int64_t section_entries() const;  // over all of in_section
  void list_sections();

  // Calls what(j) for every other item that shares a section with item i.
  template <typename What>
  void for_each_alive_with(int i, const What& what) const {
    const int first = items[i].first, last = items[i].last;
    for (int j = next_ending_at_or_after(0, first); j < i;
         j = next_ending_at_or_after(j + 1, first))
      what(j);
    const int count = static_cast<int>(items.size());
    for (int j = i + 1; j < count && items[j].first <= last; ++j) what(j);
  }

  bool overlap(int a, int b) const {
    return items[a].first <= items[b].last && items[b].first <= items[a].last;
  }
  // How far above `low`'s offset `high` has to begin if it does not lie beneath it; both are alive
  // together.
  int64_t separation(int low, int high) const {
    const auto found = std::lower_bound(
        overlaps.begin(), overlaps.end(), std::pair(low, high),
        [](const Overlap& o, const auto& pair) { return std::pair(o.low, o.high) < pair; });
    const bool known = found != overlaps.end() && found->low == low && found->high == high;
    return known ? std::min(found->distance, items[low].size) : items[low].size;
  }
  // The least allowed offset of `item` that is at least `at_least` and clears every fixed item.
  int64_t fit_above(int item, int64_t at_least) const;
  // Drops every item as far as those below let it, in order of their offsets: never raises a peak.
  void settle(std::vector<int64_t>& offsets) const;
  int64_t peak(const std::vector<int64_t>& offsets) const;

 private:
  // The first item from `from` on whose last section is not before `section`; the number of items or more
  // if there is none.
  int next_ending_at_or_after(int from, int section) const;

  int leaves_ = 1;
  std::vector<int> latest_;  // a tree over the items: the latest last section below each node
};

// The independent groups of a valid problem, without buffers of size zero.
std::vector<Instance> split_problem(const PlacementProblem& problem);

}  // namespace intarsia::plan
