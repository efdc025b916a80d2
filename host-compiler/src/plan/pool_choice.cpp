#include "plan/pool_choice.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "plan/load_profile.h"
#include "support/watched.h"

namespace intarsia::plan {

int64_t capacity_of(const MemoryPool& pool, int32_t alignment) {
  if (pool.size == 0) return std::numeric_limits<int64_t>::max();
  return std::max<int64_t>(0, pool.size - std::max(0, alignment - pool.alignment));
}

std::vector<std::vector<int>> members_of(const PoolTask& task, const std::vector<int>& pools) {
  std::vector<std::vector<int>> members(task.memory.pools.size());
  for (size_t g = 0; g < pools.size(); ++g)
    members[static_cast<size_t>(pools[g])].push_back(static_cast<int>(g));
  return members;
}

PlacementProblem pool_problem(const PoolTask& task, int pool, const std::vector<int>& members) {
  const std::vector<Group>& groups = task.lifetimes.groups;
  PlacementProblem problem;
  std::vector<int32_t> place(groups.size(), -1);
  for (const int g : members) {
    const Group& group = groups[static_cast<size_t>(g)];
    place[static_cast<size_t>(g)] = static_cast<int32_t>(problem.buffers.size());
    problem.buffers.push_back({task.schedule.buffer(group.buffers.front()).name, group.first_step,
                               group.last_step + 1, group.bytes, group.alignment, std::nullopt});
  }
  for (const GroupOverlap& overlap : task.lifetimes.overlaps) {
    const int32_t low = place[static_cast<size_t>(overlap.low)];
    const int32_t high = place[static_cast<size_t>(overlap.high)];
    if (low >= 0 && high >= 0) problem.overlaps.push_back({low, high, overlap.distance});
  }
  const MemoryPool& memory = task.memory.pools[static_cast<size_t>(pool)];
  if (memory.size > 0) problem.capacity = capacity_of(memory, task.alignment);
  return problem;
}

namespace {

constexpr int kNowhere = -1;

// Where groups lie so far, and how full that makes every memory. Padding is not counted, and pairs that may
// overlap are taken to share all they can: no placement needs less.
class Loads {
 public:
  explicit Loads(const PoolTask& task)
      : task_(task),
        pool_(task.lifetimes.groups.size(), kNowhere),
        profiles_(task.memory.pools.size(), LoadProfile(task.lifetimes.steps)),
        overlaps_(task.lifetimes.groups.size()) {
    for (size_t i = 0; i < task.lifetimes.overlaps.size(); ++i) {
      overlaps_[static_cast<size_t>(task.lifetimes.overlaps[i].low)].push_back(i);
      overlaps_[static_cast<size_t>(task.lifetimes.overlaps[i].high)].push_back(i);
    }
  }

  int pool(size_t group) const { return pool_[group]; }
  const std::vector<int>& pools() const { return pool_; }
  bool overlaps(size_t group) const { return !overlaps_[group].empty(); }

  void put(size_t group, int pool) {
    pool_[group] = pool;
    const Group& it = task_.lifetimes.groups[group];
    profile(pool).add(it.first_step, it.last_step, it.bytes);
    count_savings(group, pool, -1);
  }
  void take(size_t group) {
    const int pool = pool_[group];
    const Group& it = task_.lifetimes.groups[group];
    profile(pool).add(it.first_step, it.last_step, -it.bytes);
    count_savings(group, pool, 1);
    pool_[group] = kNowhere;
  }

  int64_t capacity(int pool) const {
    return capacity_of(task_.memory.pools[static_cast<size_t>(pool)], task_.alignment);
  }
  bool is_overfull(int pool) const {
    return profiles_[static_cast<size_t>(pool)].most() > capacity(pool);
  }
  int64_t room_during(const Group& group, int pool) const {
    return capacity(pool) -
           profiles_[static_cast<size_t>(pool)].most(group.first_step, group.last_step);
  }
  int32_t fullest_step(int pool) const {
    return profiles_[static_cast<size_t>(pool)].fullest_step();
  }

 private:
  LoadProfile& profile(int pool) { return profiles_[static_cast<size_t>(pool)]; }
  void count_savings(size_t group, int pool, int sign) {
    for (const size_t i : overlaps_[group]) {
      const GroupOverlap& overlap = task_.lifetimes.overlaps[i];
      const auto low = static_cast<size_t>(overlap.low), high = static_cast<size_t>(overlap.high);
      if (pool_[low] != pool || pool_[high] != pool) continue;
      const Group &a = task_.lifetimes.groups[low], &b = task_.lifetimes.groups[high];
      const int64_t shared = a.bytes + b.bytes - std::max(a.bytes, overlap.distance + b.bytes);
      const int32_t first = std::max(a.first_step, b.first_step);
      const int32_t last = std::min(a.last_step, b.last_step);
      if (shared > 0 && first <= last) profile(pool).add(first, last, sign * shared);
    }
  }

  const PoolTask& task_;
  std::vector<int> pool_;  // per group
  std::vector<LoadProfile> profiles_;
  std::vector<std::vector<size_t>> overlaps_;  // per group
};

std::vector<int> order_by(const std::vector<Group>& groups, auto key) {
  std::vector<int> order(groups.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return std::tuple(key(groups[static_cast<size_t>(a)]), a) <
           std::tuple(key(groups[static_cast<size_t>(b)]), b);
  });
  return order;
}

class Chooser {
 public:
  Chooser(const PoolTask& task, int64_t budget)
      : task_(task), groups_(task.lifetimes.groups), budget_(budget), left_(budget), loads_(task) {}

  // Everyone where it would like to be; what is too much moves on to the next of its candidates.
  bool spill() {
    const std::vector<int> by_size = order_by(groups_, [](const Group& g) { return -g.bytes; });
    std::vector<size_t> chosen(groups_.size(), 0);
    for (size_t g = 0; g < groups_.size(); ++g) loads_.put(g, task_.candidates[g][0]);
    std::vector<bool> settled(task_.memory.pools.size(), false);
    for (size_t p = 0; p < settled.size();) {
      const int pool = static_cast<int>(p);
      if (settled[p] || (!loads_.is_overfull(pool) && fits(pool, left_ / 4))) {
        settled[p++] = true;
        continue;
      }
      const int moved = group_to_move(pool, by_size, chosen);
      if (moved < 0) return false;
      const auto g = static_cast<size_t>(moved);
      loads_.take(g);
      loads_.put(g, task_.candidates[g][++chosen[g]]);
      const auto next = static_cast<size_t>(loads_.pool(g));
      settled[next] = false;
      p = std::min(p, next);
    }
    return true;
  }

  enum class End { Found, Exhausted, OutOfSteps };

  // Depth first over the assignments in changing orders, with ever more steps. Who lies where is decided by
  // what is alive together; a whole assignment is then tried out.
  End search() {
    const std::vector<int> orders[] = {
        order_by(groups_, [](const Group& g) { return -g.bytes; }),
        order_by(groups_, [](const Group& g) { return std::tuple(g.first_step, -g.bytes); }),
        order_by(groups_,
                 [](const Group& g) { return -g.bytes * (g.last_step - g.first_step + 1); })};
    constexpr int kOrders = 2 * static_cast<int>(std::size(orders));
    const auto count = static_cast<int64_t>(groups_.size());
    for (int attempt = 0; left_ > 0;) {
      const int round = std::min(attempt / kOrders, 30);
      const int64_t limit = std::max<int64_t>(4000, 8 * count) << round;
      const int64_t share = std::max<int64_t>(2000, 4 * count) << round;
      const bool last_round = limit >= left_;
      unproven_ = false;
      const End end = descend(orders[attempt % kOrders / 2], attempt % 2 == 1, limit, share);
      if (end == End::Found) return end;
      if (end == End::Exhausted && !unproven_) return end;
      if (last_round && end == End::Exhausted) break;
      // All orders meet the same assignments: what is missing is steps to place them.
      attempt = end == End::Exhausted ? (attempt / kOrders + 1) * kOrders : attempt + 1;
    }
    return End::OutOfSteps;
  }

  // Larger ones first: whoever fits into a memory that it likes better goes there, until nobody does or so
  // many steps are spent.
  void improve(int64_t most_steps) {
    const int64_t end = std::max<int64_t>(0, left_ - most_steps);
    const std::vector<int> by_size = order_by(groups_, [](const Group& g) { return -g.bytes; });
    for (bool moved = true; moved;) {
      moved = false;
      for (const int index : by_size) {
        if (left_ <= end) return;
        moved |= move_to_better(static_cast<size_t>(index));
      }
    }
  }

  PoolChoice answer(int64_t budget) {
    PoolChoice choice;
    choice.pools = loads_.pools();
    const auto members = members_of(task_, choice.pools);
    for (size_t p = 0; p < members.size(); ++p) {
      const auto found = tried_.find({static_cast<int>(p), members[p]});
      choice.fits.push_back(found == tried_.end() ? std::nullopt : found->second.solution);
    }
    choice.steps = budget - left_;
    return choice;
  }

  int64_t left() const { return left_; }
  int64_t assignments() const { return assignments_; }

 private:
  struct Tried {
    std::optional<PlacementSolution> solution;  // when it fits
    bool proven = false;                        // that it does not
    int64_t share = 0;                          // the steps that were allowed
  };

  void spend(int64_t steps) {
    constexpr int64_t kBetweenNews = 1024;
    left_ -= watched::is_wanted() ? std::min(left_, steps) : left_;
    if (!task_.on_progress || told_ - left_ < kBetweenNews) return;
    told_ = left_;
    task_.on_progress({"choosing memories, steps at most", budget_ - left_, budget_});
  }

  bool move_to_better(size_t group) {
    const int now = loads_.pool(group);
    for (const int better : task_.candidates[group]) {
      if (better == now) return false;
      loads_.take(group);
      loads_.put(group, better);
      if (!loads_.is_overfull(better) && fits(better, left_ / 16) && fits(now, left_ / 16))
        return true;
      loads_.take(group);
      loads_.put(group, now);
    }
    return false;
  }

  // Is there a placement of what lies in a memory? Asked again only with more steps.
  bool fits(int pool, int64_t share) {
    std::vector<int> members;
    for (size_t g = 0; g < groups_.size(); ++g)
      if (loads_.pool(g) == pool) members.push_back(static_cast<int>(g));
    if (members.empty() || task_.memory.pools[static_cast<size_t>(pool)].size == 0) return true;
    Tried& known = tried_[{pool, members}];
    if (known.solution) return true;
    if (!known.proven && known.share < std::max<int64_t>(1, share)) {
      spend(std::ssize(members));
      const PlacementProblem problem = pool_problem(task_, pool, members);
      known.share = std::max<int64_t>(1, share);
      const Result<FitOutcome> outcome =
          fit_in_capacity(problem, {std::min(known.share, left_), std::nullopt});
      INTARSIA_CHECK(outcome.ok(), "groups are a valid problem: " +
                                       (outcome.ok() ? "" : outcome.error().to_string()));
      spend(outcome->best.steps);
      known.proven = outcome->status == FitStatus::ProvenNotToFit;
      if (outcome->status == FitStatus::Fits) known.solution = outcome->best;
    }
    unproven_ |= !known.solution && !known.proven;
    return known.solution.has_value();
  }

  // Of those alive at the memory's fullest step that have another one to go to, one that did not ask for
  // this memory, and of these the one that takes most room. -1 when none can move.
  int group_to_move(int pool, const std::vector<int>& by_size,
                    const std::vector<size_t>& chosen) const {
    const int32_t step = loads_.fullest_step(pool);
    int asked_for_it = -1;
    for (const int index : by_size) {
      const auto g = static_cast<size_t>(index);
      const Group& group = groups_[g];
      if (loads_.pool(g) != pool || chosen[g] + 1 == task_.candidates[g].size() ||
          group.first_step > step || step > group.last_step)
        continue;
      if (group.memory != task_.memory.pools[static_cast<size_t>(pool)].name) return index;
      if (asked_for_it < 0) asked_for_it = index;
    }
    return asked_for_it;
  }

  using Levels = std::vector<uint64_t>;  // a set of levels of the search

  struct Level {
    std::vector<int> pools;  // to try
    size_t next = 0;
    Levels blamed;  // whose choices are in the way of those tried
  };

  static void insert(Levels& levels, size_t level) {
    levels[level / 64] |= uint64_t{1} << level % 64;
  }

  // The levels before `end` whose groups are in the way of one more in `pool`: of those alive with it.
  void blame(const std::vector<int>& order, size_t end, int pool, const Group* group,
             Levels& blamed) {
    for (size_t level = 0; level < end; ++level) {
      const auto other = static_cast<size_t>(order[level]);
      if (loads_.pool(other) != pool) continue;
      const Group& it = groups_[other];
      if (group == nullptr ||
          (it.first_step <= group->last_step && group->first_step <= it.last_step))
        insert(blamed, level);
    }
    spend(static_cast<int64_t>(end) / 16);
  }

  // Alike in all respects: exchanging the two changes nothing.
  bool twins(size_t a, size_t b) const {
    const Group &x = groups_[a], &y = groups_[b];
    return x.bytes == y.bytes && x.alignment == y.alignment && x.first_step == y.first_step &&
           x.last_step == y.last_step && task_.candidates[a] == task_.candidates[b] &&
           !loads_.overlaps(a) && !loads_.overlaps(b);
  }
  bool comes_before(size_t group, int pool, int other) const {
    const std::vector<int>& pools = task_.candidates[group];
    return std::find(pools.begin(), pools.end(), pool) <
           std::find(pools.begin(), pools.end(), other);
  }

  // Goes back to the last level that is to blame; what it blames for its own failures is joined by
  // `blamed`. False when nobody is to blame: there is no assignment.
  bool jump_back(const std::vector<int>& order, size_t& level, std::vector<Level>& levels,
                 const Levels& blamed) {
    size_t to = level;
    while (to > 0 && (blamed[(to - 1) / 64] >> (to - 1) % 64 & 1) == 0) --to;
    if (to == 0) return false;
    --to;
    for (size_t l = to; l < level; ++l) loads_.take(static_cast<size_t>(order[l]));
    for (size_t word = 0; word < blamed.size(); ++word) levels[to].blamed[word] |= blamed[word];
    levels[to].blamed[to / 64] &= ~(uint64_t{1} << to % 64);
    level = to;
    return true;
  }

  void enter(size_t group, bool roomiest_first, Level& level) const {
    level.pools = task_.candidates[group];
    level.next = 0;
    std::fill(level.blamed.begin(), level.blamed.end(), 0);
    if (roomiest_first)
      std::stable_sort(level.pools.begin(), level.pools.end(), [&](int a, int b) {
        return loads_.room_during(groups_[group], a) > loads_.room_during(groups_[group], b);
      });
  }

  End descend(const std::vector<int>& order, bool roomiest_first, int64_t limit, int64_t share) {
    for (size_t g = 0; g < groups_.size(); ++g)
      if (loads_.pool(g) != kNowhere) loads_.take(g);
    const int64_t end = std::max<int64_t>(0, left_ - limit);  // stops when this many are left
    std::vector<Level> levels(order.size());
    for (Level& level : levels) level.blamed.assign(order.size() / 64 + 1, 0);
    size_t level = 0;
    if (!order.empty()) enter(static_cast<size_t>(order[0]), roomiest_first, levels[0]);
    for (;;) {
      if (left_ <= end) return End::OutOfSteps;
      if (level == order.size()) {
        ++assignments_;
        int full = kNowhere;
        for (size_t p = 0; p < task_.memory.pools.size() && full == kNowhere; ++p)
          if (!fits(static_cast<int>(p), share)) full = static_cast<int>(p);
        if (full == kNowhere) return End::Found;
        Levels blamed(order.size() / 64 + 1, 0);
        blame(order, level, full, nullptr, blamed);
        if (!jump_back(order, level, levels, blamed)) return End::Exhausted;
        continue;
      }
      Level& here = levels[level];
      const auto group = static_cast<size_t>(order[level]);
      bool placed = false;
      while (!placed && here.next < here.pools.size()) {
        const int pool = here.pools[here.next++];
        spend(1);
        const bool has_twin = level > 0 && twins(group, static_cast<size_t>(order[level - 1]));
        if (has_twin &&
            comes_before(group, pool, loads_.pool(static_cast<size_t>(order[level - 1])))) {
          insert(here.blamed, level - 1);  // the exchanged assignment has been met
          continue;
        }
        loads_.put(group, pool);
        placed = !loads_.is_overfull(pool);
        if (placed) continue;
        loads_.take(group);
        blame(order, level, pool, &groups_[group], here.blamed);
      }
      if (placed) {
        if (++level < order.size())
          enter(static_cast<size_t>(order[level]), roomiest_first, levels[level]);
      } else {
        const Levels blamed = here.blamed;
        if (!jump_back(order, level, levels, blamed)) return End::Exhausted;
      }
    }
  }

  const PoolTask& task_;
  const std::vector<Group>& groups_;
  const int64_t budget_;
  int64_t left_;
  int64_t told_ = budget_;
  Loads loads_;
  std::map<std::pair<int, std::vector<int>>, Tried> tried_;
  bool unproven_ = false;  // somewhere the steps did not suffice to say that a memory is too small
  int64_t assignments_ = 0;
};

}  // namespace

PoolChoice choose_pools(const PoolTask& task, int64_t budget) {
  Chooser chooser(task, budget);
  Chooser::End end = Chooser::End::Found;
  if (!chooser.spill()) end = chooser.search();
  if (end == Chooser::End::Found) {
    chooser.improve(budget / 8);
    return chooser.answer(budget);
  }
  PoolChoice none;
  none.steps = budget - chooser.left();
  none.assignments = chooser.assignments();
  // Shared bytes are counted for the best that each pair could do, not for all pairs at once.
  none.exhausted = end == Chooser::End::Exhausted && task.lifetimes.overlaps.empty();
  return none;
}

}  // namespace intarsia::plan
