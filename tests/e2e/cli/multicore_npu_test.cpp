// Parts whose CPUs have an NPU each: the simulators are built with the thread sanitizer, which takes a minute.
#include "multicore_testing.h"
#include "needs.h"

namespace intarsia::test {
namespace {

TEST_F(Multicore, WithAnNpuEachDoNotRace) {
  write_images();
  ASSERT_TRUE(
      done(with_split({"compile", digits_path(), "-o", "digits", "--pin", "widen=ethos-u.2"},
                      "c -mcpu=cortex-m0 + ethos-u55-32", kNpuInPart)));
  bool ran = false;
  run_under_thread_sanitizer("digits", ran);
  if (!ran && !HasFatalFailure())
    GTEST_SKIP() << needs("thread-sanitizer") << "it does not run here";
  EXPECT_EQ(read("scores.bin"), all_scores());
}

}  // namespace
}  // namespace intarsia::test
