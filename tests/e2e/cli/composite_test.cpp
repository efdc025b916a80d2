// Unlike devices in one target: the composite target of examples/composite, with the digits.
#include <cstdlib>

#include <gmock/gmock.h>

#include "cli.h"
#include "needs.h"

namespace intarsia::test {
namespace {

using testing::HasSubstr;

class Composite : public Cli {
 protected:
  static std::string target() {
    const Result<std::string> text = read_text_file(std::string(INTARSIA_SOURCE_DIR) +
                                                    "/examples/composite/ethos-n-opencl.json");
    EXPECT_TRUE(text.ok());
    return text.ok() ? *text : "";
  }
  // Runs image 3; false where there is no OpenCL device to run it on.
  bool run(const std::vector<std::string>& more) const {
    write_image("image.bin", 3);
    std::vector<std::string> command = {"run",       "--native",     digits_path(), "--input",
                                        "image.bin", "--output-dir", "out"};
    command.insert(command.end(), more.begin(), more.end());
    const ProcessOutcome outcome = intarsia(command);
    if (outcome.err.find("no platform has a device") != std::string::npos) return false;
    EXPECT_TRUE(outcome.succeeded()) << outcome.err;
    return true;
  }
  // Ethos-N rounds once where TFLite rounds twice: a step of the scores at most.
  void expect_scores() const {
    const std::vector<uint8_t> scores = read("out/out0.bin"), recorded = recorded_scores(3);
    ASSERT_EQ(scores.size(), recorded.size());
    for (size_t i = 0; i < scores.size(); ++i)
      EXPECT_LE(std::abs(static_cast<int8_t>(scores[i]) - static_cast<int8_t>(recorded[i])), 1)
          << i;
  }
};

TEST_F(Composite, EveryOperatorHasOneThatRunsItAndReasonsOfThoseThatDoNot) {
  const ProcessOutcome outcome = intarsia({"explain", digits_path(), "--target", target()});
  ASSERT_TRUE(done(outcome));
  EXPECT_THAT(outcome.out, HasSubstr(" operators on ethosn"));
  EXPECT_THAT(outcome.out, HasSubstr("not opencl: it is computed by intarsia_softmax_s8"));
  EXPECT_THAT(outcome.out, HasSubstr("transfers between devices"));
}

TEST_F(Composite, RunsByPriorityAndByCost) {
  if (!run({"--target", target()}))
    GTEST_SKIP() << needs("opencl-device") << "the ICD loader finds none";
  expect_scores();
  ASSERT_TRUE(run({"--target", target(), "--policy", "cost"}));
  expect_scores();
}

TEST_F(Composite, RunsOnAllThreeWhenPinned) {
  if (!run({"--target", target(), "--pin", "block1_add=opencl", "--pin", "max_pool=c", "--pin",
            "flatten=c"}))
    GTEST_SKIP() << needs("opencl-device") << "the ICD loader finds none";
  expect_scores();
}

// A sum streams through the NPU from and to the slow memory.
TEST_F(Composite, AnNpuThatLeavesItsFastMemoryEmpty) {
  write("sum.graph",
        std::string(
            "intarsia.graph sum\nfunc @main(%0, %1) -> (%2) {\n  %0 a: i8[1,4,4,16] q(0.5:0)\n"
            "  %1 b: i8[1,4,4,16] q(0.5:0)\n  %2 c: i8[1,4,4,16] q(0.5:0)\n"
            "  add total(%0, %1) -> (%2) {activation=none}\n}\nentry @main\n"));
  write("a.bin", std::vector<uint8_t>(256, 50));
  write("b.bin", std::vector<uint8_t>(256, 7));
  ASSERT_TRUE(done(intarsia({"run", "sum.graph", "--target", "ethos-u65-256", "--input", "a.bin",
                             "--input", "b.bin", "--output-dir", "out"})));
  EXPECT_EQ(read("out/out0.bin"), std::vector<uint8_t>(256, 57));
}

TEST_F(Composite, TwoKindsOfNpuInAnyOrder) {
  for (const char* order : {"c + ethos-u + ethosn", "c + ethosn + ethos-u"}) {
    ASSERT_TRUE(run({"--target", order, "--pin", "block1_add=ethos-u", "--pin", "widen=ethosn"}))
        << order;
    expect_scores();
  }
}

TEST_F(Composite, TwoNpusOfOneKindAreTwoDevices) {
  for (const char* order :
       {"cortex-m55+ethos-u55-128+ethos-u65-256", "cortex-m55+ethos-u65-256+ethos-u55-128"}) {
    ASSERT_TRUE(run({"--target", order, "--pin", "block1_add=ethos-u.2"})) << order;
    EXPECT_EQ(read("out/out0.bin"), recorded_scores(3)) << order;
    const ProcessOutcome outcome =
        intarsia({"explain", digits_path(), "--target", order, "--pin", "block1_add=ethos-u.2"});
    EXPECT_THAT(outcome.out, HasSubstr("12 operators on ethos-u, 1 on ethos-u.2 (block1_add)\n"));
    EXPECT_THAT(outcome.out, HasSubstr("the operator is pinned to ethos-u.2"));
  }
}

TEST_F(Composite, OpenClAloneIsExact) {
  if (!run({"--target", "c + opencl"}))
    GTEST_SKIP() << needs("opencl-device") << "the ICD loader finds none";
  EXPECT_EQ(read("out/out0.bin"), recorded_scores(3));
}

TEST_F(Composite, AnAbsentPlatformIsSaidAndThePlanStillCompiles) {
  write_image("image.bin", 3);
  const auto without_platform = [&](std::vector<std::string> command) {
    command.insert(command.begin(),
                   {"env", "OCL_ICD_VENDORS=" + path("nowhere"), INTARSIA_PROGRAM});
    return program(command);
  };
  const ProcessOutcome ran = without_platform({"run", digits_path(), "--target", "c + opencl",
                                               "--input", "image.bin", "--output-dir", "out"});
  EXPECT_EQ(ran.exit_code, kUserError);
  EXPECT_THAT(ran.err, HasSubstr("no platform has a device"));
  EXPECT_FALSE(exists("out")) << "a failed run leaves nothing";
  EXPECT_TRUE(done(
      without_platform({"compile", digits_path(), "--target", "c + opencl", "-o", "sources"})));
  EXPECT_TRUE(exists("sources/digits.intarsia"));
  const ProcessOutcome text = intarsia({"disasm", path("sources/digits.intarsia")});
  EXPECT_THAT(text.out, HasSubstr("__kernel void"));
  EXPECT_EQ(intarsia({"disasm", "sources"}).out, text.out);
}

TEST_F(Composite, PinsThatCannotHoldSayWhy) {
  EXPECT_TRUE(refused(
      intarsia({"explain", digits_path(), "--target", target(), "--pin", "scores=ethosn"}),
      {"operator 'scores' (softmax): is pinned to 'ethosn', which cannot take it",
       "the stack has no operation for softmax", "pin it to another device or leave it free"}));
  EXPECT_TRUE(
      refused(intarsia({"explain", digits_path(), "--target", target(), "--pin", "scores=opencl"}),
              {"operator 'scores' (softmax): is pinned to 'opencl', which cannot take it"}));
  EXPECT_TRUE(
      refused(intarsia({"explain", digits_path(), "--target", target(), "--pin", "scores=ethosm"}),
              {"--pin scores: the target has no device 'ethosm'", "did you mean 'ethosn'?"}));
}

TEST_F(Composite, VariantsWithoutKernelsNameTheFourThatHaveThem) {
  const std::vector<std::string> four = {"1tops-4ple", "4tops-2ple", "4tops-4ple", "8tops-2ple"};
  for (const char* choice : {"ethos-n78-2tops-4ple", "c + ethosn -variant=1tops-2ple"}) {
    std::vector<std::string> words = four;
    words.push_back("no PLE kernels exist for");
    EXPECT_TRUE(refused(intarsia({"explain", digits_path(), "--target", choice}), words));
  }
}

// A function that is to be one region, and an operator outside of it that waits for one of its results and makes one of
// its operands: neither could begin.
TEST_F(Composite, RegionsThatWouldWaitForEachOtherAreRefused) {
  write("waiting.graph", std::string(R"(intarsia.graph waiting
func @main(%0) -> (%3) {
  %0 in: i8[1,4] q(0.5)
  %1 a: i8[1,4] q(0.5)
  %2 b: i8[1,4] q(0.5)
  %3 c: i8[1,4] q(0.5)
  call both(%0, %2) -> (%1, %3) {callee=pair}
  relu between(%1) -> (%2)
}
func @pair(%0, %1) -> (%2, %3) [pin=ethosn] {
  %0 in: i8[1,4] q(0.5)
  %1 b: i8[1,4] q(0.5)
  %2 a: i8[1,4] q(0.5)
  %3 c: i8[1,4] q(0.5)
  relu first(%0) -> (%2)
  add second(%1, %1) -> (%3)
}
entry @main
)"));
  EXPECT_TRUE(refused(
      intarsia({"explain", "waiting.graph", "--target", "c + ethosn"}),
      {"waiting.graph", "operator 'both' (call): reads tensor %2 before it is made",
       "move operator 'between', which makes it, before this one, unless it waits for this one"}));
}

// Operators of one device around one of another: two regions with one between them, not one that waits for itself.
TEST_F(Composite, PinsAroundAnotherDeviceMakeTwoRegions) {
  write("around.graph", std::string(R"(intarsia.graph around
func @main(%0) -> (%3) {
  %0 in: i8[1,4] q(0.5)
  %1 a: i8[1,4] q(0.5)
  %2 b: i8[1,4] q(0.00390625:-128)
  %3 c: i8[1,4] q(0.5)
  relu first(%0) -> (%1)
  softmax between(%1) -> (%2)
  add last(%1, %2) -> (%3)
}
entry @main
)"));
  for (const char* split : {"c + ethosn", "ethosn: c; b: c"})
    EXPECT_TRUE(done(intarsia({"verify", "around.graph", "--target", split, "--pin", "first=ethosn",
                               "--pin", "last=ethosn"})));
}

}  // namespace
}  // namespace intarsia::test
