// Networks of old converters, which compute on bytes without a sign, are networks of int8 behind their inputs and outputs.
#include <cstring>

#include "import_support.h"

namespace intarsia::test {
namespace {

using graph::OpKind;

std::vector<OpKind> kinds_of(const graph::Function& function) {
  std::vector<OpKind> kinds;
  for (const graph::Node& node : function.nodes) kinds.push_back(node.kind);
  return kinds;
}

// Of the old converters' kind; weights of 18 bytes with this zero point.
ModelSpec old_dense(std::vector<uint8_t> weights, int64_t zero_point) {
  ModelSpec m = fully_connected_model();
  for (const size_t i : {0, 1, 3}) m.tensors[i].type = kUInt8;
  m.tensors[0].zero_point = {100};
  m.tensors[3].zero_point = {0};
  m.tensors[1].scale = {0.5f};
  m.tensors[1].zero_point = {zero_point};
  m.tensors[1].data = std::move(weights);
  return m;
}

ModelSpec old_pool(int32_t filter) {
  ModelSpec m = average_pool2d_model();
  for (TensorSpec& tensor : m.tensors) tensor = {tensor.name, tensor.shape, kUInt8, {0.5f}, {128}};
  m.tensors[1].shape = {1, 5 - filter, 5 - filter, 3};
  m.operators[0].options = options_of(&format::CreatePool2dOptions, format::Padding::Valid, 1, 1,
                                      filter, filter, format::Activation::None);
  return m;
}

TEST(ImportUnsigned, InputsAndOutputsStayBytes) {
  const graph::Function main = imported(old_dense(std::vector<uint8_t>(18, 130), 128));
  ASSERT_EQ(kinds_of(main),
            (std::vector{OpKind::Quantize, OpKind::FullyConnected, OpKind::Quantize}));
  const graph::Tensor &input = main.tensor(main.inputs[0]), &output = main.tensor(main.outputs[0]);
  EXPECT_EQ(input.name, "features");
  EXPECT_EQ(input.type, DataType::UInt8);
  EXPECT_EQ(input.quantization.zero_point, std::vector<int64_t>{100});
  EXPECT_EQ(output.type, DataType::UInt8);
  const graph::Tensor& inside = main.tensor(main.nodes[1].inputs[0]);
  EXPECT_EQ(inside.type, DataType::Int8);
  EXPECT_EQ(inside.quantization.zero_point, std::vector<int64_t>{-28});
  EXPECT_EQ(inside.quantization.scale, input.quantization.scale);
}

TEST(ImportUnsigned, WeightsAreLessTheirZeroPoint) {
  std::vector<uint8_t> weights(18, 0x60);
  weights[0] = 0xf0, weights[17] = 0;
  for (const auto& [zero_point, type] :
       {std::pair{int64_t{0x78}, DataType::Int8}, std::pair{int64_t{0x50}, DataType::Int16}}) {
    const Result<graph::Module> module = import(old_dense(weights, zero_point));
    ASSERT_TRUE(module.ok()) << module.error().to_string();
    const graph::Function& main = module->entry_function();
    const graph::Tensor& made = main.tensor(main.nodes[1].inputs[1]);
    EXPECT_EQ(made.type, type);
    EXPECT_EQ(made.quantization.zero_point, std::vector<int64_t>{0});
    const std::vector<uint8_t>& bytes = module->constant(made.constant).bytes;
    const size_t width = type == DataType::Int8 ? 1 : 2;
    ASSERT_EQ(bytes.size(), 18 * width);
    const auto value = [&](size_t i) -> int64_t {
      int16_t wide = 0;
      if (width == 1) return static_cast<int8_t>(bytes[i]);
      std::memcpy(&wide, &bytes[2 * i], sizeof wide);
      return wide;
    };
    EXPECT_EQ(value(0), 0xf0 - zero_point);
    EXPECT_EQ(value(1), 0x60 - zero_point);
    EXPECT_EQ(value(17), -zero_point);
  }
}

TEST(ImportUnsigned, AveragesOfEvenWindowsAreRoundedAsOfBytes) {
  EXPECT_EQ(kinds_of(imported(old_pool(3))),
            (std::vector{OpKind::Quantize, OpKind::AveragePool2d, OpKind::Quantize}));
  const graph::Function even = imported(old_pool(2));
  ASSERT_EQ(kinds_of(even), (std::vector{OpKind::Quantize, OpKind::Lookup, OpKind::AveragePool2d,
                                         OpKind::Quantize, OpKind::Quantize}));
  EXPECT_EQ(even.tensor(even.nodes[2].inputs[0]).type, DataType::Int16);
}

TEST(ImportUnsigned, WhatIsThereForInt8OnlyIsRefused) {
  constexpr int32_t kL2Normalization = 11;
  ModelSpec m = softmax_model();
  m.tensors[0].type = m.tensors[1].type = kUInt8;
  m.tensors[1].zero_point = {0};
  m.operators[0].code = kL2Normalization;
  m.operators[0].options = {};
  EXPECT_THAT(errors(m), testing::HasSubstr("(L2_NORMALIZATION v2): is not computed on u8, the "
                                            "quantisation of old converters; convert the model "
                                            "again with int8 quantisation\n"));
}

TEST(ImportUnsigned, BytesAtTheEdgesAloneStay) {
  ModelSpec m = quantize_model();
  m.tensors[0] = {"x", {4}, kUInt8, {0.5f}, {3}};
  EXPECT_EQ(kinds_of(imported(m)), std::vector{OpKind::Quantize});
  EXPECT_EQ(imported(m).tensors[0].type, DataType::UInt8);
}

TEST(ImportUnsigned, BytesAsWeightsOfFloatsAreRefused) {
  ModelSpec m = old_dense(std::vector<uint8_t>(18, 130), 128);
  m.tensors[0].type = m.tensors[3].type = kFloat32;
  EXPECT_THAT(errors(m), testing::HasSubstr("mixes f32 activations (tensor 0 'features') with u8 "
                                            "weights (tensor 1 'kernel')"));
}

}  // namespace
}  // namespace intarsia::test
