#include "budgets/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "sample_figures.h"

namespace intarsia::budgets {
namespace {

using testing::HasSubstr;

Comparison compared(const Figures& before, const Figures& now, Growth growth = 0) {
  const Result<Comparison> result = compare(before, "old.json", now, growth);
  EXPECT_TRUE(result.ok()) << result.error().to_string();
  return result.ok() ? *result : Comparison{};
}

std::vector<std::string> grown(const Comparison& comparison) {
  std::vector<std::string> names;
  for (const Change& change : comparison.changes)
    if (change.too_much()) names.push_back(change.figure);
  return names;
}

TEST(Compare, TheSameIsTheSame) {
  const Comparison result = compared(sample_figures(), sample_figures());
  EXPECT_TRUE(result.passed());
  EXPECT_TRUE(result.moved.empty());
  EXPECT_TRUE(result.notes.empty());
  std::vector<std::string> figures;
  for (const Change& change : result.changes) {
    EXPECT_FALSE(change.changed());
    figures.push_back(change.figure);
  }
  EXPECT_THAT(figures,
              testing::ElementsAre("ram of dtcm", "ram of sram", "ram of psram", "ram", "flash",
                                   "stack", "cycles of c", "cycles of npu", "cycles"));
}

TEST(Compare, EveryFigureMayGrowTooMuch) {
  Figures now = sample_figures();
  now.memories[1].peak += 1;
  now.flash = {3002, 5000, 1999, 10001};
  now.stack = 301;
  now.cycles[1].cycles += 1;
  const Comparison result = compared(sample_figures(), now);
  EXPECT_FALSE(result.passed());
  EXPECT_THAT(grown(result), testing::ElementsAre("ram of sram", "ram", "flash", "stack",
                                                  "cycles of npu", "cycles"));
  // The shares of flash are shown, and are no figures of their own.
  const auto code =
      std::find_if(result.changes.begin(), result.changes.end(),
                   [](const Change& change) { return change.figure == "code in flash"; });
  ASSERT_NE(code, result.changes.end());
  EXPECT_TRUE(code->is_detail);
}

TEST(Compare, LessIsFine) {
  Figures now = sample_figures();
  now.memories[0].peak = 900;
  now.flash->total = 9000;
  now.stack = 200;
  now.cycles[0].cycles = 10;
  EXPECT_TRUE(compared(sample_figures(), now).passed());
}

TEST(Compare, GrowthIsAllowedToTheByte) {
  Figures now = sample_figures();
  now.memories[0].peak = 1020;  // 2 % of 1000
  EXPECT_TRUE(compared(sample_figures(), now, 2000).passed());
  now.memories[0].peak = 1021;
  EXPECT_THAT(grown(compared(sample_figures(), now, 2000)), testing::ElementsAre("ram of dtcm"));
  // What was nothing stays nothing, whatever the percentage.
  now = sample_figures();
  now.memories[2].peak = 1;
  EXPECT_THAT(grown(compared(sample_figures(), now, 50000)), testing::ElementsAre("ram of psram"));
  // Exact where a double is not.
  Figures before = sample_figures();
  before.cycles[0].cycles = 9'007'199'254'740'993;
  now = before;
  now.cycles[0].cycles += 9'007'199'254'740;  // 0.1 %
  EXPECT_TRUE(compared(before, now, 100).passed());
  now.cycles[0].cycles += 1;
  EXPECT_FALSE(compared(before, now, 100).passed());
  // A percentage that stands for "as much as it wants" has no end either.
  EXPECT_TRUE(compared(before, now, std::numeric_limits<Growth>::max()).passed());
}

TEST(Compare, OperatorsThatMoved) {
  Figures now = sample_figures();
  now.operators = {{"conv", "npu"}, {"pool", "npu"}, {"softmax", "c"}};
  const Comparison result = compared(sample_figures(), now);
  EXPECT_TRUE(result.passed());  // it is no growth
  ASSERT_EQ(result.moved.size(), 3u);
  EXPECT_EQ(result.moved[0].name, "dense");
  EXPECT_EQ(result.moved[0].now, "");
  EXPECT_EQ(result.moved[1].name, "conv");
  EXPECT_EQ(result.moved[1].before, "c");
  EXPECT_EQ(result.moved[1].now, "npu");
  EXPECT_EQ(result.moved[2].name, "softmax");
  EXPECT_EQ(result.moved[2].before, "");
}

TEST(Compare, MemoriesAndDevicesThatOneOfThemLacks) {
  Figures now = sample_figures();
  now.memories.erase(now.memories.begin());
  now.memories.push_back({"ddr", 7, "", 0, {}});
  now.cycles.pop_back();
  const Comparison result = compared(sample_figures(), now);
  EXPECT_THAT(grown(result), testing::ElementsAre("ram of ddr"));
}

TEST(Compare, WhatCannotBeCompared) {
  Figures now = sample_figures();
  now.board = "large";
  now.target = "c";
  now.flash.reset();
  now.stack.reset();
  now.not_measured = "no compiler";
  const Result<Comparison> result = compare(sample_figures(), "old.json", now, 0);
  ASSERT_FALSE(result.ok());
  const std::string problems = result.error().to_string();
  EXPECT_THAT(problems, HasSubstr("old.json: is of board small, not large"));
  EXPECT_THAT(problems, HasSubstr("old.json: is of target c + npu, not c"));
  EXPECT_THAT(problems,
              HasSubstr("has flash and stack, which cannot be measured now: no compiler"));
}

TEST(Compare, NotesSayWhyFiguresDiffer) {
  Figures before = sample_figures();
  before.model = "kws_v1";
  before.compiler = "cc 11 -Os";
  const Comparison result = compared(before, sample_figures());
  ASSERT_EQ(result.notes.size(), 2u);
  EXPECT_THAT(result.notes[0], HasSubstr("kws_v1"));
  EXPECT_THAT(result.notes[1], HasSubstr("compiled by cc 11 -Os, this by cc 12 -Os"));
  before = sample_figures();
  before.flash.reset();
  before.stack.reset();
  before.not_measured = "host";
  EXPECT_THAT(compared(before, sample_figures()).notes,
              testing::ElementsAre("the baseline has neither flash nor stack: host"));
}

}  // namespace
}  // namespace intarsia::budgets
