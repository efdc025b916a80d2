// Boards with several memories of awkward sizes: whatever assignment of buffers to memories exists is found.
#include <algorithm>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../plan/random_problems.h"
#include "pool_modules.h"

namespace intarsia {
namespace {

using ::testing::HasSubstr;
using testing::Life;
using testing::module_of;

MemoryMap memories(const std::vector<int64_t>& sizes) {
  MemoryMap memory;
  for (size_t i = 0; i < sizes.size(); ++i)
    memory.pools.push_back({"ram" + std::to_string(i), sizes[i]});
  return memory;
}

struct Instance {
  std::vector<Life> lives;
  int steps = 0;
  int device_step = -1;  // runs on a device that does not reach all memories
  MemoryMap memory;

  bool reaches(size_t buffer, size_t pool) const {
    const Life& life = lives[buffer];
    const bool is_used = life.first == device_step || life.last == device_step;
    return !is_used || memory.reaches("npu", memory.pools[pool]);
  }
};

// By trying all assignments, and for each memory all orders of what lies there.
bool exists(const Instance& instance) {
  const size_t count = instance.lives.size(), pools = instance.memory.pools.size();
  int32_t alignment = 16;
  for (const Life& life : instance.lives) alignment = std::max(alignment, life.alignment);
  std::map<size_t, int64_t> peaks;  // by the set of buffers
  const auto peak_of = [&](size_t set) {
    if (const auto known = peaks.find(set); known != peaks.end()) return known->second;
    plan::PlacementProblem problem;
    for (size_t i = 0; i < count; ++i)
      if (set >> i & 1)
        problem.buffers.push_back({"", instance.lives[i].first, instance.lives[i].last + 1,
                                   instance.lives[i].bytes, instance.lives[i].alignment});
    return peaks[set] = problem.buffers.empty() ? 0 : best_peak_by_trying_everything(problem);
  };
  std::vector<size_t> sets(pools);
  const auto every_way = [&](const auto& self, size_t next) -> bool {
    if (next == count) {
      for (size_t p = 0; p < pools; ++p) {
        const MemoryPool& pool = instance.memory.pools[p];
        const int64_t room = pool.size - std::max(0, alignment - pool.alignment);
        if (peak_of(sets[p]) > std::max<int64_t>(0, room)) return false;
      }
      return true;
    }
    for (size_t p = 0; p < pools; ++p) {
      if (!instance.reaches(next, p)) continue;
      sets[p] |= size_t{1} << next;
      const bool found = self(self, next + 1);
      sets[p] &= ~(size_t{1} << next);
      if (found) return true;
    }
    return false;
  };
  return every_way(every_way, 0);
}

Instance random_instance(std::mt19937_64& random, bool aligned, bool device, bool alike) {
  Instance instance;
  const auto buffers = plan::pick(random, 2, 6);
  const auto pools = plan::pick(random, 2, 3);
  instance.steps = static_cast<int>(plan::pick(random, 2, alike ? 3 : 7));
  int64_t bytes = 0;
  for (int64_t i = 0; i < buffers; ++i) {
    Life life;
    life.first = static_cast<int>(plan::pick(random, 0, instance.steps - 1));
    life.last = static_cast<int>(plan::pick(random, life.first, instance.steps - 1));
    life.bytes = alike ? 10 * plan::pick(random, 1, 2) : plan::pick(random, 1, 40);
    if (aligned) life.alignment = 1 << plan::pick(random, 0, 6);
    bytes += life.bytes;
    instance.lives.push_back(life);
  }
  if (device) instance.device_step = static_cast<int>(plan::pick(random, 0, instance.steps - 1));
  std::vector<int64_t> sizes;
  for (int64_t p = 0; p < pools; ++p)
    sizes.push_back(plan::pick(random, 8, std::max<int64_t>(9, bytes * 3 / (2 * pools))));
  instance.memory = memories(sizes);
  for (MemoryPool& pool : instance.memory.pools) {
    pool.cycles_per_access = static_cast<int32_t>(plan::pick(random, 1, 3));
    if (aligned) pool.size += 32, pool.alignment = 8 << plan::pick(random, 0, 3);
  }
  if (device) {
    instance.memory.masters = {{"npu", "npu"}};
    instance.memory.pools[0].accessible_by = {"cpu"};
  }
  return instance;
}

struct Tally {
  int found = 0, refused = 0;
};

Tally compare_with_trying_everything(uint64_t seed, int count, bool aligned, bool device,
                                     bool alike = false) {
  std::mt19937_64 random(seed);
  Tally tally;
  for (int i = 0; i < count; ++i) {
    const Instance instance = random_instance(random, aligned, device, alike);
    const Result<Plan> plan = plan_memory(
        module_of(instance.lives, instance.steps, instance.device_step), instance.memory);
    const bool expected = exists(instance);
    EXPECT_EQ(plan.ok(), expected)
        << "instance " << i << ": " << (plan.ok() ? "" : plan.error().to_string());
    tally.found += expected;
    tally.refused += !expected;
    if (plan.ok() || expected) continue;
    // What was refused for good says under which conditions, or names a buffer that no memory holds.
    const std::string refusal = plan.error().to_string();
    EXPECT_TRUE(refusal.find("proven for this order of operators") != std::string::npos ||
                refusal.find("the largest memory that all of its users reach") != std::string::npos)
        << refusal;
  }
  return tally;
}

TEST(Pools, EveryAssignmentThatExistsIsFound) {
  const Tally tally = compare_with_trying_everything(1, 600, false, false);
  EXPECT_GT(tally.found, 150);
  EXPECT_GT(tally.refused, 150);
}

TEST(Pools, AlsoWithAlignments) {
  const Tally tally = compare_with_trying_everything(2, 400, true, false);
  EXPECT_GT(tally.found, 80);
  EXPECT_GT(tally.refused, 80);
}

TEST(Pools, AlsoWhereADeviceReachesSomeOnly) {
  const Tally tally = compare_with_trying_everything(3, 400, false, true);
  EXPECT_GT(tally.found, 80);
  EXPECT_GT(tally.refused, 80);
}

TEST(Pools, AlsoAmongBuffersThatAreAlike) {
  const Tally tally = compare_with_trying_everything(4, 600, false, false, true);
  EXPECT_GT(tally.found, 150);
  EXPECT_GT(tally.refused, 150);
}

// Nothing lies in a slow memory that alone would have had room in a faster one.
TEST(Pools, FastMemoriesAreUsed) {
  std::mt19937_64 random(6);
  int slow = 0;
  for (int i = 0; i < 300; ++i) {
    const Instance instance = random_instance(random, false, false, false);
    const Result<Plan> plan =
        plan_memory(module_of(instance.lives, instance.steps), instance.memory);
    if (!plan.ok()) continue;
    for (const Placement& moved : plan->placements)
      for (size_t p = 0; p < instance.memory.pools.size(); ++p) {
        const MemoryPool& faster = instance.memory.pools[p];
        if (faster.cycles_per_access >=
            instance.memory.pools[static_cast<size_t>(moved.pool)].cycles_per_access)
          continue;
        plan::PlacementProblem there;
        for (const Placement& place : plan->placements)
          if (place.pool == static_cast<int>(p) || place.buffer == moved.buffer)
            there.buffers.push_back({"", place.first_step, place.last_step + 1, place.bytes});
        EXPECT_GT(best_peak_by_trying_everything(there), faster.size) << "instance " << i;
        ++slow;
      }
  }
  EXPECT_GT(slow, 100);
}

// Of those alive at the fullest step the largest leaves; what does not help stays.
TEST(Pools, TheLargestOfTheFullestStepMovesFirst) {
  MemoryMap memory = memories({100, 1000});
  memory.pools[1].cycles_per_access = 4;
  const Result<Plan> plan = plan_memory(
      module_of({{90, 0, 0}, {30, 1, 2}, {50, 1, 2}, {40, 1, 3}, {60, 3, 3}}, 4), memory);
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  std::vector<int> pools;
  for (const Placement& place : plan->placements) pools.push_back(place.pool);
  EXPECT_EQ(pools, (std::vector<int>{0, 0, 1, 0, 0}));
}

// The largest buffer fits into one of two memories, whichever is named first.
TEST(Pools, TheLargestBufferGoesWhereItFits) {
  const tir::Module module = module_of(
      {{27648, 0, 1}, {110592, 1, 2}, {55296, 2, 3}, {18432, 3, 4}, {36864, 3, 5}, {9216, 4, 6}},
      7);
  for (const bool swapped : {false, true}) {
    MemoryMap memory = memories({125952, 65536});
    if (swapped) std::swap(memory.pools[0], memory.pools[1]);
    const Result<Plan> plan = plan_memory(module, memory);
    ASSERT_TRUE(plan.ok()) << plan.error().to_string();
    EXPECT_EQ(memory.pools[static_cast<size_t>(plan->find({1})->pool)].size, 125952);
  }
}

// Layers that hide in the memories with little room to spare, more buffers than trying everything allows.
TEST(Pools, HiddenAssignmentsAreFound) {
  std::mt19937_64 random(4);
  int found = 0;
  constexpr int kCount = 40;
  for (int i = 0; i < kCount; ++i) {
    std::vector<Life> lives;
    std::vector<int64_t> sizes;
    for (int p = 0; p < 2 + i % 2; ++p) {
      const int64_t height = plan::pick(random, 2000, 20000);
      const plan::PlacementProblem cut = plan::cut_problem(random, 12, 20, height);
      for (const auto& piece : cut.buffers)
        lives.push_back(
            {piece.size, static_cast<int>(piece.lower), static_cast<int>(piece.upper) - 1});
      sizes.push_back(height + height / 10);
    }
    const Result<Plan> plan = plan_memory(module_of(lives, 20), memories(sizes));
    found += plan.ok();
    if (plan.ok()) {
      EXPECT_LE(plan->search_steps, PlanOptions{}.search_budget);
    }
  }
  EXPECT_EQ(found, kCount);
}

TEST(Pools, ARefusalSaysWhatWasTried) {
  // 180 bytes have room together, but no two of the buffers share a memory.
  const std::vector<Life> lives = {{60, 0, 1}, {60, 0, 1}, {60, 0, 1}};
  EXPECT_EQ(plan_memory(module_of(lives, 2), memories({100, 100})).error().to_string(),
            "m: memories 'ram0' (100 bytes), 'ram1' (100 bytes): the activations do not fit: no "
            "assignment of the 3 buffers to them fits; all were tried (proven for this order of "
            "operators and these in-place pairs); at 'f0', the fullest step, buffers of 180 bytes "
            "are in use at once, the largest of 60; choose a board with more memory or a smaller "
            "model\n");
  EXPECT_THAT(plan_memory(module_of(lives, 2), memories({70, 100})).error().to_string(),
              HasSubstr("they have 170 bytes together: 10 bytes missing (proven for this order"));
  EXPECT_THAT(plan_memory(module_of(lives, 2), memories({50, 40})).error().to_string(),
              HasSubstr("m: buffer 'b0': has 60 bytes, and 'ram0', the largest memory that all of "
                        "its users reach, has 50"));
}

TEST(Pools, ASearchThatEndedEarlySaysSo) {
  // What is alive at once fills both memories to the last byte.
  std::mt19937_64 random(5);
  std::vector<Life> lives;
  for (int p = 0; p < 2; ++p)
    for (const auto& piece : plan::cut_problem(random, 40, 30, 8000).buffers)
      lives.push_back(
          {piece.size, static_cast<int>(piece.lower), static_cast<int>(piece.upper) - 1});
  PlanOptions options;
  options.search_budget = 200;
  const Result<Plan> plan = plan_memory(module_of(lives, 30), memories({8000, 8000}), options);
  ASSERT_FALSE(plan.ok());
  EXPECT_THAT(plan.error().to_string(), HasSubstr("and one may exist"));
  EXPECT_THAT(plan.error().to_string(), HasSubstr("another order of 'activations'"));
  EXPECT_THAT(plan.error().to_string(), ::testing::Not(HasSubstr("proven")));
}

}  // namespace
}  // namespace intarsia
