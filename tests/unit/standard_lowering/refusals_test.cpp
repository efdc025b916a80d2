// Reasons, in words, for what the portable lowering does not take.
#include <gmock/gmock.h>

#include "lowering_testing.h"

namespace intarsia::testing {

namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

std::optional<std::string> reason(const graph::Module& module) {
  const graph::Function& function = module.entry_function();
  return standard_lowering_refuses(module, function, function.nodes[0]);
}

graph::Module conv() {
  Random random(3);
  return random_operator(random, graph::OpKind::Conv2d, DataType::Int8);
}

graph::Tensor& operand(graph::Module& module, size_t input) {
  graph::Function& function = module.functions[0];
  return function.tensors[function.nodes[0].inputs[input].at()];
}

TEST(Refusals, NoneForWhatIsSupported) {
  EXPECT_EQ(reason(conv()), std::nullopt);
}

TEST(Refusals, OperandTypes) {
  graph::Module module = conv();
  operand(module, 1).type = DataType::UInt8;
  EXPECT_THAT(reason(module), Optional(HasSubstr("operand types i8, u8")));
}

TEST(Refusals, WeightsWithAZeroPoint) {
  graph::Module module = conv();
  operand(module, 1).quantization.zero_point[0] = 3;
  EXPECT_THAT(reason(module), Optional(HasSubstr("zero point")));
}

// Weights less a zero point have 9 bits; with more their sums might leave 32.
TEST(Refusals, WeightsOfMoreThanNineBits) {
  graph::Module module = conv();
  graph::Tensor& weights = operand(module, 1);
  weights.type = DataType::Int16;
  std::vector<int16_t> values(static_cast<size_t>(element_count(weights.shape)), -255);
  const auto set = [&] {
    std::vector<uint8_t> bytes(2 * values.size());
    std::memcpy(bytes.data(), values.data(), bytes.size());
    module.constants[static_cast<size_t>(weights.constant.index)].bytes = std::move(bytes);
  };
  set();
  EXPECT_EQ(reason(module), std::nullopt);
  values.back() = 256;
  set();
  EXPECT_EQ(reason(module), "i16 weights are beyond -255..255");
  weights.constant = {};
  EXPECT_EQ(reason(module), "i16 weights are no constant");
}

TEST(Refusals, MissingAndPerChannelScales) {
  graph::Module module = conv();
  operand(module, 0).quantization = {};
  EXPECT_THAT(reason(module), Optional(HasSubstr("input carries no scale")));
  operand(module, 0).quantization = {{0.1f, 0.2f}, {0, 0}, 3};
  EXPECT_THAT(reason(module), Optional(HasSubstr("input has a scale per channel")));
}

TEST(Refusals, Variables) {
  graph::Module module = conv();
  operand(module, 0).variable = true;
  EXPECT_THAT(reason(module), Optional(HasSubstr("variable")));
}

TEST(Refusals, SoftmaxOfAnotherOutputScale) {
  Random random(1);
  graph::Module module = random_operator(random, graph::OpKind::Softmax, DataType::Int8);
  graph::Function& function = module.functions[0];
  function.tensors[function.nodes[0].outputs[0].at()].quantization.zero_point[0] = 0;
  EXPECT_THAT(reason(module), Optional(HasSubstr("1/256")));
}

TEST(Refusals, ScalesOfAddTooFarApart) {
  Random random(1);
  graph::Module module = random_operator(random, graph::OpKind::Add, DataType::Int8);
  graph::Function& function = module.functions[0];
  function.tensors[function.nodes[0].outputs[0].at()].quantization.scale[0] = 1e-12f;
  EXPECT_THAT(reason(module), Optional(HasSubstr("too far apart")));
}

TEST(Refusals, CallsAndAllProblemsTogether) {
  graph::Module module = conv();
  graph::Function& function = module.functions[0];
  graph::Node second = function.nodes[0];
  second.name = "second";
  function.nodes.push_back(second);
  operand(module, 1).type = DataType::UInt8;
  const Result<tir::LoweredFunction> lowered = standard_graph_to_tir(module, function);
  ASSERT_FALSE(lowered.ok());
  ASSERT_EQ(lowered.error().items().size(), 2u);
  EXPECT_THAT(lowered.error().items()[1].where, HasSubstr("second"));

  function.nodes[0].kind = graph::OpKind::Call;
  function.nodes[0].attributes = graph::CallAttrs{"other"};
  EXPECT_THAT(reason(module), Optional(HasSubstr("call is not supported")));
}

}  // namespace

}  // namespace intarsia::testing
