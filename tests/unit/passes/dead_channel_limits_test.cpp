// What dead-channel elimination does not look at.
#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "elimination_testing.h"

namespace intarsia {
namespace {

using namespace test;

// Long rows of samples beside them: what decides on channels one by one would take seconds and gigabytes.
TEST(EliminationChannels, FunctionsWithMillionsOfThemKeepTheirs) {
  const auto removes_channels = [](int64_t samples) {
    std::string text = two_convolutions("1,1", "", "1,4,4,1");
    text.replace(0, std::string("(%0) -> (%6)").size(), "(%0, %7) -> (%6, %8)");
    text.insert(text.find("    conv2d first"),
                fmt::format("%7 s: i8[{0}] q(1)\n%8 r: i8[{0}] q(1)\n", samples));
    text.insert(text.rfind('}'), "relu samples(%7) -> (%8)\n");
    const auto result = eliminate_dead_channels(
        parsed(text, kTwoConvolutions + "const @2 v = i8[3, 4] const @3 c = i32[7]"));
    EXPECT_TRUE(result.ok());
    return result.ok() && std::ranges::any_of(result->actions, [](const auto& action) {
             return action.pass == "channels";
           });
  };
  EXPECT_TRUE(removes_channels(1000));
  EXPECT_FALSE(removes_channels(3'000'000));
}

}  // namespace
}  // namespace intarsia
