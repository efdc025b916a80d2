// What the compiler makes of random operators computes what the reference evaluator computes. Others with
// $INTARSIA_RANDOM_SEED.
#include <cstdlib>

#include <gtest/gtest.h>

#include "legalise_testing.h"
#include "support/random_operator.h"
#include "support/rounds.h"

namespace intarsia::test::ethos_u {
namespace {

using graph::OpKind;
using testing::rounds;

struct Sweep {
  int taken = 0, refused = 0;
  std::string last_refusal;
};

Sweep sweep(OpKind kind, DataType type, int count) {
  Sweep result;
  const char* seed = std::getenv("INTARSIA_RANDOM_SEED");
  testing::Random random(static_cast<uint32_t>(kind) * 100 + 1 +
                         (seed == nullptr ? 0 : static_cast<uint32_t>(std::atoi(seed)) * 10007));
  for (int i = 0; i < count && !::testing::Test::HasFailure(); ++i) {
    const graph::Module module = testing::random_operator(random, kind, type);
    const graph::Function& main = module.entry_function();
    const std::string reason = refusal(module, main, main.nodes[0]);
    if (!reason.empty()) {
      ++result.refused;
      result.last_refusal = reason;
      continue;
    }
    ++result.taken;
    for (int round = 0; round < 3; ++round)
      expect_same(module, testing::random_inputs(random, module));
  }
  return result;
}

class RandomOperators : public ::testing::TestWithParam<OpKind> {};

TEST_P(RandomOperators, Int8) {
  const Sweep result = sweep(GetParam(), DataType::Int8, rounds(300));
  RecordProperty("taken", result.taken);
  EXPECT_GT(result.taken, rounds(150)) << result.last_refusal;
}

class RandomWideOperators : public RandomOperators {};

TEST_P(RandomWideOperators, Int16) {
  const Sweep result = sweep(GetParam(), DataType::Int16, rounds(100));
  EXPECT_GT(result.taken, rounds(50)) << result.last_refusal;
}

class RandomOtherOperators : public RandomOperators {};

TEST_P(RandomOtherOperators, Int8) {
  const Sweep result = sweep(GetParam(), DataType::Int8, rounds(40));
  EXPECT_GE(result.taken, rounds(12)) << result.last_refusal;
}

class RandomOtherWideOperators : public RandomOperators {};

TEST_P(RandomOtherWideOperators, Int16) {
  const Sweep result = sweep(GetParam(), DataType::Int16, rounds(30));
  EXPECT_GE(result.taken, rounds(8)) << result.last_refusal;
}

std::string name_of(const ::testing::TestParamInfo<OpKind>& info) {
  return std::string(graph::to_string(info.param));
}

INSTANTIATE_TEST_SUITE_P(Legalise, RandomOperators,
                         ::testing::Values(OpKind::Conv2d, OpKind::DepthwiseConv2d,
                                           OpKind::FullyConnected, OpKind::AveragePool2d,
                                           OpKind::MaxPool2d, OpKind::Add, OpKind::Mul,
                                           OpKind::Softmax, OpKind::Pad, OpKind::Mean,
                                           OpKind::Relu),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Legalise, RandomWideOperators,
                         ::testing::Values(OpKind::Conv2d, OpKind::FullyConnected,
                                           OpKind::AveragePool2d, OpKind::MaxPool2d, OpKind::Add,
                                           OpKind::Mul, OpKind::Pad, OpKind::Mean, OpKind::Relu),
                         name_of);
INSTANTIATE_TEST_SUITE_P(
    Legalise, RandomOtherOperators,
    ::testing::Values(OpKind::Sub, OpKind::Minimum, OpKind::Maximum, OpKind::TransposeConv2d,
                      OpKind::ResizeNearest, OpKind::ResizeBilinear, OpKind::Concat, OpKind::Pack,
                      OpKind::Split, OpKind::Unpack, OpKind::Slice, OpKind::Transpose,
                      OpKind::SpaceToDepth, OpKind::DepthToSpace, OpKind::MirrorPad, OpKind::PadV2,
                      OpKind::Tile, OpKind::BroadcastTo, OpKind::Sum, OpKind::ReduceMax,
                      OpKind::ReduceMin, OpKind::Logistic, OpKind::Tanh, OpKind::HardSwish,
                      OpKind::LeakyRelu, OpKind::Prelu, OpKind::Elu, OpKind::Gelu, OpKind::Exp,
                      OpKind::Log, OpKind::Abs, OpKind::Sqrt, OpKind::Rsqrt, OpKind::BatchMatmul,
                      OpKind::SquaredDifference, OpKind::ArgMax, OpKind::ArgMin, OpKind::LogSoftmax,
                      OpKind::L2Normalization, OpKind::Div),
    name_of);
INSTANTIATE_TEST_SUITE_P(Legalise, RandomOtherWideOperators,
                         ::testing::Values(OpKind::DepthwiseConv2d, OpKind::Sub, OpKind::Minimum,
                                           OpKind::Maximum, OpKind::Concat, OpKind::Slice,
                                           OpKind::Transpose, OpKind::MirrorPad, OpKind::Tile,
                                           OpKind::ReduceMax, OpKind::ReduceMin, OpKind::Sum,
                                           OpKind::LeakyRelu, OpKind::Softmax, OpKind::Gelu,
                                           OpKind::Abs, OpKind::ResizeBilinear,
                                           OpKind::SquaredDifference, OpKind::BatchMatmul,
                                           OpKind::HardSwish, OpKind::Div),
                         name_of);

}  // namespace
}  // namespace intarsia::test::ethos_u
