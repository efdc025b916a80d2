#include "plan_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "random_problems.h"

namespace intarsia::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class PlanCommand : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() / std::string("intarsia-plan-").append(info->name());
    fs::create_directories(folder_);
    write("in.csv", "id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\nb3,0,9,4\nb4,9,21,4\nb5,0,21,4\n");
    options_.problem_path = path("in.csv");
    options_.output_path = path("out.csv");
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(path(name), std::ios::binary) << text;
  }
  std::string read(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  size_t files() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  struct Outcome {
    int code = 0;
    std::string out, err;
  };
  Outcome run() {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    Outcome outcome;
    outcome.code = run_plan_command(options_);
    outcome.out = testing::internal::GetCapturedStdout();
    outcome.err = testing::internal::GetCapturedStderr();
    return outcome;
  }

  fs::path folder_;
  PlanCommandOptions options_;
};

TEST_F(PlanCommand, WritesAPlacementThatFits) {
  options_.capacity = 12;
  const Outcome outcome = run();
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(outcome.out, HasSubstr("peak         12\nlower bound  12\n"));
  const auto written = plan::read_problem_csv(read("out.csv"), "out.csv");
  ASSERT_TRUE(written.ok());
  ASSERT_EQ(written->buffers.size(), 5U);
  for (const auto& buffer : written->buffers) EXPECT_TRUE(buffer.fixed_offset.has_value());
  // Its own output is a problem with everything fixed, and the placement is valid.
  EXPECT_TRUE(plan::validate_problem(*written).ok());
  EXPECT_EQ(files(), 2U);
}

TEST_F(PlanCommand, FindsTheSmallestPeakWithoutACapacity) {
  options_.json = true;
  const Outcome outcome = run();
  EXPECT_EQ(outcome.code, 0);
  const auto report = nlohmann::json::parse(outcome.out, nullptr, false);
  ASSERT_FALSE(report.is_discarded());
  EXPECT_EQ(report["peak"], 12);
  EXPECT_EQ(report["proven_optimal"], true);
  EXPECT_EQ(report["capacity"], nullptr);
  EXPECT_EQ(report["status"], "fits");
}

TEST_F(PlanCommand, ProvesThatNothingFits) {
  write("out.csv", "precious");
  options_.capacity = 11;
  options_.json = true;
  const Outcome outcome = run();
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("does not fit in 11 bytes: 12 bytes are needed at once"));
  EXPECT_THAT(outcome.err, HasSubstr("--capacity 12"));
  EXPECT_THAT(outcome.out, HasSubstr("\"status\": \"does-not-fit\""));
  EXPECT_EQ(read("out.csv"), "precious");
  EXPECT_EQ(files(), 2U);
}

TEST_F(PlanCommand, SaysThatTheSearchEnded) {
  std::mt19937_64 random(1);
  plan::PlacementSolution nowhere;
  nowhere.offsets.assign(60, 0);
  std::string text = plan::write_solution_csv(plan::cut_problem(random, 60, 60, 1000), nowhere);
  // Without the offsets it is a problem again.
  for (size_t at = 0; (at = text.find(",0\n", at)) != std::string::npos;)
    text.replace(at, 3, ",\n");
  write("in.csv", text);
  options_.capacity = 1000;
  options_.limits.steps = 1;
  const Outcome outcome = run();
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("the search ended after 1 steps"));
  EXPECT_THAT(outcome.err, HasSubstr("the best placement found needs --capacity"));
  EXPECT_FALSE(fs::exists(path("out.csv")));
}

TEST_F(PlanCommand, ExplainsWrongFiles) {
  options_.problem_path = path("absent.csv");
  EXPECT_EQ(run().code, 1);
  options_.problem_path = folder_.string();
  EXPECT_THAT(run().err, HasSubstr("is a folder"));
  write("bad.csv", "id,lower,upper,size\na,0,1,huge\n");
  options_.problem_path = path("bad.csv");
  const Outcome bad = run();
  EXPECT_EQ(bad.code, 1);
  EXPECT_THAT(bad.err, HasSubstr("bad.csv:2: size 'huge' is not a whole number"));
}

TEST_F(PlanCommand, ExplainsAnOutputItCannotWrite) {
  options_.output_path = path("no/such/folder/out.csv");
  Outcome outcome = run();
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("out.csv: cannot be written"));
  options_.output_path = folder_.string();
  outcome = run();
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(files(), 1U);
}

}  // namespace
}  // namespace intarsia::cli
