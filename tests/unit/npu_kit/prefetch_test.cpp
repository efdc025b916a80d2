// Plans of transfers beside others, and planning piece by piece beside planning all at once.
#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "intarsia/npu/prefetch_windows.h"

namespace intarsia::npu {
namespace {

// Operations of some thousand cycles with constants that take about as long to arrive. Some are stripes of one operation
// that share its constants.
std::vector<PrefetchUnit> random_units(uint32_t seed, int32_t operations) {
  std::mt19937 random(seed);
  std::vector<PrefetchUnit> units;
  for (int32_t operation = 0; operation < operations; ++operation) {
    const auto first = static_cast<int32_t>(units.size());
    const int32_t stripes = random() % 4 == 0 ? 3 : 1;
    for (int32_t s = 0; s < stripes; ++s) {
      PrefetchUnit unit;
      const double cycles = 1000.0 + random() % 4000;
      unit.fetched.pipeline = cycles;
      unit.direct.pipeline = cycles * (1 + random() % 3 / 2.0);
      unit.live_bytes = 1000 + random() % 20000;
      unit.operation = operation;
      unit.owner = s == 0 ? -1 : first;
      if (s == 0 && random() % 5 != 0) {
        unit.bytes = 1000 + random() % 30000;
        unit.transfer.cycles = static_cast<double>(unit.bytes) / 8;
      }
      units.push_back(unit);
    }
    if (stripes > 1) units[static_cast<size_t>(first)].last_user = first + stripes - 1;
  }
  return units;
}

// No plan that differs in one unit is better, and neither are nothing and everything.
TEST(Prefetch, IsNoWorseThanItsNeighbours) {
  const QueueDepths queues;
  int some = 0;
  for (uint32_t seed = 0; seed < 40; ++seed) {
    const std::vector<PrefetchUnit> units = random_units(seed, 8);
    const int64_t budget = 15000 + 5000 * static_cast<int64_t>(seed % 8);
    const PrefetchPlan plan = plan_prefetch(queues, units, budget);
    EXPECT_EQ(place_prefetch(queues, units, plan.fetched, budget).cycles, plan.cycles);
    std::vector<std::vector<bool>> others = {std::vector<bool>(units.size(), false),
                                             all_constants(units)};
    for (size_t i = 0; i < units.size(); ++i)
      if (units[i].bytes > 0) {
        others.push_back(plan.fetched);
        others.back()[i] = !others.back()[i];
      }
    for (const std::vector<bool>& other : others)
      EXPECT_LE(plan.cycles, place_prefetch(queues, units, other, budget).cycles);
    some += std::count(plan.fetched.begin(), plan.fetched.end(), true) > 0 ? 1 : 0;
  }
  EXPECT_GT(some, 10);
}

// Where something is fetched, the bytes that are there at any time are within the budget, and it is there in time.
TEST(Prefetch, KeepsWithinItsBudget) {
  const QueueDepths queues;
  for (uint32_t seed = 0; seed < 40; ++seed) {
    const std::vector<PrefetchUnit> units = random_units(seed, 12);
    const PrefetchPlan plan = plan_prefetch(queues, units, 40000);
    std::vector<int64_t> used;
    for (const PrefetchUnit& unit : units) used.push_back(unit.live_bytes);
    for (size_t i = 0; i < units.size(); ++i) {
      EXPECT_EQ(plan.position[i] >= 0, plan.fetched[i]);
      if (!plan.fetched[i]) continue;
      EXPECT_LE(plan.position[i], static_cast<int32_t>(i));
      EXPECT_LE(plan.reserved_from[i], plan.position[i]);
      EXPECT_LE(plan.position[i] - plan.reserved_from[i], queues.operations);
      const size_t last = units[i].last_user < 0 ? i : static_cast<size_t>(units[i].last_user);
      for (auto k = static_cast<size_t>(plan.reserved_from[i]); k <= last; ++k)
        used[k] += units[i].bytes;
    }
    EXPECT_EQ(plan.peak_bytes, *std::max_element(used.begin(), used.end()));
    for (size_t k = 0; k < used.size(); ++k)
      if (used[k] > units[k].live_bytes) {
        EXPECT_LE(used[k], 40000);
      }
  }
}

// The units with `count` of the same size in the place of one.
std::vector<PrefetchUnit> with_slices(const std::vector<PrefetchUnit>& units, size_t piece,
                                      size_t count) {
  std::vector<PrefetchUnit> result = units;
  const auto at = static_cast<int32_t>(piece), more = static_cast<int32_t>(count) - 1;
  for (PrefetchUnit& unit : result)
    for (int32_t* place : {&unit.owner, &unit.last_user, &unit.table_earliest})
      if (*place > at) *place += more;
  PrefetchUnit slice = units[piece];
  const auto parts = static_cast<double>(count);
  slice.fetched.pipeline /= parts, slice.direct.pipeline /= parts, slice.transfer.cycles /= parts;
  slice.bytes /= static_cast<int64_t>(count);
  result.erase(result.begin() + at);
  result.insert(result.begin() + at, count, slice);
  for (size_t i = piece + 1; i < piece + count; ++i) result[i].has_table = false;
  if (piece + count < result.size()) result[piece + count].waits = count % 2 == 0;
  return result;
}

TEST(KnownPrefetch, MeasuresOtherUnitsAsIfNothingWereKnown) {
  const QueueDepths queues;
  int others = 0;
  for (uint32_t seed = 0; seed < 12; ++seed) {
    std::vector<PrefetchUnit> units = random_units(seed, 60);
    for (size_t i = 4; i < units.size(); i += seed % 2 == 0 ? 3 : units.size()) {
      units[i].has_table = true;
      units[i].table.cycles = 300;
      units[i].table_earliest = static_cast<int32_t>(i) - 4;
    }
    const int64_t budget = 20000 + 10000 * (seed % 4);
    const std::vector<std::vector<bool>> now = {all_constants(units)};
    for (size_t piece = 20; piece < 50; piece += 3) {
      if (units[piece].bytes == 0 || units[piece].owner >= 0 || units[piece].last_user >= 0)
        continue;
      const KnownPrefetch known(queues, units, now, piece - 4, piece + 5, budget);
      for (const size_t count : {1, 2, 4}) {
        const std::vector<PrefetchUnit> changed = with_slices(units, piece, count);
        std::vector<std::vector<bool>> starts;
        for (const bool fetches : {true, false}) {
          std::vector<bool>& start = starts.emplace_back(known.plan().fetched);
          const auto at = start.erase(start.begin() + static_cast<ptrdiff_t>(piece));
          start.insert(at, count, fetches);
        }
        const size_t first = piece - 4, end = piece + count + 4;
        const PrefetchPlan plan =
            known.with_others(changed, {piece, piece + count, piece + 1}, starts, first, end);
        const KnownPrefetch fresh(queues, changed, starts, first, end, budget);
        EXPECT_EQ(plan.fetched, fresh.plan().fetched) << "seed " << seed << ", unit " << piece;
        EXPECT_EQ(plan.position, fresh.plan().position);
        EXPECT_EQ(plan.table_position, fresh.plan().table_position);
        EXPECT_NEAR(plan.cycles, fresh.plan().cycles, 1e-6);
        ++others;
      }
    }
  }
  EXPECT_GT(others, 100);
}

TEST(PrefetchWindows, AreNoWindowsWhereProgramsAreShort) {
  const QueueDepths queues;
  for (uint32_t seed = 0; seed < 10; ++seed) {
    const std::vector<PrefetchUnit> units = random_units(seed, 40);
    const PrefetchPlan whole = plan_prefetch(queues, units, 60000);
    const PrefetchPlan pieces = PrefetchWindows(queues).plan(units, 60000);
    EXPECT_EQ(pieces.fetched, whole.fetched);
    EXPECT_EQ(pieces.cycles, whole.cycles);
  }
}

// What is lost at the bounds of the windows is less than two percent of what fetching gains.
TEST(PrefetchWindows, LoseHardlyAnything) {
  const QueueDepths queues;
  for (uint32_t seed = 0; seed < 6; ++seed) {
    const std::vector<PrefetchUnit> units = random_units(seed, 200);
    const PrefetchPlan none =
        place_prefetch(queues, units, std::vector<bool>(units.size(), false), 60000);
    const PrefetchPlan whole = plan_prefetch(queues, units, 60000);
    const PrefetchPlan pieces = PrefetchWindows(queues).plan(units, 60000);
    ASSERT_LT(whole.cycles, none.cycles);
    EXPECT_LE(pieces.cycles, whole.cycles + 0.02 * (none.cycles - whole.cycles)) << "seed " << seed;
    EXPECT_LE(pieces.peak_bytes, 60000);
  }
}

// Stripes of one operation in two windows: what the first window fetched stays for the second, and counts there.
TEST(PrefetchWindows, KnowWhatWasFetchedBefore) {
  const QueueDepths queues;
  std::vector<PrefetchUnit> units = random_units(1, 64);
  for (PrefetchUnit& unit : units) unit.bytes = 0;
  const auto owner = static_cast<int32_t>(units.size() - 1);
  units.back().bytes = 40000;
  units.back().live_bytes = 0;
  units.back().direct.pipeline = 100000;
  units.back().last_user = owner + 2;
  PrefetchUnit user;
  user.owner = owner;
  user.direct.pipeline = 100000;
  user.fetched.pipeline = 1000;
  // An operation between them whose constants do not fit beside.
  PrefetchUnit other;
  other.operation = 64;
  other.bytes = 30000;
  other.direct.pipeline = 50000;
  units.push_back(other);
  units.push_back(user);
  const PrefetchPlan plan = PrefetchWindows(queues).plan(units, 60000);
  EXPECT_TRUE(plan.fetched[static_cast<size_t>(owner)]);
  EXPECT_FALSE(plan.fetched[static_cast<size_t>(owner) + 1]);
  EXPECT_LE(plan.peak_bytes, 60000);
}

// Transfers do not move much while an operation reads its own constants over the same port.
TEST(PrefetchWindows, BeginBeforeOperationsThatKeepThePortBusy) {
  const QueueDepths queues;
  std::vector<PrefetchUnit> units(3);
  units[0].direct.pipeline = 100000;
  units[1].direct.pipeline = 1000;
  units[1].direct.ports[1] = 50000;
  units[2].bytes = 50000;
  units[2].transfer.cycles = units[2].transfer.ports[1] = 50000;
  units[2].direct.pipeline = 200000;
  for (PrefetchUnit& unit : units) unit.fetched = unit.direct;
  units[2].fetched.pipeline = 1000;
  PrefetchWindows windows(queues);
  const PrefetchPlan late = windows.plan(units, 60000), best = windows.best_plan(units, 60000);
  EXPECT_EQ(late.reserved_from[2], 1);
  EXPECT_NEAR(late.cycles, 201000, 1);
  EXPECT_EQ(best.reserved_from[2], 0);
  EXPECT_NEAR(best.cycles, 151000, 1);
  // Where something else needs the room until then there is one way.
  units[0].live_bytes = 20000;
  EXPECT_EQ(windows.best_plan(units, 60000).reserved_from[2], 1);
}

// The same question again, and one where a piece has changed.
TEST(PrefetchWindows, AnswerTheSameTwice) {
  const QueueDepths queues;
  std::vector<PrefetchUnit> units = random_units(2, 200);
  PrefetchWindows windows(queues);
  const PrefetchPlan first = windows.plan(units, 60000);
  EXPECT_EQ(windows.plan(units, 60000).fetched, first.fetched);
  std::vector<PrefetchUnit> changed = units;
  for (PrefetchUnit& unit : changed)
    if (unit.operation == 100) unit.fetched.pipeline *= 3;
  const PrefetchPlan again = windows.plan(changed, 60000);
  EXPECT_EQ(again.fetched, PrefetchWindows(queues).plan(changed, 60000).fetched);
  EXPECT_EQ(windows.plan(units, 60000).fetched, first.fetched);
  EXPECT_EQ(windows.plan(units, 30000).fetched, PrefetchWindows(queues).plan(units, 30000).fetched);
}

// With every budget of its range a plan is the same, and behind its end there is room for something more.
TEST(Prefetch, IsTheSameWithEveryBudgetOfItsRange) {
  const QueueDepths queues;
  int same = 0, others = 0;
  for (uint32_t seed = 0; seed < 40; ++seed) {
    const std::vector<PrefetchUnit> units = random_units(seed, 12);
    const int64_t budget = 20000 + 1000 * static_cast<int64_t>(seed % 20);
    const PrefetchPlan plan = plan_prefetch(queues, units, budget);
    ASSERT_TRUE(plan.budgets.holds(budget));
    ASSERT_FALSE(plan.budgets.holds(budget - 1));
    const int64_t last = std::min<int64_t>(plan.budgets.end, 200000) - 1;
    for (const int64_t larger : {(budget + last) / 2, last}) {
      const PrefetchPlan other = plan_prefetch(queues, units, larger);
      EXPECT_EQ(other.fetched, plan.fetched);
      EXPECT_EQ(other.reserved_from, plan.reserved_from);
      EXPECT_EQ(other.cycles, plan.cycles);
      EXPECT_EQ(other.peak_bytes, plan.peak_bytes);
      EXPECT_EQ(other.budgets.end, plan.budgets.end);
      same += larger > budget ? 1 : 0;
    }
    others += plan_prefetch(queues, units, last + 1).reserved_from != plan.reserved_from ? 1 : 0;
  }
  EXPECT_GT(same, 10);
  EXPECT_GT(others, 10);
}

// Many budgets, one after the other: what is known of others is of use only where it is the same.
TEST(PrefetchWindows, AnswerWithEveryBudgetAsIfTheyKnewNothing) {
  const QueueDepths queues;
  const std::vector<PrefetchUnit> units = random_units(3, 200);
  PrefetchWindows windows(queues);
  for (const int64_t budget : {20000, 21000, 22000, 26000, 40000, 60000, 90000, 30000}) {
    const PrefetchPlan plan = windows.plan(units, budget),
                       fresh = PrefetchWindows(queues).plan(units, budget);
    EXPECT_EQ(plan.fetched, fresh.fetched);
    EXPECT_EQ(plan.position, fresh.position);
    EXPECT_EQ(plan.cycles, fresh.cycles);
  }
}

}  // namespace
}  // namespace intarsia::npu
