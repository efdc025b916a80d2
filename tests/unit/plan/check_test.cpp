#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "random_problems.h"

namespace intarsia::plan {
namespace {

using testing::HasSubstr;

struct Checked {
  PlacementProblem problem;
  PlacementSolution solution;

  std::string faults() const { return check_placement(problem, solution).to_string(); }
};

Checked sound() {
  Checked it;
  it.problem.buffers = {{"a", 0, 2, 8, 4}, {"b", 1, 3, 8, 4}, {"c", 2, 4, 8, 4, 0}};
  it.problem.capacity = 16;
  it.solution.offsets = {0, 8, 0};
  it.solution.peak = 16;
  it.solution.lower_bound = 16;
  it.solution.proven_optimal = true;
  return it;
}

TEST(CheckPlacement, AcceptsWhatIsSound) {
  EXPECT_EQ(sound().faults(), "");
}

TEST(CheckPlacement, CatchesOverlaps) {
  Checked it = sound();
  it.solution.offsets[1] = 4;
  it.solution.peak = 12;
  it.solution.lower_bound = 12;
  EXPECT_THAT(it.faults(), HasSubstr("'a': overlaps buffer 'b'"));
  EXPECT_THAT(it.faults(), HasSubstr("'b': overlaps buffer 'c'"));
}

TEST(CheckPlacement, CatchesMisalignmentAndBounds) {
  Checked it = sound();
  it.solution.offsets[1] = 10;
  EXPECT_THAT(it.faults(), HasSubstr("not a multiple of its alignment 4"));
  EXPECT_THAT(it.faults(), HasSubstr("above the capacity of 16"));
  EXPECT_THAT(it.faults(), HasSubstr("the highest buffer ends at 18"));
  it.solution.offsets[1] = -8;
  EXPECT_THAT(it.faults(), HasSubstr("negative offset"));
}

TEST(CheckPlacement, CatchesMovedFixedBuffers) {
  Checked it = sound();
  it.problem.buffers[2].fixed_offset = 16;
  EXPECT_THAT(it.faults(), HasSubstr("but is fixed at 16"));
}

TEST(CheckPlacement, CatchesMissingOffsets) {
  Checked it = sound();
  it.solution.offsets.pop_back();
  EXPECT_THAT(it.faults(), HasSubstr("there are 2 for 3 buffers"));
}

TEST(CheckPlacement, CatchesFalseClaims) {
  Checked it = sound();
  it.solution.peak = 15;
  EXPECT_THAT(it.faults(), HasSubstr("peak: is claimed to be 15"));
  it = sound();
  it.solution.lower_bound = 17;
  EXPECT_THAT(it.faults(), HasSubstr("only 16 bytes must be alive at once"));
  EXPECT_THAT(it.faults(), HasSubstr("above the peak"));
  it = sound();
  it.solution.lower_bound = 12;
  EXPECT_THAT(it.faults(), HasSubstr("optimality: is claimed"));
}

TEST(CheckPlacement, BelievesABoundAboveLiveBytesOnlyFromASearch) {
  Checked it = sound();
  it.problem.capacity.reset();
  it.solution.offsets[1] = 16;
  it.solution.peak = 24;
  it.solution.lower_bound = 24;
  EXPECT_THAT(it.faults(), HasSubstr("lower bound: is claimed to be 24"));
  it.solution.bound_from_search = true;
  EXPECT_EQ(it.faults(), "");
}

// Any single buffer moved to a random place: the checker objects exactly when a byte is shared, an
// alignment is broken or a claim no longer holds.
TEST(CheckPlacement, CatchesSeededMistakes) {
  std::mt19937_64 random(11);
  int caught = 0;
  for (int i = 0; i < 300; ++i) {
    Checked it;
    it.problem =
        random_problem(random, {.buffers = 12, .steps = 10, .largest = 20, .aligned = true});
    auto solved = minimise_peak(it.problem, {.steps = 1000});
    ASSERT_TRUE(solved.ok());
    it.solution = std::move(solved).value();
    ASSERT_EQ(it.faults(), "");
    const auto victim = static_cast<size_t>(pick(random, 0, 11));
    const auto& moved = it.problem.buffers[victim];
    it.solution.offsets[victim] = pick(random, 0, it.solution.peak);
    const int64_t begin = it.solution.offsets[victim];
    bool wrong = begin % moved.alignment != 0;
    int64_t peak = 0;
    for (size_t j = 0; j < 12; ++j) {
      const auto& other = it.problem.buffers[j];
      if (other.size > 0) peak = std::max(peak, it.solution.offsets[j] + other.size);
      if (j == victim) continue;
      for (int64_t step = moved.lower; step < moved.upper; ++step)
        for (int64_t byte = begin; byte < begin + moved.size; ++byte)
          wrong |= other.lower <= step && step < other.upper && it.solution.offsets[j] <= byte &&
                   byte < it.solution.offsets[j] + other.size;
    }
    wrong |= peak != it.solution.peak;
    EXPECT_EQ(!it.faults().empty(), wrong) << it.faults();
    caught += wrong;
  }
  EXPECT_GT(caught, 100);
}

}  // namespace
}  // namespace intarsia::plan
