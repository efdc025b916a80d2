// Large networks through the command line: what they take in memory is bounded by what they hold, and
// twice the operators take about twice the work. Times are not asserted; ctest ends what hangs.
#include "scaling_testing.h"

namespace intarsia::test {
namespace {

using testing::HasSubstr;

TEST_F(Scaling, AChainOf1000Operators) {
  make("chain.tflite", [] { return chain_of(1000); });
  const Ended ended = measured({"compile", "chain.tflite", "-o", "out"});
  ASSERT_EQ(ended.code, 0) << told();
  EXPECT_LT(ended.peak_bytes, 200 * kMiB);
  const std::vector<uint8_t> source = read("out/chain.c");
  EXPECT_THAT(std::string(source.begin(), source.end()), HasSubstr("chain_layer999("));
}

// Schedules, cascades and prefetches are planned in pieces.
TEST_F(Scaling, AThousandOperatorsOnEveryNpu) {
  for (const char* npu : {"ethos-u55-128", "ethos-u65-512", "ethos-n78-4tops-4ple"})
    for (const bool sums : {false, true}) {
      make("net.tflite", [&] { return sums ? sums_of(1000) : chain_of(1000); });
      const Ended ended = measured(
          {"compile", "net.tflite", "--target", std::string("cortex-m55 + ") + npu, "-o", "out"});
      ASSERT_EQ(ended.code, 0) << npu << told();
      EXPECT_LT(ended.peak_bytes, 200 * kMiB) << npu;
    }
}

TEST_F(Scaling, WhatIsPlannedInPiecesIsStillRight) {
  make("chain.tflite", [] { return chain_of(120, 64); });
  make("sums.tflite", [] { return sums_of(120); });
  for (const auto& [net, npu] : {std::pair{"chain.tflite", "ethos-u55-128"},
                                 std::pair{"sums.tflite", "ethos-n78-4tops-4ple"}})
    EXPECT_TRUE(done(intarsia(
        {"verify", net, "--board", "host", "--target", std::string("cortex-m55 + ") + npu})))
        << npu << net;
}

TEST_F(Scaling, TwoHundredReadersOfOneTensor) {
  make("fan.tflite", [] { return fan_out_to(200); });
  const Ended ended = measured({"compile", "fan.tflite", "-o", "out"});
  ASSERT_EQ(ended.code, 0) << told();
  EXPECT_LT(ended.peak_bytes, 200 * kMiB);
}

// 2^63 ways through the model, and 63 operators in each.
TEST_F(Scaling, BranchesInBranchesAreSharedByTheWaysThatReachThem) {
  int64_t sizes[2] = {};
  for (const int depth : {31, 63}) {
    make("ways.tflite", [&] { return branches_within(depth); });
    const Ended ended = measured({"compile", "ways.tflite", "-o", "out"});
    ASSERT_EQ(ended.code, 0) << told();
    EXPECT_LT(ended.peak_bytes, 200 * kMiB);
    sizes[depth == 63] = size_of("out/ways.c");
  }
  EXPECT_LT(sizes[1], 3 * sizes[0]);
}

TEST_F(Scaling, BranchesInBranchesComputeWhatTheReferenceDoes) {
  make("ways.tflite", [] { return branches_within(12); });
  EXPECT_TRUE(done(intarsia({"verify", "ways.tflite"})));
}

TEST_F(Scaling, WeightsOf8MB) {
  compile_weights(8 * kMiB, kInt8, kInt8, "c");
}

}  // namespace
}  // namespace intarsia::test
