// Hard instances: each is solved within its capacity, by few enough steps that a laptop needs seconds. Rectangles that
// were cut without waste, and those of MiniMalloc's benchmark that lie beside the sources.
#include <gtest/gtest.h>

#include "intarsia/memory_plan.h"
#include "random_problems.h"
#include "shared_data.h"

namespace intarsia::plan {
namespace {

void expect_fit(PlacementProblem problem, int64_t capacity) {
  problem.capacity = capacity;
  const auto outcome = fit_in_capacity(problem, {.steps = 200'000});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->status, FitStatus::Fits) << "best peak " << outcome->best.peak;
  EXPECT_EQ(check_placement(problem, outcome->best).to_string(), "");
}

struct Cut {
  uint64_t seed;
  int pieces;
  int64_t steps;
};

class CutInstance : public testing::TestWithParam<Cut> {};

TEST_P(CutInstance, FitsItsCapacity) {
  std::mt19937_64 random(GetParam().seed);
  constexpr int64_t kHeight = 1048576;
  const PlacementProblem problem =
      cut_problem(random, GetParam().pieces, GetParam().steps, kHeight);
  const auto greedy = place_greedily(problem);
  ASSERT_TRUE(greedy.ok());
  EXPECT_GT(greedy->peak, kHeight) << "no hard one";
  expect_fit(problem, kHeight);
}

// Seeds whose problems take hundreds to tens of thousands of steps.
std::vector<Cut> cuts() {
  std::vector<Cut> all;
  for (const uint64_t seed : {2, 3, 4, 8, 10, 12, 13, 17, 20, 28}) all.push_back({seed, 100, 30});
  for (const uint64_t seed : {2, 5, 7, 11, 15, 17, 19}) all.push_back({seed, 150, 100});
  return all;
}

INSTANTIATE_TEST_SUITE_P(MadeHere, CutInstance, testing::ValuesIn(cuts()),
                         [](const auto& instance) {
                           return std::to_string(instance.param.pieces) + "_pieces_seed_" +
                                  std::to_string(instance.param.seed);
                         });

class HardInstance : public testing::TestWithParam<const char*> {};

TEST_P(HardInstance, FitsItsCapacity) {
  const std::string name = std::string(GetParam()) + ".1048576.csv";
  INTARSIA_NEEDS_SHARED("planner/" + name);
  const std::vector<uint8_t> bytes = test::read_bytes(test::shared_folder() / "planner" / name);
  auto read = read_problem_csv(std::string(bytes.begin(), bytes.end()), name);
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  expect_fit(std::move(read).value(), 1048576);
}

INSTANTIATE_TEST_SUITE_P(MiniMalloc, HardInstance, testing::Values("A", "C", "E", "G", "I", "K"),
                         [](const auto& instance) { return std::string(instance.param); });

}  // namespace
}  // namespace intarsia::plan
