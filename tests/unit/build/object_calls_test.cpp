// Calls and stack sizes that are read from object files, of assembler text in which both are known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "build/object_calls.h"
#include "build/objects.h"
#include "needs.h"
#include "support/files.h"
#include "support/process.h"

namespace intarsia::build {
namespace {

using ::testing::HasSubstr;

constexpr const char* kSource = R"(.syntax unified
.thumb
.section .text.m_run,"ax",%progbits
.globl m_run
.type m_run,%function
m_run:
  bl m_kernel
  bl helper
  bl memcpy
  bx lr
.section .text.m_kernel,"ax",%progbits
.globl m_kernel
.hidden m_kernel
.type m_kernel,%function
m_kernel:
  bl helper
  bx lr
.section .text.helper,"ax",%progbits
.type helper,%function
helper:
  bx lr
)";
// 8, 200 and 24 bytes.
constexpr const char* kSizes = R"(.section .stack_sizes,"o",%progbits,.text.m_run
.long m_run
.byte 8
.section .stack_sizes,"o",%progbits,.text.m_kernel,unique,1
.long m_kernel
.byte 0xC8,1
.section .stack_sizes,"o",%progbits,.text.helper,unique,2
.long helper
.byte 24
)";

// The bytes of the object; nothing where there is no assembler for it.
std::string assembled(const std::string& source) {
  const Result<TemporaryFolder> folder = TemporaryFolder::make();
  if (!folder.ok() || !write_file(folder->path() + "/m.s", std::string_view(source)).ok())
    return "";
  const auto outcome = run_process({"arm-none-eabi-gcc", "-mcpu=cortex-m4", "-c",
                                    folder->path() + "/m.s", "-o", folder->path() + "/m.o"});
  if (!outcome.ok() || !outcome->succeeded()) return "";
  const Result<std::string> bytes = read_text_file(folder->path() + "/m.o");
  return bytes.ok() ? *bytes : "";
}

TEST(ObjectCalls, GiveABoundOfTheStack) {
  const std::string object = assembled(std::string(kSource) + kSizes);
  if (object.empty()) GTEST_SKIP() << test::needs("cross-toolchain") << "no arm-none-eabi-gcc";
  const Result<std::string> text = calls_of_object(object, "m.o");
  ASSERT_TRUE(text.ok()) << text.error().to_string();
  const Result<StackBound> bound = stack_bound({*text}, "m_run");
  ASSERT_TRUE(bound.ok()) << bound.error().to_string();
  EXPECT_EQ(bound->bytes, 8 + 200 + 24);
  EXPECT_THAT(bound->chain, ::testing::ElementsAre("m_run 8", "m_kernel 200", "helper 24"));
  // A function of the C library may take more than ours.
  const Result<StackBound> helper = stack_bound({*text}, "m_kernel");
  ASSERT_TRUE(helper.ok());
  EXPECT_EQ(helper->bytes, 224);
  EXPECT_THAT(*text, HasSubstr("targetname: \"memcpy\""));
}

TEST(ObjectCalls, ThatSayNothingOfTheStackAreRefused) {
  const std::string object = assembled(kSource);
  if (object.empty()) GTEST_SKIP() << test::needs("cross-toolchain") << "no arm-none-eabi-gcc";
  const Result<std::string> text = calls_of_object(object, "m.o");
  ASSERT_FALSE(text.ok());
  EXPECT_THAT(text.error().to_string(), HasSubstr("m.o: does not say how much stack"));
}

// Every cut and every damaged word is refused or read as something: nothing is read beyond the end.
TEST(ObjectCalls, OfDamagedFilesAreReadWithinTheirBytes) {
  EXPECT_FALSE(calls_of_object("", "m.o").ok());
  EXPECT_FALSE(calls_of_object("\x7f"
                               "ELF",
                               "m.o")
                   .ok());
  EXPECT_FALSE(calls_of_object(std::string(500, '\xff'), "m.o").ok());
  const std::string object = assembled(std::string(kSource) + kSizes);
  if (object.empty()) GTEST_SKIP() << test::needs("cross-toolchain") << "no arm-none-eabi-gcc";
  for (size_t size = 0; size < object.size(); size += 7)
    EXPECT_FALSE(calls_of_object(object.substr(0, size), "m.o").ok()) << size;
  for (size_t at = 0; at + 4 <= object.size(); at += 4) {
    std::string damaged = object;
    damaged.replace(at, 4, "\xff\xff\xff\x7f");
    (void)calls_of_object(damaged, "m.o");
  }
}

}  // namespace
}  // namespace intarsia::build
