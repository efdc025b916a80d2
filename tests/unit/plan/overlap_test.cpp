// Buffers that may overlap: chains of them, by the solvers, judged by the checker.
#include <gtest/gtest.h>

#include "random_problems.h"

namespace intarsia::plan {
namespace {

// Each buffer is made from the one before, `distance` bytes behind.
PlacementProblem relay(std::mt19937_64& random, int buffers) {
  PlacementProblem problem;
  for (int b = 0; b < buffers; ++b) {
    std::string name = "b";
    name += std::to_string(b);
    problem.buffers.push_back(
        {std::move(name), b, b + 2, pick(random, 1, 20) * 4, 4, std::nullopt});
    if (b > 0) problem.overlaps.push_back({b, b - 1, pick(random, 0, 10)});
  }
  // Something that lives beside them all along.
  problem.buffers.push_back({"beside", 0, buffers + 1, pick(random, 0, 3) * 4, 4, std::nullopt});
  return problem;
}

TEST(Overlaps, AreUsedAndNeverTooMuch) {
  std::mt19937_64 random(7);
  int shared = 0;
  for (int i = 0; i < 300; ++i) {
    const PlacementProblem problem = relay(random, static_cast<int>(pick(random, 2, 7)));
    const auto solution = minimise_peak(problem, {});
    ASSERT_TRUE(solution.ok()) << solution.error().to_string();
    EXPECT_EQ(check_placement(problem, *solution).to_string(), "") << "problem " << i;
    EXPECT_LE(solution->lower_bound, solution->peak);
    EXPECT_GE(solution->lower_bound, live_bound(problem));
    EXPECT_FALSE(solution->bound_from_search && solution->lower_bound > live_bound(problem) + 3)
        << "no search proves bounds of these, offsets are words";
    PlacementProblem apart = problem;
    apart.overlaps.clear();
    const auto without = minimise_peak(apart, {});
    EXPECT_LE(solution->peak, without->peak) << "problem " << i;
    shared += solution->peak < without->peak;
  }
  EXPECT_GT(shared, 100);
}

TEST(Overlaps, TheCheckerRefusesOneByteTooMuch) {
  PlacementProblem problem;
  problem.buffers = {{"in", 0, 1, 16}, {"out", 0, 1, 16}};
  problem.overlaps = {{1, 0, 4}};
  PlacementSolution solution{{4, 0}, 20, 0, false, false, ""};
  EXPECT_EQ(check_placement(problem, solution).to_string(), "");
  solution.offsets = {3, 0};
  solution.peak = 19;
  EXPECT_NE(check_placement(problem, solution).to_string(), "");
  solution.offsets = {0, 4};  // the other way round
  solution.peak = 20;
  EXPECT_NE(check_placement(problem, solution).to_string(), "");
}

TEST(Overlaps, NameTwoBuffers) {
  PlacementProblem problem;
  problem.buffers = {{"in", 0, 1, 16}, {"out", 0, 1, 16}};
  for (const PlacementProblem::Overlap& wrong :
       {PlacementProblem::Overlap{0, 0, 4}, PlacementProblem::Overlap{0, 2, 4},
        PlacementProblem::Overlap{0, 1, -1}}) {
    problem.overlaps = {wrong};
    EXPECT_FALSE(minimise_peak(problem, {}).ok());
  }
}

}  // namespace
}  // namespace intarsia::plan
