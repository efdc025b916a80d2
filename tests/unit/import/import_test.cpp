// What valid models become.
#include "import_support.h"

namespace intarsia::test {
namespace {

using graph::Activation;
using graph::OpKind;
using graph::Padding2d;

// The one node of a single-operator model.
graph::Node only_node(const ModelSpec& model) {
  const graph::Function function = imported(model);
  EXPECT_EQ(function.nodes.size(), 1u);
  return function.nodes.empty() ? graph::Node() : function.nodes.front();
}

TEST(ImportTflite, Conv2d) {
  const graph::Function function = imported(conv2d_model());
  ASSERT_EQ(function.nodes.size(), 1u);
  const graph::Node& node = function.nodes[0];
  EXPECT_EQ(node.kind, OpKind::Conv2d);
  EXPECT_EQ(node.name, "conv");
  const auto& attrs = node.attrs<graph::Conv2dAttrs>();
  EXPECT_EQ(attrs.stride_h, 2);
  EXPECT_EQ(attrs.padding, (Padding2d{1, 1, 1, 1}));
  EXPECT_EQ(attrs.activation, Activation::Relu);
  ASSERT_EQ(node.inputs.size(), 3u);
  const graph::Tensor& weights = function.tensor(node.inputs[1]);
  EXPECT_EQ(weights.quantization.scale, (std::vector<float>{0.1f, 0.2f, 0.3f, 0.4f}));
  EXPECT_EQ(weights.quantization.axis, 0);
  EXPECT_TRUE(weights.constant.valid());
  EXPECT_EQ(function.tensor(node.outputs[0]).quantization.zero_point, std::vector<int64_t>{3});
}

// Converters have written the axis of the weights into the bias, which has no such axis.
TEST(ImportTflite, ABiasHasScalesAlongItsOnlyAxis) {
  ModelSpec model = depthwise_conv2d_model();
  const std::vector<float> scales = {0.05f, 0.1f, 0.15f,
                                     0.2f};  // of the input times those of the kernel
  model.operators[0].inputs[2] = static_cast<int32_t>(model.tensors.size());
  model.add(
      {"bias", {4}, kInt32, scales, {0, 0, 0, 0}, bytes_of(std::vector<int32_t>{1, 2, 3, 4}), 3});
  const graph::Function function = imported(model);
  ASSERT_EQ(function.nodes.size(), 1u);
  EXPECT_EQ(function.tensor(function.nodes[0].inputs.at(2)).quantization.axis, 0);
}

TEST(ImportTflite, SamePaddingPutsTheOddElementAtTheEnd) {
  ModelSpec model = conv2d_model();
  model.tensors[0].shape = {1, 6, 5, 2};  // three windows of 3 with stride 2 reach 7
  const auto attrs = only_node(model).attrs<graph::Conv2dAttrs>();
  EXPECT_EQ(attrs.padding, (Padding2d{0, 1, 1, 1}));
}

TEST(ImportTflite, DilationWidensTheWindow) {
  ModelSpec model = conv2d_model();
  model.operators[0].options = options_of(&format::CreateConv2dOptions, format::Padding::Same, 1, 1,
                                          format::Activation::None, 2, 1, int8_t{0});
  model.tensors[3].shape = {1, 5, 5, 4};
  const auto attrs = only_node(model).attrs<graph::Conv2dAttrs>();
  EXPECT_EQ(attrs.dilation_w, 2);
  EXPECT_EQ(attrs.dilation_h, 1);
  EXPECT_EQ(attrs.padding, (Padding2d{1, 2, 1, 2}));
}

TEST(ImportTflite, DepthwiseConv2dTakesItsMultiplierFromTheShapes) {
  ModelSpec model = depthwise_conv2d_model();
  EXPECT_EQ(only_node(model).attrs<graph::DepthwiseConv2dAttrs>().multiplier, 2);
  model.operators[0].options =
      options_of(&format::CreateDepthwiseConv2dOptions, format::Padding::Valid, 1, 1, 0,
                 format::Activation::Relu6, 1, 1);
  const auto attrs = only_node(model).attrs<graph::DepthwiseConv2dAttrs>();
  EXPECT_EQ(attrs.multiplier, 2);
  EXPECT_EQ(attrs.activation, Activation::Relu6);
  EXPECT_EQ(attrs.padding, Padding2d{});
}

TEST(ImportTflite, AbsentBiasStaysAbsent) {
  const graph::Node node = only_node(depthwise_conv2d_model());
  ASSERT_EQ(node.inputs.size(), 3u);
  EXPECT_FALSE(node.inputs[2].valid());
}

TEST(ImportTflite, FullyConnected) {
  const graph::Node node = only_node(fully_connected_model());
  EXPECT_EQ(node.kind, OpKind::FullyConnected);
  EXPECT_EQ(node.name, "dense");
  EXPECT_FALSE(node.attrs<graph::FullyConnectedAttrs>().keep_dims);
}

TEST(ImportTflite, Pooling) {
  ModelSpec model = average_pool2d_model();
  const auto attrs = only_node(model).attrs<graph::Pool2dAttrs>();
  EXPECT_EQ(attrs.filter_h, 2);
  EXPECT_EQ(attrs.stride_w, 2);
  model.operators[0].code = kMaxPool2d;
  EXPECT_EQ(only_node(model).kind, OpKind::MaxPool2d);
}

TEST(ImportTflite, Elementwise) {
  ModelSpec model = add_model();
  EXPECT_EQ(only_node(model).kind, OpKind::Add);
  model.operators[0].code = kMul;
  model.operators[0].options = options_of(&format::CreateMulOptions, format::Activation::ReluN1To1);
  const graph::Node mul = only_node(model);
  EXPECT_EQ(mul.kind, OpKind::Mul);
  EXPECT_EQ(mul.attrs<graph::BinaryAttrs>().activation, Activation::ReluN1To1);
}

TEST(ImportTflite, ReluFamily) {
  for (const auto& [code, activation] :
       {std::pair(kRelu, Activation::Relu), std::pair(kRelu6, Activation::Relu6),
        std::pair(kReluN1To1, Activation::ReluN1To1)}) {
    ModelSpec model = quantize_model();
    model.tensors[0] = {"x", {4}, kInt8, {0.5f}, {1}};
    model.operators[0].code = code;
    EXPECT_EQ(only_node(model).attrs<graph::ReluAttrs>().activation, activation);
  }
}

TEST(ImportTflite, OperandsThatBecameAttributesVanish) {
  for (const ModelSpec& model : {reshape_model(), pad_model(), mean_model()}) {
    const auto module = import(model);
    ASSERT_TRUE(module.ok()) << module.error().to_string();
    EXPECT_EQ(module->entry_function().nodes[0].inputs.size(), 1u);
    EXPECT_EQ(module->entry_function().tensors.size(), 2u);
    EXPECT_TRUE(module->constants.empty());
  }
  EXPECT_EQ(only_node(reshape_model()).attrs<graph::ReshapeAttrs>().shape, (Shape{1, 6}));
  const auto pad = only_node(pad_model()).attrs<graph::PadAttrs>();
  EXPECT_EQ(pad.before, (std::vector<int64_t>{0, 1, 1, 0}));
  EXPECT_EQ(pad.after, (std::vector<int64_t>{0, 1, 1, 0}));
  EXPECT_EQ(only_node(mean_model()).attrs<graph::ReduceAttrs>().axes, (std::vector<int64_t>{1, 2}));
}

// A shape of no extents, as converters write it for a number.
TEST(ImportTflite, ReshapeToANumber) {
  ModelSpec model = reshape_model();
  model.tensors[0].shape = {1, 1, 1};
  model.tensors[1].shape = {0}, model.tensors[1].data = {};
  model.tensors[2].shape = {};
  EXPECT_EQ(only_node(model).attrs<graph::ReshapeAttrs>().shape, Shape{});
  model.tensors[0].shape = {1, 2, 1};
  EXPECT_THAT(errors(model), testing::HasSubstr("another number of elements"));
}

TEST(ImportTflite, ReshapeByAttributeAndByInt64) {
  ModelSpec model = reshape_model();
  model.operators[0].inputs = {0};
  EXPECT_EQ(only_node(model).attrs<graph::ReshapeAttrs>().shape, (Shape{1, 6}));
  model.operators[0].options = [](flatbuffers::FlatBufferBuilder& b) {
    const auto shape = b.CreateVector(std::vector<int32_t>{1, -1});
    return std::pair(format::Options::ReshapeOptions,
                     format::CreateReshapeOptions(b, shape).Union());
  };
  EXPECT_EQ(only_node(model).attrs<graph::ReshapeAttrs>().shape, (Shape{1, 6}));
  model = pad_model();
  model.tensors[1].type = kInt64;
  model.tensors[1].data = bytes_of(std::vector<int64_t>{0, 0, 1, 1, 1, 1, 0, 0});
  EXPECT_EQ(only_node(model).attrs<graph::PadAttrs>().after, (std::vector<int64_t>{0, 1, 1, 0}));
}

TEST(ImportTflite, QuantizeAcceptsOldUint8AtTheEdge) {
  ModelSpec model = quantize_model();
  EXPECT_EQ(only_node(model).kind, OpKind::Quantize);
  model.tensors[0] = {"pixels", {4}, kUInt8, {0.5f}, {131}};
  EXPECT_EQ(only_node(model).kind, OpKind::Quantize);
}

TEST(ImportTflite, ChainKeepsOrderNamesAndDeadOperators) {
  const auto module = import(chain_model());
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  EXPECT_EQ(module->name, "m");
  EXPECT_EQ(module->entry, "main");
  std::vector<std::string> names;
  for (const graph::Node& node : module->entry_function().nodes) names.push_back(node.name);
  EXPECT_EQ(names, (std::vector<std::string>{"conv", "flatten", "dense", "softmax", "dense_2"}));
  // Two operators read one weight tensor; the shape operand is gone: 10 tensors less one.
  EXPECT_EQ(module->entry_function().tensors.size(), 9u);
  EXPECT_EQ(module->constants.size(), 3u);
  EXPECT_EQ(module->entry_function().tensors[0].name, "image");
}

TEST(ImportTflite, TensorsThatNothingUsesMayBeBroken) {
  ModelSpec model = softmax_model();
  model.add({"junk", {0, -3}, 99, {-1.0f}, {}});
  EXPECT_EQ(imported(model).tensors.size(), 2u);
}

TEST(ImportTflite, VariablesAreFlagged) {
  ModelSpec model = add_model();
  model.tensors[1].variable = true;
  model.inputs = {0};
  const graph::Function function = imported(model);
  ASSERT_EQ(function.tensors.size(), 3u);
  EXPECT_FALSE(function.tensors[0].variable);
  EXPECT_TRUE(function.tensors[1].variable);
}

TEST(ImportTflite, DataOutsideTheFlatbuffer) {
  ModelSpec model = fully_connected_model();
  const std::vector<uint8_t> weights = model.tensors[1].data;
  model.tensors[1].data.clear();
  model.tensors[1].offset = 2;
  model.tensors[1].size = weights.size();
  model.tensors[1].offset = build(model).size();  // a scalar: the size does not depend on it
  std::vector<uint8_t> bytes = build(model);
  bytes.insert(bytes.end(), weights.begin(), weights.end());
  const auto module = import_model(bytes, {"m.tflite"});
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  EXPECT_EQ(module->constants[0].bytes, weights);

  bytes.pop_back();
  const auto cut = import_model(bytes, {"m.tflite"});
  ASSERT_FALSE(cut.ok());
  EXPECT_EQ(cut.error().to_string(),
            "m.tflite: tensor 1 'kernel', read by operator 0 'dense' (FULLY_CONNECTED v4): has its "
            "data (buffer 1) outside the file; the file may be truncated\n");
}

TEST(ImportTflite, BytesNeedNoAlignment) {
  const std::vector<uint8_t> bytes = build(chain_model());
  std::vector<uint8_t> shifted(bytes.size() + 1);
  std::copy(bytes.begin(), bytes.end(), shifted.begin() + 1);
  const auto module = import_model(std::span(shifted).subspan(1), {"m.tflite"});
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  EXPECT_EQ(*module, *import_model(bytes, {"m.tflite"}));
}

TEST(ImportTflite, FurtherSubgraphsThatNothingRunsAreLeftOut) {
  ModelSpec model = softmax_model();
  model.more_subgraphs = {"other_signature"};
  const auto module = import(model);
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  EXPECT_EQ(module->functions.size(), 1u);
}

TEST(ImportText, IsRecognisedByItsFirstWord) {
  const auto module = import(chain_model());
  ASSERT_TRUE(module.ok());
  const std::string text = "// made by hand\n\n" + graph::print(*module);
  const auto again =
      import_model({reinterpret_cast<const uint8_t*>(text.data()), text.size()}, {"m.graph"});
  ASSERT_TRUE(again.ok()) << again.error().to_string();
  EXPECT_EQ(*again, *module);
}

}  // namespace
}  // namespace intarsia::test
