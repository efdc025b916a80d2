#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "intarsia/memory_plan.h"

namespace intarsia::plan {
namespace {

using testing::HasSubstr;

std::string error_of(const std::string& text) {
  const auto problem = read_problem_csv(text, "p.csv");
  return problem.ok() ? "" : problem.error().to_string();
}

TEST(ProblemCsv, ReadsMiniMallocsExample) {
  const auto problem = read_problem_csv("id,lower,upper,size\nb1,0,3,4\nb2,3,9,5\n", "p.csv");
  ASSERT_TRUE(problem.ok()) << problem.error().to_string();
  ASSERT_EQ(problem->buffers.size(), 2U);
  const auto& b2 = problem->buffers[1];
  EXPECT_EQ(b2.name, "b2");
  EXPECT_EQ(b2.lower, 3);
  EXPECT_EQ(b2.upper, 9);
  EXPECT_EQ(b2.size, 5);
  EXPECT_EQ(b2.alignment, 1);
  EXPECT_FALSE(b2.fixed_offset.has_value());
}

TEST(ProblemCsv, ReadsColumnsInAnyOrderAndAnyLineEnds) {
  const auto problem = read_problem_csv(
      "\xef\xbb\xbfsize, offset,upper,alignment,id,lower\r\n\r\n8,,3,4,x,1\r\n 8 ,16,3,,y,1",
      "p.csv");
  ASSERT_TRUE(problem.ok()) << problem.error().to_string();
  ASSERT_EQ(problem->buffers.size(), 2U);
  const auto& x = problem->buffers[0];
  EXPECT_EQ(x.name, "x");
  EXPECT_EQ(x.size, 8);
  EXPECT_EQ(x.lower, 1);
  EXPECT_EQ(x.upper, 3);
  EXPECT_EQ(x.alignment, 4);
  EXPECT_FALSE(x.fixed_offset.has_value());
  EXPECT_EQ(problem->buffers[1].fixed_offset, 16);
  EXPECT_EQ(problem->buffers[1].alignment, 1);
}

TEST(ProblemCsv, WritesWhatItReads) {
  const std::string text = "id,lower,upper,size,alignment,offset\na,0,3,4,8,8\nb,0,9,5,1,0\n";
  const auto problem = read_problem_csv(text, "p.csv");
  ASSERT_TRUE(problem.ok());
  PlacementSolution solution;
  solution.offsets = {8, 0};
  EXPECT_EQ(write_solution_csv(*problem, solution), text);
  auto plain = *problem;
  plain.buffers[0].alignment = 1;
  EXPECT_EQ(write_solution_csv(plain, solution),
            "id,lower,upper,size,offset\na,0,3,4,8\nb,0,9,5,0\n");
}

TEST(ProblemCsv, WantsAHeader) {
  EXPECT_THAT(error_of(""), HasSubstr("p.csv: there is no header"));
  EXPECT_THAT(error_of("\n\n"), HasSubstr("there is no header"));
  EXPECT_THAT(error_of("id,lower,upper\n"), HasSubstr("p.csv:1: column 'size' is missing"));
  EXPECT_THAT(error_of("id,lower,upper,size,gaps\n"), HasSubstr("unknown column 'gaps'"));
  EXPECT_THAT(error_of("id,lower,upper,size,id\n"), HasSubstr("column 'id' appears twice"));
}

TEST(ProblemCsv, SaysWhichLineIsWrong) {
  const auto with = [](const std::string& line) {
    return error_of("id,lower,upper,size,alignment,offset\nok,0,1,1,1,\n" + line + "\n");
  };
  EXPECT_THAT(with("b,0,1,1,1"), HasSubstr("p.csv:3: 5 values where the header has 6 columns"));
  EXPECT_THAT(with("b,0,1,1,1,0,0"), HasSubstr("p.csv:3: 7 values"));
  EXPECT_THAT(with(",0,1,1,1,"), HasSubstr("p.csv:3: the id is empty"));
  EXPECT_THAT(with("ok,0,1,1,1,"), HasSubstr("p.csv:3: id 'ok' was used on line 2"));
  EXPECT_THAT(with("b,x,1,1,1,"), HasSubstr("p.csv:3: lower 'x' is not a whole number"));
  EXPECT_THAT(with("b,0,1.5,1,1,"), HasSubstr("upper '1.5' is not a whole number"));
  EXPECT_THAT(with("b,0,1,0x10,1,"), HasSubstr("size '0x10' is not a whole number"));
  EXPECT_THAT(with("b,0,1,+1,1,"), HasSubstr("size '+1' is not a whole number"));
  EXPECT_THAT(with("b,0,1,,1,"), HasSubstr("size '' is not a whole number"));
  EXPECT_THAT(with("b,-1,1,1,1,"), HasSubstr("lower '-1' is negative"));
  EXPECT_THAT(with("b,0,1,-7,1,"), HasSubstr("size '-7' is negative"));
  EXPECT_THAT(with("b,0,1,9223372036854775808,1,"), HasSubstr("does not fit in 64 bits"));
  EXPECT_THAT(with("b,2,2,1,1,"), HasSubstr("upper 2 is not above lower 2"));
  EXPECT_THAT(with("b,0,1,1,0,"), HasSubstr("alignment is 0"));
  EXPECT_THAT(with("b,0,1,1,1,-4"), HasSubstr("offset '-4' is negative"));
}

TEST(ProblemCsv, ReportsAllWrongLinesButNotThousands) {
  const auto two = error_of("id,lower,upper,size\na,0,1,x\nb,0,1,1\nc,0,1,y\n");
  EXPECT_THAT(two, HasSubstr("p.csv:2:"));
  EXPECT_THAT(two, HasSubstr("p.csv:4:"));
  std::string many = "id,lower,upper,size\n";
  for (int i = 0; i < 5000; ++i) many += "\x01\x02\xff binary\n";
  const auto problem = read_problem_csv(many, "p.csv");
  ASSERT_FALSE(problem.ok());
  EXPECT_LE(problem.error().items().size(), 20U);
}

}  // namespace
}  // namespace intarsia::plan
