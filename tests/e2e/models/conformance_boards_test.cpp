// The integer cases as firmware with the kernels made for the core, in QEMU, bit for bit: the repository's, and those
// beside it. Of these the default set of tests takes every ninth; INTARSIA_EVERY_CASE is defined for the program that
// takes all.
#include <gtest/gtest.h>

#include "case_images.h"
#include "needs.h"

namespace intarsia::test {
namespace {

#ifdef INTARSIA_EVERY_CASE
constexpr size_t kStep = 1, kLeast = 160;
#else
constexpr size_t kStep = 9, kLeast = 18;
#endif

class ConformanceOnBoards : public testing::TestWithParam<const char*> {};

void expect_recorded(std::vector<RecordedCase> cases, const std::string& board) {
  const Result<BoardOutcome> outcome = run_on_board(cases, board);
  ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
  for (const std::string& failure : outcome->failures) ADD_FAILURE() << failure;
  const int passed = outcome->cases - static_cast<int>(outcome->failures.size());
  std::printf("%s: %d of %d cases as recorded, in %d images\n", board.c_str(), passed,
              outcome->cases, outcome->images);
}

TEST_P(ConformanceOnBoards, IntegerCases) {
  const fs::path root = shared_folder() / "conformance";
  INTARSIA_NEEDS_SHARED("conformance");
  if (!can_run(GetParam())) GTEST_SKIP() << board_needs(GetParam());
  const std::vector<RecordedCase> all = integer_cases(root);
  std::vector<RecordedCase> cases;
  for (size_t i = 0; i < all.size(); i += kStep) cases.push_back(all[i]);
  ASSERT_GE(cases.size(), kLeast);
  expect_recorded(std::move(cases), GetParam());
}

#ifndef INTARSIA_EVERY_CASE
TEST_P(ConformanceOnBoards, OperatorCases) {
  if (!can_run(GetParam())) GTEST_SKIP() << board_needs(GetParam());
  expect_recorded(integer_cases(golden_folder() / "operators"), GetParam());
}
#endif

INSTANTIATE_TEST_SUITE_P(Boards, ConformanceOnBoards,
                         testing::Values("mps2-an386", "mps3-an547", "riscv32-virt"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace intarsia::test
