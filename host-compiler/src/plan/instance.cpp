#include "plan/instance.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

namespace intarsia::plan {

namespace {

// The largest unit in which every size, fixed offset, distance and alignment (above one) is whole, allowing
// for alignments that the sizes keep by themselves.
int64_t common_unit(const PlacementProblem& problem, const std::vector<int>& members,
                    const std::vector<PlacementProblem::Overlap>& overlaps) {
  int64_t unit = 0;
  for (int i : members) {
    unit = std::gcd(unit, problem.buffers[i].size);
    unit = std::gcd(unit, problem.buffers[i].fixed_offset.value_or(0));
  }
  for (const PlacementProblem::Overlap& overlap : overlaps) unit = std::gcd(unit, overlap.distance);
  // Every shrinking of the unit can break an alignment seen before, so repeat until it is stable.
  for (bool stable = false; !stable;) {
    stable = true;
    for (int i : members) {
      const int64_t alignment = problem.buffers[i].alignment;
      if (unit % alignment == 0 || alignment % unit == 0) continue;
      unit = std::gcd(unit, alignment);
      stable = false;
    }
  }
  return unit;
}

// `overlaps` are those between members; they name buffers, and `item_of` the item of each.
Instance make_instance(const PlacementProblem& problem, const std::vector<int>& members,
                       const std::vector<PlacementProblem::Overlap>& overlaps,
                       std::vector<int>& item_of) {
  Instance instance;
  instance.unit = common_unit(problem, members, overlaps);
  std::vector<int64_t> starts;
  for (int i : members) starts.push_back(problem.buffers[i].lower);
  std::sort(starts.begin(), starts.end());
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  // A section begins where a buffer begins. Where one only ends, less is alive than just before, so
  // those stretches add no conflict of their own.
  instance.section_count = static_cast<int>(starts.size());
  const auto section_of = [&](int64_t step) {
    return static_cast<int>(std::upper_bound(starts.begin(), starts.end(), step) - starts.begin()) -
           1;
  };
  for (int i : members) {
    const auto& buffer = problem.buffers[i];
    Instance::Item item;
    item.first = section_of(buffer.lower);
    item.last = section_of(buffer.upper - 1);
    item.size = buffer.size / instance.unit;
    item.alignment = instance.unit % buffer.alignment == 0 ? 1 : buffer.alignment / instance.unit;
    if (buffer.fixed_offset) item.fixed = *buffer.fixed_offset / instance.unit;
    item.steps = buffer.upper - buffer.lower;
    if (__builtin_mul_overflow(item.size, item.steps, &item.weight))
      item.weight = std::numeric_limits<int64_t>::max();
    item.buffer = i;
    const int index = static_cast<int>(instance.items.size());
    item_of[i] = index;
    if (item.fixed >= 0) instance.fixed_items.push_back(index);
    instance.items.push_back(item);
  }
  for (const PlacementProblem::Overlap& overlap : overlaps)
    instance.overlaps.push_back(
        {item_of[overlap.low], item_of[overlap.high], overlap.distance / instance.unit});
  std::sort(instance.overlaps.begin(), instance.overlaps.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.low, a.high, a.distance) < std::tuple(b.low, b.high, b.distance);
  });
  instance.index_items();
  std::sort(instance.fixed_items.begin(), instance.fixed_items.end(), [&](int a, int b) {
    return std::pair(instance.items[a].fixed, a) < std::pair(instance.items[b].fixed, b);
  });
  return instance;
}

// The highest end so far in every section; ends only grow.
class Skyline {
 public:
  explicit Skyline(int sections) {
    while (leaves_ < sections) leaves_ *= 2;
    most_.assign(2 * static_cast<size_t>(leaves_), 0);
    all_.assign(2 * static_cast<size_t>(leaves_), 0);
  }
  int64_t highest(int first, int last) const { return highest(1, 0, leaves_, first, last + 1); }
  void raise(int first, int last, int64_t end) { raise(1, 0, leaves_, first, last + 1, end); }

 private:
  // `all_` holds for the whole range of a node, `most_` for some section of it.
  int64_t highest(int node, int begin, int end, int first, int past) const {
    if (past <= begin || end <= first) return 0;
    if (first <= begin && end <= past) return most_[node];
    const int middle = (begin + end) / 2;
    return std::max({all_[node], highest(2 * node, begin, middle, first, past),
                     highest(2 * node + 1, middle, end, first, past)});
  }
  void raise(int node, int begin, int end, int first, int past, int64_t value) {
    if (past <= begin || end <= first) return;
    most_[node] = std::max(most_[node], value);
    if (first <= begin && end <= past) {
      all_[node] = std::max(all_[node], value);
      return;
    }
    const int middle = (begin + end) / 2;
    raise(2 * node, begin, middle, first, past, value);
    raise(2 * node + 1, middle, end, first, past, value);
  }

  int leaves_ = 1;
  std::vector<int64_t> most_, all_;
};

}  // namespace

void Instance::index_items() {
  while (leaves_ < static_cast<int>(items.size())) leaves_ *= 2;
  latest_.assign(2 * static_cast<size_t>(leaves_), -1);
  for (size_t i = 0; i < items.size(); ++i)
    latest_[static_cast<size_t>(leaves_) + i] = items[i].last;
  for (int node = leaves_ - 1; node > 0; --node)
    latest_[node] = std::max(latest_[2 * node], latest_[2 * node + 1]);
}

int Instance::next_ending_at_or_after(int from, int section) const {
  if (from >= leaves_) return from;
  int node = leaves_ + from;
  while (latest_[node] < section) {
    // To the right neighbour, from the level at which there is one.
    while (node % 2 == 1) node /= 2;
    if (node == 0) return leaves_;
    ++node;
  }
  while (node < leaves_) {
    node *= 2;
    if (latest_[node] < section) ++node;
  }
  return node - leaves_;
}

int64_t Instance::section_entries() const {
  int64_t entries = 0;
  for (const Item& item : items) entries += item.last - item.first + 1;
  return entries;
}

void Instance::list_sections() {
  if (!in_section.empty()) return;
  in_section.resize(static_cast<size_t>(section_count));
  for (size_t i = 0; i < items.size(); ++i)
    for (int s = items[i].first; s <= items[i].last; ++s)
      in_section[s].push_back(static_cast<int>(i));
}

int64_t Instance::fit_above(int item, int64_t at_least) const {
  const Item& it = items[item];
  if (it.fixed >= 0) return std::max(it.fixed, at_least);
  // A division takes long, and most units are whole alignments.
  const auto aligned = [&](int64_t offset) {
    return it.alignment == 1 ? offset : (offset + it.alignment - 1) / it.alignment * it.alignment;
  };
  int64_t offset = aligned(at_least);
  for (int f : fixed_items) {
    const Item& fixed = items[f];
    if (overlap(item, f) && fixed.fixed < offset + it.size && offset < fixed.fixed + fixed.size)
      offset = aligned(fixed.fixed + fixed.size);
  }
  return offset;
}

void Instance::settle(std::vector<int64_t>& offsets) const {
  std::vector<int> order(items.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return std::pair(offsets[a], a) < std::pair(offsets[b], b); });
  if (!overlaps.empty()) {
    for (const int i : order) {
      int64_t rest = 0;
      for_each_alive_with(i, [&](int j) {  // what lies beneath, which may begin at the same offset
        const int64_t above = offsets[j] + separation(j, i);
        if (above <= offsets[i]) rest = std::max(rest, above);
      });
      if (items[i].fixed < 0) offsets[i] = std::min(offsets[i], fit_above(i, rest));
    }
    return;
  }
  Skyline skyline(section_count);
  for (int i : order) {
    const int64_t rest = skyline.highest(items[i].first, items[i].last);
    if (items[i].fixed < 0) offsets[i] = std::min(offsets[i], fit_above(i, rest));
    skyline.raise(items[i].first, items[i].last, offsets[i] + items[i].size);
  }
}

int64_t Instance::peak(const std::vector<int64_t>& offsets) const {
  int64_t peak = 0;
  for (size_t i = 0; i < items.size(); ++i) peak = std::max(peak, offsets[i] + items[i].size);
  return peak;
}

std::vector<Instance> split_problem(const PlacementProblem& problem) {
  std::vector<int> order;
  for (size_t i = 0; i < problem.buffers.size(); ++i)
    if (problem.buffers[i].size > 0) order.push_back(static_cast<int>(i));
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return std::pair(problem.buffers[a].lower, a) < std::pair(problem.buffers[b].lower, b);
  });
  std::vector<std::vector<int>> parts;
  std::vector<int> part_of(problem.buffers.size(), -1);
  int64_t end = std::numeric_limits<int64_t>::min();
  for (int i : order) {
    if (problem.buffers[i].lower >= end) parts.emplace_back();
    parts.back().push_back(i);
    part_of[i] = static_cast<int>(parts.size()) - 1;
    end = std::max(end, problem.buffers[i].upper);
  }
  std::vector<std::vector<PlacementProblem::Overlap>> overlaps(parts.size());
  for (const PlacementProblem::Overlap& overlap : problem.overlaps)
    if (part_of[overlap.low] >= 0 && part_of[overlap.low] == part_of[overlap.high])
      overlaps[part_of[overlap.low]].push_back(overlap);
  std::vector<Instance> instances;
  std::vector<int> item_of(problem.buffers.size(), -1);
  for (size_t p = 0; p < parts.size(); ++p)
    instances.push_back(make_instance(problem, parts[p], overlaps[p], item_of));
  PlacementProblem part;
  for (Instance& instance : instances) {
    part.buffers.clear();
    part.overlaps.clear();
    for (const auto& item : instance.items) part.buffers.push_back(problem.buffers[item.buffer]);
    for (const auto& overlap : instance.overlaps)
      part.overlaps.push_back({overlap.low, overlap.high, overlap.distance * instance.unit});
    // Rounding up is sound: every peak is a whole number of units.
    instance.bound = (live_bound(part) + instance.unit - 1) / instance.unit;
  }
  return instances;
}

}  // namespace intarsia::plan
