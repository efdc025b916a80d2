// As scaling_test, and larger.
#include "scaling_testing.h"

namespace intarsia::test {
namespace {

TEST_F(Scaling, AChainOf10000Operators) {
  make("chain.tflite", [] { return chain_of(10000); });
  const Ended ended = measured({"compile", "chain.tflite", "-o", "out"});
  ASSERT_EQ(ended.code, 0) << told();
  EXPECT_LT(ended.peak_bytes, 1000 * kMiB);
}

// Every layer is worth slicing and fetching.
TEST_F(Scaling, WeightsOf400LayersOnAnEthosU) {
  make("chain.tflite", [] { return chain_of(400, 128); });
  const Ended ended =
      measured({"compile", "chain.tflite", "--target", "cortex-m55 + ethos-u55-128", "-o", "out"});
  ASSERT_EQ(ended.code, 0) << told();
  EXPECT_LT(ended.peak_bytes, 6 * 400 * 128 * 128 + 200 * kMiB);
}

TEST_F(Scaling, AThousandReadersOfOneTensor) {
  make("fan.tflite", [] { return fan_out_to(1000); });
  const Ended ended = measured({"compile", "fan.tflite", "-o", "out"});
  ASSERT_EQ(ended.code, 0) << told();
  EXPECT_LT(ended.peak_bytes, 400 * kMiB);
}

TEST_F(Scaling, WeightsOf50MBOfEveryType) {
  compile_weights(50 * kMiB, kInt8, kInt8, "c");
  compile_weights(50 * kMiB, kInt8, kInt8, "c -mcpu=cortex-m55");
  compile_weights(50 * kMiB, kInt4, kInt8, "c");
  compile_weights(50 * kMiB, kInt8, kInt16, "c");
  compile_weights(50 * kMiB, kFloat32, kFloat32, "c");
}

TEST_F(Scaling, ExplainingTakesNoMoreThanCompiling) {
  make("net.tflite", [] { return weights_of(50 * kMiB, kInt8, kInt8); });
  const Ended ended = measured({"explain", "net.tflite", "--target", "c -mcpu=cortex-m55"});
  ASSERT_EQ(ended.code, 0) << told();
  EXPECT_LT(ended.peak_bytes, 6 * 50 * kMiB + 200 * kMiB);
}

}  // namespace
}  // namespace intarsia::test
