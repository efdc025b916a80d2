#include "plan/first_fit.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <tuple>

namespace intarsia::plan {

namespace {

using Order = std::vector<int>;

// In the given order, each item into the lowest gap between those placed before.
std::vector<int64_t> lowest_gap(const Instance& instance, const Order& order) {
  std::vector<int64_t> offsets(instance.items.size(), -1);
  // Fixed items do not wait for their turn: the gaps are what they leave.
  for (int i : instance.fixed_items) offsets[i] = instance.items[i].fixed;
  std::vector<std::pair<int64_t, int64_t>> taken;  // places between the two are not for the item
  for (int i : order) {
    if (offsets[i] >= 0) continue;
    const auto& item = instance.items[i];
    taken.clear();
    for (size_t j = 0; j < offsets.size(); ++j)
      if (offsets[j] >= 0 && instance.overlap(i, static_cast<int>(j)))
        taken.push_back({offsets[j] - instance.separation(i, static_cast<int>(j)),
                         offsets[j] + instance.separation(static_cast<int>(j), i)});
    std::sort(taken.begin(), taken.end());
    int64_t offset = 0;
    for (const auto& [begin, end] : taken) {
      if (offset <= begin) break;
      const int64_t above = (end + item.alignment - 1) / item.alignment * item.alignment;
      offset = std::max(offset, above);
    }
    offsets[i] = offset;
  }
  return offsets;
}

// Always the item that can lie lowest; among those, the first of the order.
std::vector<int64_t> lowest_first(const Instance& instance, const Order& order) {
  std::vector<int64_t> offsets(instance.items.size(), 0);
  for (size_t i = 0; i < offsets.size(); ++i)
    offsets[i] = instance.fit_above(static_cast<int>(i), 0);
  for (Order rest = order; !rest.empty();) {
    const auto lowest = std::min_element(rest.begin(), rest.end(),
                                         [&](int a, int b) { return offsets[a] < offsets[b]; });
    const int best = *lowest;
    rest.erase(lowest);
    for (int i : rest)
      if (instance.overlap(i, best)) {
        const int64_t top = offsets[best] + instance.separation(best, i);
        offsets[i] = std::max(offsets[i], instance.fit_above(i, top));
      }
  }
  return offsets;
}

struct Named {
  const char* name;
  Order order;
};

std::vector<Named> orders_of(const Instance& instance) {
  std::vector<int64_t> crowd(instance.items.size(), 0);  // the fullest section an item is alive in
  for (const auto& section : instance.in_section) {
    int64_t alive = 0;
    for (int i : section) alive += instance.items[i].size;
    for (int i : section) crowd[i] = std::max(crowd[i], alive);
  }
  const auto by = [&](auto key) {
    Order order(instance.items.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(),
              [&](int a, int b) { return std::tuple(key(a), a) < std::tuple(key(b), b); });
    return order;
  };
  const auto& items = instance.items;
  return {
      {"by size", by([&](int i) { return std::tuple(-items[i].size, -items[i].steps); })},
      {"by area", by([&](int i) { return std::tuple(-items[i].weight, -items[i].size); })},
      {"by lifetime", by([&](int i) { return std::tuple(-items[i].steps, -items[i].size); })},
      {"by crowd", by([&](int i) { return std::tuple(-crowd[i], -items[i].weight); })},
      {"by crowd and size", by([&](int i) { return std::tuple(-crowd[i], -items[i].size); })},
      {"by start", by([&](int i) { return std::tuple(items[i].first, -items[i].size); })},
      {"by end", by([&](int i) { return std::tuple(-items[i].last, -items[i].size); })},
  };
}

}  // namespace

GreedyAnswer best_greedy(const Instance& instance) {
  const std::vector<Named> orders = orders_of(instance);
  GreedyAnswer best;
  for (const Named& named : orders) {
    for (const bool gaps : {true, false}) {
      // Fixed items may float out of reach of lowest_first's order, so gaps alone serve them.
      if (!gaps && !instance.fixed_items.empty()) continue;
      auto offsets = gaps ? lowest_gap(instance, named.order) : lowest_first(instance, named.order);
      instance.settle(offsets);
      const int64_t peak = instance.peak(offsets);
      if (!best.offsets.empty() && peak >= best.peak) continue;
      best = {std::move(offsets), peak, named.name};
    }
  }
  return best;
}

GreedyAnswer improved_greedy(const Instance& instance, int64_t enough, int64_t& changes) {
  const auto placed = [&](const Order& order) {
    GreedyAnswer answer{lowest_gap(instance, order), 0, ""};
    instance.settle(answer.offsets);
    answer.peak = instance.peak(answer.offsets);
    return answer;
  };
  std::vector<Named> orders = orders_of(instance);
  GreedyAnswer best;
  Order order;
  for (Named& named : orders) {
    GreedyAnswer answer = placed(named.order);
    if (!best.offsets.empty() && answer.peak >= best.peak) continue;
    best = std::move(answer);
    order = std::move(named.order);
  }
  std::mt19937_64 random(1);
  for (; changes > 0 && best.peak > enough; --changes) {
    Order other = order;
    const size_t from = random() % other.size(), to = random() % other.size();
    const int item = other[from];
    other.erase(other.begin() + static_cast<ptrdiff_t>(from));
    other.insert(other.begin() + static_cast<ptrdiff_t>(to), item);
    GreedyAnswer answer = placed(other);
    if (answer.peak > best.peak) continue;  // an equal one leads on
    best = std::move(answer);
    order = std::move(other);
  }
  best.method = "improved";
  return best;
}

}  // namespace intarsia::plan
