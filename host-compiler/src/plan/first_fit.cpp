#include "plan/first_fit.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <random>
#include <tuple>
#include <utility>

#include "plan/load_profile.h"

namespace intarsia::plan {

namespace {

using Order = std::vector<int>;

// Pairs of items alive together that all orders may look at: many large instances are content with one.
constexpr int64_t kMostWork = 50'000'000;

// In the given order, each item into the lowest gap between those placed before.
std::vector<int64_t> lowest_gap(const Instance& instance, const Order& order, int64_t& work) {
  std::vector<int64_t> offsets(instance.items.size(), -1);
  // Fixed items do not wait for their turn: the gaps are what they leave.
  for (int i : instance.fixed_items) offsets[i] = instance.items[i].fixed;
  std::vector<std::pair<int64_t, int64_t>> taken;  // places between the two are not for the item
  for (int i : order) {
    if (offsets[i] >= 0) continue;
    const auto& item = instance.items[i];
    taken.clear();
    instance.for_each_alive_with(i, [&](int j) {
      ++work;
      if (offsets[j] >= 0)
        taken.push_back(
            {offsets[j] - instance.separation(i, j), offsets[j] + instance.separation(j, i)});
    });
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
std::vector<int64_t> lowest_first(const Instance& instance, const Order& order, int64_t& work) {
  std::vector<int64_t> offsets(instance.items.size(), 0);
  std::vector<size_t> rank(order.size());
  for (size_t k = 0; k < order.size(); ++k) rank[order[k]] = k;
  std::vector<bool> placed(order.size(), false);
  using Entry = std::pair<int64_t, size_t>;  // an offset, which may be out of date, and a rank
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> waiting;
  for (size_t i = 0; i < offsets.size(); ++i) {
    offsets[i] = instance.fit_above(static_cast<int>(i), 0);
    waiting.push({offsets[i], rank[i]});
  }
  while (!waiting.empty()) {
    const auto [offset, at] = waiting.top();
    waiting.pop();
    const int lowest = order[at];
    if (placed[lowest]) continue;
    if (offset != offsets[lowest]) {  // it has risen since
      waiting.push({offsets[lowest], at});
      continue;
    }
    placed[lowest] = true;
    instance.for_each_alive_with(lowest, [&](int i) {
      ++work;
      if (placed[i]) return;
      const int64_t top = offsets[lowest] + instance.separation(lowest, i);
      if (top > offsets[i]) offsets[i] = std::max(offsets[i], instance.fit_above(i, top));
    });
  }
  return offsets;
}

struct Named {
  const char* name;
  Order order;
};

std::vector<Named> orders_of(const Instance& instance) {
  std::vector<int64_t> crowd;  // the fullest section an item is alive in
  LoadProfile profile(instance.section_count);
  for (const auto& item : instance.items) profile.add(item.first, item.last, item.size);
  for (const auto& item : instance.items) crowd.push_back(profile.most(item.first, item.last));
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
  int64_t work = 0;
  for (const Named& named : orders) {
    for (const bool gaps : {true, false}) {
      // Fixed items may float out of reach of lowest_first's order, so gaps alone serve them.
      if (!gaps && !instance.fixed_items.empty()) continue;
      auto offsets = gaps ? lowest_gap(instance, named.order, work)
                          : lowest_first(instance, named.order, work);
      instance.settle(offsets);
      const int64_t peak = instance.peak(offsets);
      if (best.offsets.empty() || peak < best.peak) best = {std::move(offsets), peak, named.name};
      if (best.peak <= instance.bound) return best;  // there is nothing to gain
      if (work > kMostWork) return best;
    }
  }
  return best;
}

GreedyAnswer improved_greedy(const Instance& instance, int64_t enough, int64_t& changes) {
  int64_t work = 0;
  const auto placed = [&](const Order& order) {
    GreedyAnswer answer{lowest_gap(instance, order, work), 0, ""};
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
  for (; changes > 0 && best.peak > enough && work <= 20 * kMostWork; --changes) {
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
