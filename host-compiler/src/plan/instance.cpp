#include "plan/instance.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace intarsia::plan {

namespace {

// The largest unit in which every size, fixed offset, distance and alignment (above one) is whole, allowing
// for alignments that the sizes keep by themselves.
int64_t common_unit(const PlacementProblem& problem, const std::vector<int>& members) {
  int64_t unit = 0;
  for (int i : members) {
    unit = std::gcd(unit, problem.buffers[i].size);
    unit = std::gcd(unit, problem.buffers[i].fixed_offset.value_or(0));
  }
  for (const PlacementProblem::Overlap& overlap : problem.overlaps)
    unit = std::gcd(unit, overlap.distance);
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

Instance make_instance(const PlacementProblem& problem, std::vector<int> members) {
  Instance instance;
  instance.unit = common_unit(problem, members);
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
  instance.in_section.resize(starts.size());
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
    for (int s = item.first; s <= item.last; ++s) instance.in_section[s].push_back(index);
    if (item.fixed >= 0) instance.fixed_items.push_back(index);
    instance.items.push_back(item);
  }
  for (const PlacementProblem::Overlap& overlap : problem.overlaps) {
    const auto item_of = [&](int buffer) {
      const auto found = std::find(members.begin(), members.end(), buffer);
      return found == members.end() ? -1 : static_cast<int>(found - members.begin());
    };
    const int low = item_of(overlap.low), high = item_of(overlap.high);
    if (low >= 0 && high >= 0)
      instance.overlaps.push_back({low, high, overlap.distance / instance.unit});
  }
  std::sort(instance.fixed_items.begin(), instance.fixed_items.end(), [&](int a, int b) {
    return std::pair(instance.items[a].fixed, a) < std::pair(instance.items[b].fixed, b);
  });
  return instance;
}

}  // namespace

int64_t Instance::fit_above(int item, int64_t at_least) const {
  const Item& it = items[item];
  if (it.fixed >= 0) return std::max(it.fixed, at_least);
  const auto aligned = [&](int64_t offset) {
    return (offset + it.alignment - 1) / it.alignment * it.alignment;
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
      for (const int j : order) {  // what lies beneath, which may begin at the same offset
        const bool beneath = j != i && overlap(i, j) && offsets[j] + separation(j, i) <= offsets[i];
        if (beneath) rest = std::max(rest, offsets[j] + separation(j, i));
      }
      if (items[i].fixed < 0) offsets[i] = std::min(offsets[i], fit_above(i, rest));
    }
    return;
  }
  std::vector<int64_t> top(section_count, 0);
  for (int i : order) {
    int64_t rest = 0;
    for (int s = items[i].first; s <= items[i].last; ++s) rest = std::max(rest, top[s]);
    if (items[i].fixed < 0) offsets[i] = std::min(offsets[i], fit_above(i, rest));
    for (int s = items[i].first; s <= items[i].last; ++s)
      top[s] = std::max(top[s], offsets[i] + items[i].size);
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
  std::vector<Instance> instances;
  std::vector<int> members;
  int64_t end = std::numeric_limits<int64_t>::min();
  const auto close = [&] {
    if (!members.empty()) instances.push_back(make_instance(problem, std::move(members)));
    members.clear();
  };
  for (int i : order) {
    if (problem.buffers[i].lower >= end) close();
    members.push_back(i);
    end = std::max(end, problem.buffers[i].upper);
  }
  close();
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
