// Boards whose memory is too small, or too slow in part, for the NPU's fastest schedule: it is scheduled again until
// the plan is to their liking, results stay exact, and where that leads nowhere nothing is different.
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "golden_models.h"
#include "intarsia/report.h"
#include "recorded_data.h"

namespace intarsia::test::ethos_u {
namespace {

using Again = std::vector<ScheduledAgain>;

const Again& again(const CompiledModel& model) {
  return model.program().scheduled_again;
}

int64_t peak(const CompiledModel& model, size_t pool) {
  return model.program().plan.use.at(pool).peak;
}

class ScheduleAgain : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto free = compile_recorded(GetParam(), {});
    ASSERT_TRUE(free.ok());
    EXPECT_TRUE(again(*free).empty());
    const int64_t most = sram_bytes(*free);
    // What the scheduler says itself of a limit that nothing meets.
    const auto none = compile_recorded(GetParam(), {.sram_limit = 1});
    ASSERT_FALSE(none.ok());
    const std::string message = none.error().to_string();
    const size_t advice = message.find("allow ");
    ASSERT_NE(advice, std::string::npos) << message;
    const int64_t least = std::atoll(message.c_str() + advice + 6);
    size_ = (least + most) / 2 / 16 * 16;
    ASSERT_GE(size_, least);
    ASSERT_LT(size_, most);
  }
  Result<CompiledModel> on(std::vector<MemoryPool> pools) const {
    return compile_recorded(GetParam(), {.pools = std::move(pools)});
  }
  int64_t size_ = 0;  // bytes between those of the smallest and those of the fastest schedule
};

TEST_P(ScheduleAgain, FitsWhereTheFastestDoesNot) {
  const auto model = on({{"sram", size_, false, 1, {}, 16}});
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  EXPECT_LE(peak(*model, 0), size_);
  ASSERT_EQ(again(*model).size(), 1u);
  const ScheduledAgain& asked = again(*model).front();
  EXPECT_LE(asked.limit, size_);
  EXPECT_GT(asked.before, size_);
  EXPECT_LE(asked.after, size_);
  const std::string report = report_text(make_report(*model, "target", "board"));
  EXPECT_NE(report.find(asked.function + " on " + asked.device + " was scheduled again to fit"),
            std::string::npos)
      << report;
  expect_exact(GetParam(), *model, "scheduled again");
}

TEST_P(ScheduleAgain, RefusesWhatNoScheduleFits) {
  const auto model = on({{"sram", 1024, false, 1, {}, 16}});
  ASSERT_FALSE(model.ok());
  EXPECT_NE(model.error().to_string().find("memory"), std::string::npos)
      << model.error().to_string();
}

TEST_P(ScheduleAgain, StaysInFastMemoryWhereTheOtherIsSlow) {
  const auto slow = on({{"sram", size_, false, 1, {}, 16}, {"dram", 0, false, 1000, {}, 16}});
  ASSERT_TRUE(slow.ok()) << slow.error().to_string();
  ASSERT_EQ(again(*slow).size(), 1u);
  EXPECT_EQ(peak(*slow, 1), 0);
  EXPECT_LE(peak(*slow, 0), size_);
  expect_exact(GetParam(), *slow, "in fast memory");
}

TEST_P(ScheduleAgain, TakesMemoryThatIsAsFast) {
  const auto alike = on({{"sram", size_, false, 1, {}, 16}, {"dram", 0, false, 1, {}, 16}});
  ASSERT_TRUE(alike.ok()) << alike.error().to_string();
  EXPECT_TRUE(again(*alike).empty());
  EXPECT_GT(peak(*alike, 1), 0);
  expect_exact(GetParam(), *alike, "in two memories");
}

INSTANTIATE_TEST_SUITE_P(Recorded, ScheduleAgain,
                         testing::ValuesIn(with_beside({"separable_s8", "residual_s8"},
                                                       {"kws_ref_model", "vww_96_int8"})),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace intarsia::test::ethos_u
