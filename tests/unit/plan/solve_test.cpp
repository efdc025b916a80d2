#include <gtest/gtest.h>

#include "random_problems.h"

namespace intarsia::plan {
namespace {

PlacementProblem minimalloc_example() {
  PlacementProblem problem;
  problem.buffers = {
      {"b1", 0, 3, 4}, {"b2", 3, 9, 4}, {"b3", 0, 9, 4}, {"b4", 9, 21, 4}, {"b5", 0, 21, 4}};
  return problem;
}

void expect_best(const PlacementProblem& problem, int64_t best) {
  const auto solution = minimise_peak(problem, {});
  ASSERT_TRUE(solution.ok()) << solution.error().to_string();
  EXPECT_EQ(check_placement(problem, *solution).to_string(), "");
  EXPECT_EQ(solution->peak, best);
  EXPECT_TRUE(solution->proven_optimal);

  PlacementProblem limited = problem;
  limited.capacity = best;
  const auto fits = fit_in_capacity(limited, {});
  ASSERT_TRUE(fits.ok());
  EXPECT_EQ(fits->status, FitStatus::Fits);
  EXPECT_EQ(check_placement(limited, fits->best).to_string(), "");
  if (best == 0) return;
  limited.capacity = best - 1;
  const auto too_small = fit_in_capacity(limited, {});
  ASSERT_TRUE(too_small.ok());
  EXPECT_EQ(too_small->status, FitStatus::ProvenNotToFit);
  EXPECT_EQ(too_small->best.lower_bound, best);
  EXPECT_EQ(check_placement(problem, too_small->best).to_string(), "");
}

void expect_best_of_random(uint64_t seed, int count, ProblemShape shape) {
  std::mt19937_64 random(seed);
  for (int i = 0; i < count; ++i) {
    shape.buffers = static_cast<int>(pick(random, 1, 7));
    const PlacementProblem problem = random_problem(random, shape);
    SCOPED_TRACE(testing::Message() << "problem " << i);
    expect_best(problem, best_peak_by_trying_everything(problem));
    if (testing::Test::HasFailure()) return;
  }
}

TEST(MinimisePeak, KnowsMiniMallocsExample) {
  expect_best(minimalloc_example(), 12);
}

TEST(MinimisePeak, PlacesNothing) {
  expect_best({}, 0);
}

TEST(MinimisePeak, IsOptimalOnSmallProblems) {
  expect_best_of_random(1, 150, {});
}

TEST(MinimisePeak, IsOptimalOnCrowdedProblems) {
  expect_best_of_random(2, 150, {.steps = 12, .largest = 4});
}

TEST(MinimisePeak, IsOptimalWithAlignments) {
  expect_best_of_random(3, 150, {.aligned = true});
}

TEST(MinimisePeak, IsOptimalAroundFixedBuffers) {
  expect_best_of_random(4, 150, {.aligned = true, .fixed = true});
}

TEST(MinimisePeak, BeatsGreedyOrders) {
  std::mt19937_64 random(5);
  int better = 0;
  for (int i = 0; i < 40; ++i) {
    const auto problem = cut_problem(random, 60, 60, 1000);
    const auto greedy = place_greedily(problem);
    const auto best = minimise_peak(problem, {});
    ASSERT_TRUE(greedy.ok() && best.ok());
    EXPECT_EQ(check_placement(problem, *greedy).to_string(), "");
    EXPECT_EQ(check_placement(problem, *best).to_string(), "");
    EXPECT_EQ(best->peak, 1000);
    EXPECT_TRUE(best->proven_optimal);
    better += best->peak < greedy->peak;
  }
  EXPECT_GT(better, 10);
}

TEST(MinimisePeak, RepeatsItself) {
  std::mt19937_64 random(6);
  const auto problem = cut_problem(random, 80, 60, 1000);
  const auto once = minimise_peak(problem, {.steps = 50'000});
  const auto again = minimise_peak(problem, {.steps = 50'000});
  ASSERT_TRUE(once.ok() && again.ok());
  EXPECT_EQ(once->offsets, again->offsets);
  EXPECT_EQ(once->method, again->method);
}

// Sixty-four attempts of four steps for each buffer are made in vain where steps cost little. Where hundreds of buffers meet,
// each looks at so many others that fewer are made.
TEST(MinimisePeak, GivesUpEarlierWhereStepsAreDear) {
  constexpr int kPieces = 600;
  std::mt19937_64 random(8);
  const auto problem = cut_problem(random, kPieces, 300, 100'000);
  const auto solution = minimise_peak(problem, {});
  ASSERT_TRUE(solution.ok());
  EXPECT_FALSE(solution->proven_optimal);
  EXPECT_LT(solution->steps, 64 * 4 * kPieces);
}

TEST(MinimisePeak, AdmitsWhatItDidNotProve) {
  std::mt19937_64 random(7);
  int unproven = 0;
  for (int i = 0; i < 50; ++i) {
    const auto problem = cut_problem(random, 40, 30, 500);
    const auto solution = minimise_peak(problem, {.steps = 0});
    ASSERT_TRUE(solution.ok());
    EXPECT_EQ(check_placement(problem, *solution).to_string(), "");
    EXPECT_EQ(solution->lower_bound, live_bound(problem));
    unproven += !solution->proven_optimal;
  }
  EXPECT_GT(unproven, 0);
}

TEST(MinimisePeak, SolvesGroupsApart) {
  // Two copies of one problem, one after the other, need what one needs.
  std::mt19937_64 random(8);
  PlacementProblem problem = random_problem(random, {.buffers = 7});
  const int64_t best = best_peak_by_trying_everything(problem);
  for (int i = 0; i < 7; ++i) {
    auto copy = problem.buffers[i];
    copy.name += "'";
    copy.lower += 100;
    copy.upper += 100;
    problem.buffers.push_back(copy);
  }
  expect_best(problem, best);
}

TEST(FitInCapacity, SaysWhenTheBudgetEnds) {
  std::mt19937_64 random(9);
  int ended = 0;
  for (int i = 0; i < 50; ++i) {
    auto problem = cut_problem(random, 40, 30, 500);
    problem.capacity = live_bound(problem);
    const auto outcome = fit_in_capacity(problem, {.steps = 1});
    ASSERT_TRUE(outcome.ok());
    if (outcome->status != FitStatus::BudgetEnded) continue;
    ++ended;
    EXPECT_GT(outcome->best.peak, *problem.capacity);
    EXPECT_FALSE(outcome->best.proven_optimal);
  }
  EXPECT_GT(ended, 0);
}

TEST(LiveBound, CountsPaddingBetweenAlignedBuffers) {
  PlacementProblem problem;
  problem.buffers = {{"a", 0, 2, 10, 16}, {"b", 0, 1, 3, 16}, {"c", 1, 2, 16, 16}};
  EXPECT_EQ(live_bound(problem), 26);  // c, then a: 16 + 10
  expect_best(problem, 26);
}

TEST(ValidateProblem, NamesEveryWrongBuffer) {
  PlacementProblem problem;
  problem.buffers = {{"early", -1, 2, 1},
                     {"never", 3, 3, 1},
                     {"less", 0, 1, -1},
                     {"odd", 0, 1, 1, 0},
                     {"off", 0, 1, 1, 4, 6}};
  problem.capacity = -5;
  const auto result = validate_problem(problem);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().items().size(), 6U);
  EXPECT_FALSE(minimise_peak(problem, {}).ok());
  EXPECT_FALSE(fit_in_capacity(problem, {}).ok());
  EXPECT_FALSE(place_greedily(problem).ok());
}

TEST(ValidateProblem, RefusesSumsBeyondReach) {
  PlacementProblem problem;
  problem.buffers = {{"a", 0, 1, int64_t{1} << 62}, {"b", 0, 1, int64_t{1} << 62}};
  EXPECT_FALSE(validate_problem(problem).ok());
  problem.buffers = {{"a", 0, 1, 1, 1, std::numeric_limits<int64_t>::max()}};
  EXPECT_FALSE(validate_problem(problem).ok());
}

TEST(ValidateProblem, RefusesFixedBuffersInOnePlace) {
  PlacementProblem problem;
  problem.buffers = {{"a", 0, 2, 8, 1, 0}, {"b", 1, 3, 8, 1, 7}};
  EXPECT_FALSE(validate_problem(problem).ok());
  problem.buffers[1].lower = 2;
  EXPECT_TRUE(validate_problem(problem).ok());
}

}  // namespace
}  // namespace intarsia::plan
