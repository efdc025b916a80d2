// float16 constants, and integer weights that meet float activations.
#include <cmath>
#include <limits>

#include "import_support.h"

namespace intarsia::test {
namespace {

using graph::OpKind;

std::vector<OpKind> kinds(const graph::Function& function) {
  std::vector<OpKind> result;
  for (const graph::Node& node : function.nodes) result.push_back(node.kind);
  return result;
}

std::vector<float> floats_of(const graph::Module& module, graph::TensorId id) {
  const SharedBytes& bytes = module.constant(module.entry_function().tensor(id).constant).bytes;
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// x -> fully connected, whose weights [1,n] are a DEQUANTIZE of these.
ModelSpec half_weights(const std::vector<uint16_t>& halves) {
  const auto count = static_cast<int32_t>(halves.size());
  ModelSpec m;
  m.add({"x", {1, count}, kFloat32, {}, {}});
  m.add({"kernel", {1, count}, kFloat16, {}, {}, bytes_of(halves)});
  m.add({"kernel_f32", {1, count}, kFloat32, {}, {}});
  m.add({"y", {1, 1}, kFloat32, {}, {}});
  const auto dense = options_of(&format::CreateFullyConnectedOptions, format::Activation::None,
                                int8_t{0}, false, false, int8_t{0});
  m.operators = {{kDequantize, {1}, {2}, {}, 3}, {kFullyConnected, {0, 2, -1}, {3}, dense, 4}};
  m.inputs = {0};
  m.outputs = {3};
  return m;
}

TEST(ImportFloats, Float16ConstantsAreWidened) {
  // 1, -2, largest, smallest normal, largest and smallest subnormal, -0, infinite, no number.
  const Result<graph::Module> module = import(
      half_weights({0x3c00, 0xc000, 0x7bff, 0x0400, 0x03ff, 0x8001, 0x8000, 0x7c00, 0x7e00}));
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  const graph::Function& main = module->entry_function();
  ASSERT_EQ(kinds(main), std::vector{OpKind::FullyConnected});
  const std::vector<float> values = floats_of(*module, main.nodes[0].inputs[1]);
  const std::vector<float> expected = {1,
                                       -2,
                                       65504,
                                       std::ldexp(1.0f, -14),
                                       std::ldexp(1023.0f, -24),
                                       -std::ldexp(1.0f, -24),
                                       -0.0f,
                                       std::numeric_limits<float>::infinity()};
  ASSERT_EQ(values.size(), 9u);
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(values[i], expected[i]) << i;
    EXPECT_EQ(std::signbit(values[i]), std::signbit(expected[i])) << i;
  }
  EXPECT_TRUE(std::isnan(values[8]));
}

TEST(ImportFloats, AFloat16ConstantMayBeTheResult) {
  ModelSpec m = half_weights({0x3c00, 0xc000});
  m.outputs = {3, 2};
  EXPECT_EQ(kinds(imported(m)), (std::vector{OpKind::Reshape, OpKind::FullyConnected}));
}

TEST(ImportFloats, Float16DataHaveTwoBytesEach) {
  ModelSpec m = half_weights({0x3c00, 0xc000});
  m.tensors[1].data.pop_back();
  EXPECT_EQ(
      errors(m),
      "some/m.tflite: tensor 1 'kernel', read by operator 0 'kernel_f32' (DEQUANTIZE v3): has "
      "3 bytes of data (buffer 1), but f16[1,2] needs 4\n");
}

// Networks that were converted with activations of 16 bits, and constants of 64 that numpy left in a model.
TEST(ImportFloats, FloatsOfOtherWidthsAreOf32Bits) {
  ModelSpec m = half_weights({0x3c00, 0xc000});
  m.tensors[1].data.clear();
  m.inputs = {0, 1};
  Diagnostics notes;
  const Result<graph::Module> module =
      import_model(build(m), {.file = "some/m.tflite", .notes = &notes});
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  const graph::Function& main = module->entry_function();
  EXPECT_EQ(kinds(main), (std::vector{OpKind::Reshape, OpKind::FullyConnected}));
  EXPECT_EQ(main.tensor(main.inputs[1]).type, DataType::Float32);
  EXPECT_THAT(notes.to_string(),
              testing::HasSubstr("tensor 1 'kernel': is computed as floats of 32 bits"));

  constexpr int8_t kFloat64 = 10, kBFloat16 = 18;
  ModelSpec wide = half_weights({0x3c00, 0xc000});
  wide.tensors[1].type = kFloat64;
  wide.tensors[1].data = bytes_of(std::vector<double>{0.1, -3});
  const Result<graph::Module> widened = import(wide);
  ASSERT_TRUE(widened.ok()) << widened.error().to_string();
  EXPECT_EQ(floats_of(*widened, widened->entry_function().nodes[0].inputs[1]),
            (std::vector<float>{0.1f, -3}));
  wide.tensors[1].data.pop_back();
  EXPECT_THAT(errors(wide),
              testing::HasSubstr("15 bytes of data (buffer 1), but f64[1,2] needs 16"));

  ModelSpec brief = half_weights({0x3fc0, 0xc000});
  brief.tensors[1].type = kBFloat16;
  const Result<graph::Module> read = import(brief);
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  EXPECT_EQ(floats_of(*read, read->entry_function().nodes[0].inputs[1]),
            (std::vector<float>{1.5f, -2}));
}

// Weights that training rounds: QUANTIZE of a constant with a scale for each row, and back to floats.
TEST(ImportFloats, ConstantsAreQuantisedByChannelsWhenTheModelIsRead) {
  for (const bool is_signed : {true, false}) {
    ModelSpec m;
    m.add({"x", {1, 3}, kFloat32, {}, {}});
    m.add({"kernel",
           {2, 3},
           kFloat32,
           {},
           {},
           bytes_of(std::vector<float>{0.6f, -0.74f, 0.75f, 3, -500, 500})});
    const std::vector<int64_t> zero_point =
        is_signed ? std::vector<int64_t>{0, 1} : std::vector<int64_t>{128, 129};
    m.add({"rounded", {2, 3}, is_signed ? kInt8 : kUInt8, {0.5f, 2}, zero_point});
    m.add({"kernel_f32", {2, 3}, kFloat32, {}, {}});
    m.add({"y", {1, 2}, kFloat32, {}, {}});
    const auto dense = options_of(&format::CreateFullyConnectedOptions, format::Activation::None,
                                  int8_t{0}, false, false, int8_t{0});
    m.operators = {{kQuantize, {1}, {2}, {}, 3},
                   {kDequantize, {2}, {3}, {}, 3},
                   {kFullyConnected, {0, 3, -1}, {4}, dense, 4}};
    m.inputs = {0};
    m.outputs = {4};
    const Result<graph::Module> module = import(m);
    ASSERT_TRUE(module.ok()) << module.error().to_string();
    const graph::Function& main = module->entry_function();
    ASSERT_EQ(kinds(main), std::vector{OpKind::FullyConnected});
    // 3 / 2 + 1 is rounded half away from zero; what is beyond a byte is its end.
    EXPECT_EQ(floats_of(*module, main.nodes[0].inputs[1]),
              (std::vector<float>{0.5f, -0.5f, 1, 4, -258, 252}));
    m.inputs = {0, 1};
    m.tensors[1].data.clear();
    EXPECT_THAT(errors(m), testing::HasSubstr("takes per channel scales on weights only"));
  }
}

// Eight elements in two rows of int4, 1 to 4 and -4 to -1; scales of tensor 4, for two of a row at a time.
ModelSpec weights_in_blocks() {
  ModelSpec m;
  m.add({"x", {1, 4}, kFloat32, {}, {}});
  m.add({"kernel", {2, 4}, kInt4, {}, {}, {0x21, 0x43, 0xdc, 0xfe}});
  m.add({"bias", {2}, kFloat32, {}, {}, bytes_of(std::vector<float>{1, 2})});
  m.add({"y", {1, 2}, kFloat32, {}, {}});
  // 1, 0.5, 2, -0.25.
  m.add({"scales",
         {2, 2},
         kFloat16,
         {},
         {},
         bytes_of(std::vector<uint16_t>{0x3c00, 0x3800, 0x4000, 0xb400})});
  m.tensors[1].quantization_details = 2;
  m.tensors[1].blocks = {.scales = 4, .zero_points = -1, .size = 2};
  const auto dense = options_of(&format::CreateFullyConnectedOptions, format::Activation::None,
                                int8_t{0}, false, false, int8_t{0});
  m.operators = {{kFullyConnected, {0, 1, 2}, {3}, dense, 4}};
  m.inputs = {0};
  m.outputs = {3};
  return m;
}

std::vector<float> weights_of(const ModelSpec& m) {
  const Result<graph::Module> module = import(m);
  EXPECT_TRUE(module.ok()) << module.error().to_string();
  if (!module.ok()) return {};
  const graph::Function& main = module->entry_function();
  EXPECT_EQ(kinds(main), std::vector{OpKind::FullyConnected});
  return floats_of(*module, main.nodes[0].inputs[1]);
}

TEST(ImportFloats, WeightsWithScalesByBlocksAreWidened) {
  ModelSpec m = weights_in_blocks();
  EXPECT_EQ(weights_of(m), (std::vector<float>{1, 2, 1.5f, 2, -8, -6, 0.5f, 0.25f}));
  // Zero points, which integers of any size may be.
  m.add({"zeros", {2, 2}, kInt8, {}, {}, {1, 0, 0xff, 0}});
  m.tensors[1].blocks->zero_points = 5;
  EXPECT_EQ(weights_of(m), (std::vector<float>{0, 1, 1.5f, 2, -6, -4, 0.5f, 0.25f}));
  // Bytes, and blocks that go down the columns.
  m = weights_in_blocks();
  m.tensors[1].type = kInt8;
  m.tensors[1].data = {1, 2, 3, 4, 0xfc, 0xfd, 0xfe, 0xff};
  m.tensors[4].shape = {1, 4};
  EXPECT_EQ(weights_of(m), (std::vector<float>{1, 1, 6, -1, -4, -1.5f, -4, 0.25f}));
}

TEST(ImportFloats, BlocksThatDoNotFitAreRefused) {
  const auto refusal = [](const auto& change) {
    ModelSpec m = weights_in_blocks();
    change(m);
    return errors(m);
  };
  const std::string weights =
      "some/m.tflite: tensor 1 'kernel', read by operator 0 'y' (FULLY_CONNECTED v4): ";
  EXPECT_EQ(refusal([](ModelSpec& m) { m.tensors[1].blocks->size = 3; }),
            weights + "has scales [2,2] for blocks of 3 elements of [2,4]\n");
  EXPECT_EQ(refusal([](ModelSpec& m) { m.tensors[1].blocks->size = 0; }),
            weights + "has scales [2,2] for blocks of 0 elements of [2,4]\n");
  EXPECT_EQ(refusal([](ModelSpec& m) {
              m.tensors[4].shape = {1, 2, 2};
            }),
            weights + "has scales [1,2,2] for blocks of 2 elements of [2,4]\n");
  EXPECT_EQ(refusal([](ModelSpec& m) { m.tensors[1].blocks->scales = 9; }),
            weights + "has scales by blocks in tensor 9, but the subgraph has 5 tensors\n");
  EXPECT_EQ(refusal([](ModelSpec& m) { m.tensors[4].data[1] = 0x7c; }),
            weights + "has the scale inf of block 0, which is not finite\n");
  EXPECT_EQ(refusal([](ModelSpec& m) { m.tensors[4].data.pop_back(); }),
            weights +
                "has scales by blocks in tensor 4 'scales', which has 7 bytes of data (buffer "
                "3), but f16[2,2] needs 8\n");
  EXPECT_EQ(refusal([](ModelSpec& m) {
              m.add({"zeros", {1, 2}, kInt8, {}, {}, {1, 0}});
              m.tensors[1].blocks->zero_points = 5;
            }),
            weights + "has zero points [1,2] for blocks of 2 elements of [2,4]\n");
  EXPECT_EQ(refusal([](ModelSpec& m) { m.tensors[1].blocks->zero_points = 0; }),
            weights + "has zero points by blocks in tensor 0 'x', which is no constant\n");
  EXPECT_EQ(refusal([](ModelSpec& m) {
              m.tensors[1].type = kInt16;
              m.tensors[1].data.resize(16);
            }),
            weights + "has scales by blocks and elements of i16; int4 and int8 may have them\n");
  EXPECT_EQ(refusal([](ModelSpec& m) {
              m.tensors[1].type = kUInt8;
              m.tensors[1].data.resize(8);
            }),
            weights + "has scales by blocks and elements of u8; int4 and int8 may have them\n");
}

// Two layers on one float input, with integer weights.
ModelSpec hybrid_model(bool second_is_asymmetric) {
  ModelSpec m = fully_connected_model();
  const std::vector<float> bias = {0.5f, -1, 2};
  m.tensors[0].type = m.tensors[3].type = kFloat32;
  m.tensors[2] = {"bias", {3}, kFloat32, {}, {}, bytes_of(bias)};
  m.tensors[1].scale = {0.25f, 0.5f, 2};
  m.tensors[1].zero_point = {0, 0, 0};
  m.add({"second", {2, 3}, kFloat32, {}, {}});
  OperatorSpec second = m.operators[0];
  second.outputs = {4};
  second.options = options_of(&format::CreateFullyConnectedOptions, format::Activation::None,
                              int8_t{0}, false, second_is_asymmetric, int8_t{0});
  m.operators.push_back(second);
  m.outputs = {3, 4};
  return m;
}

TEST(ImportFloats, WeightsOfTwoBitsAreThoseOfFour) {
  ModelSpec m = hybrid_model(false);
  const auto elements = static_cast<size_t>(m.tensors[1].shape[0] * m.tensors[1].shape[1]);
  m.tensors[1].type = kInt2;
  m.tensors[1].data.assign((elements + 3) / 4, 0b11'10'01'00);  // 0, 1, -2, -1, and again
  const Result<graph::Module> module = import(m);
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  const graph::Function& main = module->entry_function();
  const graph::Tensor& weights = main.tensor(main.nodes[1].inputs[1]);
  EXPECT_EQ(weights.type, DataType::Int4);
  EXPECT_EQ(weights.quantization.scale, (std::vector<float>{0.25f, 0.5f, 2}));
  const SharedBytes& bytes = module->constant(weights.constant).bytes;
  ASSERT_EQ(bytes.size(), (elements + 1) / 2);
  for (size_t i = 0; i < bytes.size(); ++i) {
    const int nibbles = i % 2 == 0 ? 0x10 : 0xfe;
    EXPECT_EQ(bytes[i], 2 * i + 1 < elements ? nibbles : nibbles & 15) << i;
  }
  m.tensors[1].data.pop_back();
  EXPECT_THAT(errors(m), testing::HasSubstr("but i2["));
  m.tensors[0].type = kInt2;
  EXPECT_THAT(errors(m), testing::HasSubstr("INT2, which only constants may have"));
}

TEST(ImportFloats, FloatInputsOfIntegerWeightsAreQuantisedByRows) {
  const graph::Function main = imported(hybrid_model(false));
  ASSERT_EQ(kinds(main), (std::vector{OpKind::QuantizeRows, OpKind::HybridFullyConnected,
                                      OpKind::HybridFullyConnected}));
  EXPECT_EQ(main.nodes[0].attrs<graph::QuantizeRowsAttrs>(), (graph::QuantizeRowsAttrs{2, false}));
  // One kind of quantisation, one time.
  EXPECT_EQ(main.nodes[1].inputs[0], main.nodes[2].inputs[0]);
  EXPECT_EQ(kinds(imported(hybrid_model(true))),
            (std::vector{OpKind::QuantizeRows, OpKind::HybridFullyConnected, OpKind::QuantizeRows,
                         OpKind::HybridFullyConnected}));
}

TEST(ImportFloats, IntegerWeightsAreWidenedWhenAsked) {
  const Result<graph::Module> module =
      import_model(build(hybrid_model(true)), {.file = "m.tflite", .widen_weights = true});
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  const graph::Function& main = module->entry_function();
  ASSERT_EQ(kinds(main), (std::vector{OpKind::FullyConnected, OpKind::FullyConnected}));
  EXPECT_EQ(main.nodes[0].inputs[1], main.nodes[1].inputs[1]);
  const std::vector<float> weights = floats_of(*module, main.nodes[0].inputs[1]);
  ASSERT_EQ(weights.size(), 18u);  // 1, 2 ... with a scale for each row of six
  EXPECT_EQ(weights[5], 6 * 0.25f);
  EXPECT_EQ(weights[6], 7 * 0.5f);
  EXPECT_EQ(weights[17], 18 * 2.0f);
}

TEST(ImportFloats, WhatIsNotQuantisedAtRunTimeNamesTheOption) {
  ModelSpec m;
  m.add({"x", {2, 3, 4}, kFloat32, {}, {}});
  m.add({"matrices", {2, 4, 5}, kInt8, {0.5f, 0.25f}, {0, 0}, std::vector<uint8_t>(40, 1)});
  m.add({"y", {2, 3, 5}, kFloat32, {}, {}});
  m.operators = {{kBatchMatmul, {0, 1}, {2}}};
  m.inputs = {0};
  m.outputs = {2};
  EXPECT_EQ(errors(m),
            "some/m.tflite: operator 0 'y' (BATCH_MATMUL v1): mixes f32 activations (tensor 0 'x') "
            "with i8 weights (tensor 1 'matrices'); give --widen-weights to make floats of them, "
            "or convert the model with full integer quantisation\n");
  const auto widened = import_model(build(m), {.file = "m.tflite", .widen_weights = true});
  ASSERT_TRUE(widened.ok()) << widened.error().to_string();
  EXPECT_EQ(kinds(widened->entry_function()), std::vector{OpKind::BatchMatmul});
}

// Matrices of one scale are the whole numbers that they are, in floats, and rows of the input too.
TEST(ImportFloats, SeveralMatricesOfOneScale) {
  ModelSpec m;
  m.add({"x", {2, 3, 4}, kFloat32, {}, {}});
  m.add({"matrices", {2, 4, 5}, kInt8, {0.5f}, {0}, std::vector<uint8_t>(40, 1)});
  m.add({"y", {2, 3, 5}, kFloat32, {}, {}});
  m.operators = {{kBatchMatmul, {0, 1}, {2}}};
  m.inputs = {0};
  m.outputs = {2};
  const auto made = import_model(build(m), {.file = "m.tflite"});
  ASSERT_TRUE(made.ok()) << made.error().to_string();
  EXPECT_EQ(kinds(made->entry_function()),
            (std::vector{OpKind::QuantizeRows, OpKind::Cast, OpKind::BatchMatmul, OpKind::Reshape,
                         OpKind::Mul, OpKind::Mul}));
  // What has no rows is no matrix.
  for (const std::vector<int32_t>& shape : {std::vector<int32_t>{}, {4}}) {
    ModelSpec broken = m;
    broken.tensors[0].shape = shape;
    EXPECT_NE(errors(broken), "");
  }
}

// Valid, strides of 1 or 2: 18 weights of two filters.
ModelSpec hybrid_transposed(int32_t out, int32_t stride) {
  ModelSpec m;
  m.add({"shape", {4}, kInt32, {}, {}, bytes_of(std::vector<int32_t>{1, out, out, 2})});
  m.add({"kernel", {2, 3, 3, 1}, kInt8, {0.5f}, {0}, std::vector<uint8_t>(18, 1)});
  m.add({"x", {1, 2, 2, 1}, kFloat32, {}, {}});
  m.add({"y", {1, out, out, 2}, kFloat32, {}, {}});
  m.operators = {{kTransposeConv,
                  {0, 1, 2},
                  {3},
                  options_of(&format::CreateTransposeConvOptions, format::Padding::Valid, stride,
                             stride, format::Activation::None, int8_t{0})}};
  m.inputs = {2};
  m.outputs = {3};
  return m;
}

TEST(ImportFloats, TransposedConvolutionsOnIntegerWeightsAreConvolutionsOfSpreadInputs) {
  EXPECT_EQ(kinds(imported(hybrid_transposed(4, 1))),
            (std::vector{OpKind::QuantizeRows, OpKind::HybridConv2d}));
  EXPECT_EQ(kinds(imported(hybrid_transposed(5, 2))),
            (std::vector{OpKind::Reshape, OpKind::Pad, OpKind::Reshape, OpKind::QuantizeRows,
                         OpKind::HybridConv2d}));
  EXPECT_THAT(errors(hybrid_transposed(1, 1)),
              testing::HasSubstr("makes less than its input reaches, on integer weights; give "
                                 "--widen-weights to make floats of them\n"));
}

}  // namespace
}  // namespace intarsia::test
