#include "budgets/check_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sample_figures.h"

namespace intarsia::budgets {
namespace {

using testing::HasSubstr;

std::string refusal(Kind kind, const std::string& text) {
  const Result<Limit> limit = parse_limit(kind, text, "--max");
  return limit.ok() ? "" : limit.error().to_string();
}

TEST(Limits, AreReadFromText) {
  const Result<Limit> ram = parse_limit(Kind::Ram, "20K", "--max-ram");
  ASSERT_TRUE(ram.ok());
  EXPECT_EQ(ram->most, 20480);
  EXPECT_EQ(ram->name(), "ram");
  const Result<Limit> of_one = parse_limit(Kind::Ram, "sram=1.5K", "--max-ram");
  ASSERT_TRUE(of_one.ok());
  EXPECT_EQ(of_one->most, 1536);
  EXPECT_EQ(of_one->name(), "ram of sram");
  const Result<Limit> cycles = parse_limit(Kind::Cycles, "npu=20k", "--max-cycles");
  ASSERT_TRUE(cycles.ok());
  EXPECT_EQ(cycles->most, 20000);  // decimal
  EXPECT_EQ(cycles->name(), "cycles of npu");
}

TEST(Limits, RefuseOtherText) {
  EXPECT_EQ(refusal(Kind::Ram, "20 K"),
            "--max: '20 K' is no size; write bytes as 60000, 20K or 1.5M; K is 1024 bytes, M 1024 "
            "K\n");
  EXPECT_THAT(refusal(Kind::Cycles, "many"), HasSubstr("'many' is no count"));
  EXPECT_THAT(refusal(Kind::Ram, "=20K"), HasSubstr("nothing is named before the '='"));
  EXPECT_THAT(refusal(Kind::Ram, "sram="), HasSubstr("'' is no size"));
  EXPECT_THAT(refusal(Kind::Flash, "flash=20K"), HasSubstr("this budget is for all; write 20K"));
  EXPECT_THAT(refusal(Kind::Stack, "sram=2K"), HasSubstr("this budget is for all"));
  EXPECT_EQ(*parse_growth("0.5%", "--max-growth"), 500);
  EXPECT_EQ(parse_growth("5", "--max-growth").error().to_string(),
            "--max-growth: '5' is no percentage; write 0%, 2% or 0.5%\n");
}

TEST(CheckLimits, EachIsHeldAgainstItsFigure) {
  const std::vector<Limit> limits = {{Kind::Ram, "", 1500},       {Kind::Ram, "dtcm", 999},
                                     {Kind::Ram, "psram", 0},     {Kind::Flash, "", 9999},
                                     {Kind::Stack, "", 300},      {Kind::Cycles, "", 9999},
                                     {Kind::Cycles, "npu", 1000}, {Kind::Cycles, "c", 8999}};
  const Result<std::vector<Verdict>> verdicts = check_limits(sample_figures(), limits);
  ASSERT_TRUE(verdicts.ok()) << verdicts.error().to_string();
  ASSERT_EQ(verdicts->size(), limits.size());
  const int64_t figures[] = {1500, 1000, 0, 10000, 300, 10000, 1000, 9000};
  const bool exceeded[] = {false, true, false, true, false, true, false, true};
  for (size_t i = 0; i < limits.size(); ++i) {
    EXPECT_EQ((*verdicts)[i].figure, figures[i]) << i;
    EXPECT_EQ((*verdicts)[i].exceeded(), exceeded[i]) << i;
    EXPECT_EQ((*verdicts)[i].limit.name(), limits[i].name());
  }
}

TEST(CheckLimits, SayWhatDecides) {
  const std::vector<Limit> limits = {
      {Kind::Ram, "", 1}, {Kind::Flash, "", 1}, {Kind::Stack, "", 1}, {Kind::Cycles, "", 1}};
  const Result<std::vector<Verdict>> verdicts = check_limits(sample_figures(), limits);
  ASSERT_TRUE(verdicts.ok());
  const auto& ram = (*verdicts)[0].reasons;
  ASSERT_EQ(ram.size(), 2u);  // psram is empty
  EXPECT_THAT(ram[0].text, HasSubstr("dtcm is fullest at 'conv', where 960 of its 1000 bytes"));
  EXPECT_EQ(ram[0].shares[0].name, "conv_out");
  EXPECT_EQ(ram[0].shares[0].amount, 600);
  EXPECT_THAT(ram[1].text, HasSubstr("sram is fullest at 'pool'"));
  const auto& flash = (*verdicts)[1].reasons;
  ASSERT_EQ(flash.size(), 2u);
  EXPECT_EQ(flash[0].shares.size(), 3u);
  EXPECT_EQ(flash[1].shares[0].name, "conv");
  EXPECT_THAT((*verdicts)[2].reasons[0].text, HasSubstr("kws_run 100 > conv 200"));
  const auto& cycles = (*verdicts)[3].reasons;
  ASSERT_EQ(cycles.size(), 2u);
  EXPECT_EQ(cycles[0].shares[0].name, "conv");
}

TEST(CheckLimits, OfSeveralPrograms) {
  Figures figures = sample_figures();
  figures.memories[0].blocks = 2;
  const std::vector<Limit> limits = {{Kind::Ram, "dtcm", 1}};
  EXPECT_EQ(check_limits(figures, limits)->front().reasons.front().text,
            "2 blocks lie in dtcm; the largest is fullest at 'conv', where 960 bytes are in use");
}

// At most five: a network has thousands.
TEST(CheckLimits, NameTheLargest) {
  Figures figures = sample_figures();
  figures.memories[0].live.clear();
  for (int i = 0; i < 20; ++i) figures.memories[0].live.push_back({"b", 48});
  const std::vector<Limit> limits = {{Kind::Ram, "dtcm", 1}};
  EXPECT_EQ(check_limits(figures, limits)->front().reasons.front().shares.size(), 5u);
}

TEST(CheckLimits, AllThatIsNotThereIsReported) {
  Figures figures = sample_figures();
  figures.flash.reset();
  figures.stack.reset();
  figures.not_measured = "no compiler";
  const std::vector<Limit> limits = {
      {Kind::Ram, "dtcn", 1},   {Kind::Ram, "rom", 1}, {Kind::Flash, "", 1}, {Kind::Stack, "", 1},
      {Kind::Cycles, "gpu", 1}, {Kind::Ram, "", 5},    {Kind::Ram, "", 6}};
  const Result<std::vector<Verdict>> verdicts = check_limits(figures, limits);
  ASSERT_FALSE(verdicts.ok());
  const std::string problems = verdicts.error().to_string();
  EXPECT_EQ(verdicts.error().items().size(), 6u) << problems;
  EXPECT_THAT(problems, HasSubstr("--max-ram: there is no memory for activations 'dtcn'; did you "
                                  "mean 'dtcm'?"));
  EXPECT_THAT(problems, HasSubstr("'rom'; there are dtcm, sram, psram"));
  EXPECT_THAT(problems, HasSubstr("--max-flash: flash cannot be measured: no compiler"));
  EXPECT_THAT(problems, HasSubstr("--max-stack: the stack cannot be measured: no compiler"));
  EXPECT_THAT(problems, HasSubstr("--max-cycles: there is no device at work called 'gpu'"));
  EXPECT_THAT(problems, HasSubstr("there are two budgets for ram: 5 and 6"));
}

}  // namespace
}  // namespace intarsia::budgets
