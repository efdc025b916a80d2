// Work that is watched ends when it is not wanted any more, in the thread that is watched and in no other.
#include "support/watched.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "intarsia/watch.h"
#include "support/process.h"

namespace intarsia::test {
namespace {

TEST(Watched, WithoutAWatchAllIsWanted) {
  EXPECT_TRUE(watched::begins("plan").ok());
  EXPECT_TRUE(watched::goes_on().ok());
}

TEST(Watched, StagesAreToldAndQuestionsBetweenAreRare) {
  std::vector<std::string> asked;
  const Watch watch([&](std::string_view stage) {
    asked.emplace_back(stage);
    return true;
  });
  EXPECT_TRUE(watched::begins("import").ok());
  EXPECT_TRUE(watched::begins("plan").ok());
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(watched::is_wanted());
  ASSERT_GE(asked.size(), 2u);
  EXPECT_EQ(asked[0], "import");
  EXPECT_EQ(asked[1], "plan");
  EXPECT_LT(asked.size(), 1000u);
}

TEST(Watched, WhoHasSaidNoIsNotAskedAgain) {
  int asked = 0;
  const Watch watch([&](std::string_view) { return ++asked < 2; });
  EXPECT_TRUE(watched::begins("import").ok());
  const Result<void> stopped = watched::begins("plan");
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().to_string(), "compilation: was stopped by who had started it\n");
  EXPECT_FALSE(watched::is_wanted());
  EXPECT_FALSE(watched::begins("emit").ok());
  EXPECT_EQ(asked, 2);
}

TEST(Watched, TheInnermostIsAsked) {
  const Watch outer([](std::string_view) { return true; });
  {
    const Watch inner([](std::string_view) { return false; });
    EXPECT_FALSE(watched::begins("plan").ok());
  }
  EXPECT_TRUE(watched::begins("plan").ok());
}

TEST(Watched, OtherThreadsAreNot) {
  const Watch watch([](std::string_view) { return false; });
  bool is_wanted = false;
  std::thread([&] { is_wanted = watched::is_wanted(); }).join();
  EXPECT_TRUE(is_wanted);
  EXPECT_FALSE(watched::is_wanted());
}

TEST(Watched, AProgramThatNobodyWaitsForIsEnded) {
  int asked = 0;
  const Watch watch([&](std::string_view) { return ++asked < 3; });
  const auto outcome = run_process({"sh", "-c", "sleep 1000 & sleep 1000"});
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().items().front().where, "compilation");
}

TEST(Watched, AProgramMayHaveAQuestionOfItsOwn) {
  int asked = 0;
  ProcessOptions options;
  options.is_wanted = [&] { return ++asked < 3; };  // and after it has ended once more
  EXPECT_FALSE(run_process({"sleep", "1000"}, options).ok());
  EXPECT_EQ(asked, 4);
}

}  // namespace
}  // namespace intarsia::test
