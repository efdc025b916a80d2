// The hard instances of MiniMalloc's benchmark that lie beside the sources: each is solved within
// the capacity its name gives, by few enough steps that a laptop needs seconds.
#include <gtest/gtest.h>

#include "intarsia/memory_plan.h"
#include "shared_data.h"

namespace intarsia::plan {
namespace {

class HardInstance : public testing::TestWithParam<const char*> {};

TEST_P(HardInstance, FitsItsCapacity) {
  const std::string name = std::string(GetParam()) + ".1048576.csv";
  INTARSIA_NEEDS_SHARED("planner/" + name);
  const std::vector<uint8_t> bytes = test::read_bytes(test::shared_folder() / "planner" / name);
  auto read = read_problem_csv(std::string(bytes.begin(), bytes.end()), name);
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  PlacementProblem problem = std::move(read).value();
  problem.capacity = 1048576;
  const auto outcome = fit_in_capacity(problem, {.steps = 200'000});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->status, FitStatus::Fits) << "best peak " << outcome->best.peak;
  EXPECT_EQ(check_placement(problem, outcome->best).to_string(), "");
  RecordProperty("method", outcome->best.method);
}

INSTANTIATE_TEST_SUITE_P(MiniMalloc, HardInstance, testing::Values("A", "C", "E", "G", "I", "K"),
                         [](const auto& instance) { return std::string(instance.param); });

}  // namespace
}  // namespace intarsia::plan
