// The hard instances of MiniMalloc's benchmark that lie beside the sources: each is solved within
// the capacity its name gives, by few enough steps that a laptop needs seconds.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "intarsia/memory_plan.h"

namespace intarsia::plan {
namespace {

class HardInstance : public testing::TestWithParam<const char*> {};

TEST_P(HardInstance, FitsItsCapacity) {
  const char* shared = std::getenv("INTARSIA_SHARED");
  const auto root = shared ? std::filesystem::path(shared)
                           : std::filesystem::path(INTARSIA_SOURCE_DIR) / ".." / "shared";
  const auto path = root / "planner" / (std::string(GetParam()) + ".1048576.csv");
  std::ifstream file(path, std::ios::binary);
  if (!file) GTEST_SKIP() << "no " << path.string() << "; set INTARSIA_SHARED";
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  auto read = read_problem_csv(text, path.filename().string());
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
