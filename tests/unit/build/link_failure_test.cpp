// What compilers and linkers say becomes what is wrong and what to do about it.
#include "build/link_failure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace intarsia::build {
namespace {

using testing::HasSubstr;
using testing::Not;

ProcessOutcome failed(const std::string& complaints) {
  ProcessOutcome outcome;
  outcome.exit_code = 1;
  outcome.err = complaints;
  return outcome;
}

BuildSetting setting_for(const std::string& board) {
  BuildSetting setting;
  setting.manifest.model = "kws";
  setting.board.name = board;
  setting.board.compiler = "arm-none-eabi-gcc";
  return setting;
}

// GNU's linkers and lld.
TEST(LinkFailure, MemoriesThatOverflowAreNamed) {
  const BuildSetting setting = setting_for("microbit");
  const std::string gnu =
      link_failure(setting, "the program",
                   failed("ld: /x/program section `.pool.ram' will not fit in region `ram'\n"
                          "ld: region `ram' overflowed by 15216 bytes\n"
                          "ld: region `flash' overflowed by 8 bytes\n"))
          .to_string();
  EXPECT_EQ(gnu,
            "kws: the program does not fit board microbit: 15216 bytes too many in 'ram', 8 bytes "
            "too many in 'flash'; choose a board with more memory, or a smaller model\n");
  EXPECT_THAT(link_failure(setting, "the program",
                           failed("ld.lld: error: section '.pool.ram' will not fit in region "
                                  "'ram': overflowed by 64 bytes\n"))
                  .to_string(),
              HasSubstr("64 bytes too many in 'ram'"));
}

TEST(LinkFailure, WhatElseIsWrongIsTheLinkersWords) {
  EXPECT_THAT(
      link_failure(setting_for("b"), "the program", failed("undefined reference to `f'\n"))
          .to_string(),
      HasSubstr("linking the program for board b failed (exit status 1):\nundefined reference"));
}

// A library that is not installed is no fault of the emitted code.
TEST(CompileFailure, WhatASourceMissesIsInItsWords) {
  for (const char* prefix : {"#error ", ""})  // GCC, clang
    EXPECT_EQ(compile_failure("driver.cpp", failed("library.h:14:2: error: " + std::string(prefix) +
                                                   "\"dnnl.h is not there: install it\"\n   14 | "
                                                   "#error \"dnnl.h is not there: install it\"\n"))
                  .to_string(),
              "driver.cpp: dnnl.h is not there: install it; or choose another target\n");
  const std::string other =
      compile_failure("kws.c", failed("kws.c:1:1: error: expected \";\"\n")).to_string();
  EXPECT_THAT(other, HasSubstr("fault of the emitted code"));
  EXPECT_THAT(other, Not(HasSubstr("another target")));
}

}  // namespace
}  // namespace intarsia::build
