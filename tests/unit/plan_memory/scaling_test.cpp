// Plans of ten thousand buffers. Steps of the search are counted; the time is bounded by ctest's TIMEOUT.
#include <gtest/gtest.h>

#include "../plan/random_problems.h"
#include "pool_modules.h"

namespace intarsia {
namespace {

using testing::Life;
using testing::module_of;

constexpr int kMany = 10'000;

// Layers one after the other, every fourth one's result used again three layers later.
std::vector<Life> layers() {
  std::mt19937_64 random(1);
  std::vector<Life> lives;
  for (int i = 0; i < kMany; ++i)
    lives.push_back({plan::pick(random, 1, 4096) * 4, i, std::min(kMany - 1, i + (i % 4 ? 1 : 4))});
  return lives;
}

MemoryMap memories(const std::vector<int64_t>& sizes) {
  MemoryMap memory;
  for (const int64_t size : sizes)
    memory.pools.push_back({"ram" + std::to_string(memory.pools.size()), size});
  return memory;
}

TEST(Scaling, WhatGreedyOrdersSolveTakesNoSearch) {
  // Lives of two steps: at every step two buffers, and the largest pair of neighbours decides.
  std::vector<Life> lives = layers();
  for (size_t i = 0; i < lives.size(); ++i)
    lives[i].last = std::min(kMany - 1, static_cast<int>(i) + 1);
  const Result<Plan> plan = plan_memory(module_of(lives, kMany), memories({0}));
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  EXPECT_TRUE(plan->use[0].proven_optimal);
  EXPECT_EQ(plan->search_steps, 0);
  EXPECT_EQ(std::ssize(plan->placements), kMany);
}

TEST(Scaling, OneMemory) {
  PlanOptions options;
  options.search_budget = 200'000;
  const Result<Plan> plan = plan_memory(module_of(layers(), kMany), memories({0}), options);
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  EXPECT_LE(plan->search_steps, options.search_budget);
  EXPECT_LE(plan->use[0].peak, plan->use[0].lower_bound * 11 / 10);
}

TEST(Scaling, TwoMemories) {
  const Result<Plan> plan = plan_memory(module_of(layers(), kMany), memories({24'000, 60'000}));
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  EXPECT_LE(plan->search_steps, PlanOptions{}.search_budget);
}

TEST(Scaling, TwoMemoriesThatAreTooSmall) {
  const Result<Plan> plan = plan_memory(module_of(layers(), kMany), memories({24'000, 30'000}));
  EXPECT_FALSE(plan.ok());
}

TEST(Scaling, LongLivesEndWithTheBudget) {
  std::mt19937_64 random(2);
  constexpr int kLong = 3'000;  // a third of the others are alive beside each: millions of pairs
  const plan::PlacementProblem problem = plan::random_problem(
      random, {.buffers = kLong, .steps = kLong, .largest = 100'000, .aligned = true});
  const auto solution = plan::minimise_peak(problem, {.steps = 100'000});
  ASSERT_TRUE(solution.ok());
  EXPECT_LE(solution->steps, 100'000);
  EXPECT_EQ(plan::check_placement(problem, *solution).to_string(), "");
  EXPECT_LE(solution->peak, solution->lower_bound * 6 / 5);
}

TEST(Scaling, ManyPairsThatMayOverlap) {
  constexpr int kRows = 2'000;
  std::mt19937_64 random(3);
  plan::PlacementProblem problem;
  for (int i = 0; i < kRows; ++i)
    problem.buffers.push_back({"", i, i + 2, plan::pick(random, 100, 1000)});
  for (int i = 0; i + 1 < kRows; ++i) problem.overlaps.push_back({i + 1, i, 50});
  const auto solution = plan::minimise_peak(problem, {.steps = 200'000});
  ASSERT_TRUE(solution.ok());
  EXPECT_EQ(plan::check_placement(problem, *solution).to_string(), "");
  problem.overlaps.clear();
  EXPECT_LT(solution->peak, live_bound(problem));  // that none of them overlap
}

}  // namespace
}  // namespace intarsia
