#include "intarsia/plugin/check.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "intarsia/check_handler.h"

namespace intarsia {
namespace {

std::string heard;

void remember(const std::string& message) {
  heard = message;
}
void leave(const std::string& message) {
  throw std::runtime_error(message);
}

TEST(Check, EndsTheProgramWithItsOwnExitCode) {
  EXPECT_EXIT(INTARSIA_CHECK(1 + 1 == 3, "sums are right"), testing::ExitedWithCode(3),
              "intarsia: internal error at .*: sums are right \\(1 \\+ 1 == 3\\); please report");
}

TEST(Check, AHandlerThatThrowsIsAWayOut) {
  EXPECT_EQ(set_check_handler(leave), nullptr);
  EXPECT_THROW(INTARSIA_CHECK(false, "never"), std::runtime_error);
  EXPECT_NO_THROW(INTARSIA_CHECK(true, "always"));
  EXPECT_EQ(set_check_handler(nullptr), leave);
}

TEST(Check, AHandlerThatReturnsEndsTheProgramAllTheSame) {
  set_check_handler(remember);
  EXPECT_EXIT(INTARSIA_CHECK(false, "never"), testing::ExitedWithCode(3), "^$");
  set_check_handler(nullptr);
}

}  // namespace
}  // namespace intarsia
