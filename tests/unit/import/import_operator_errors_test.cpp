// Refusals of operators, as the user reads them.
#include "refusal.h"

namespace intarsia::test {
namespace {

OptionsMaker conv_options(int32_t stride, int32_t dilation, int activation = 0, int padding = 0,
                          int8_t bias_type = 0) {
  return options_of(&format::CreateConv2dOptions, static_cast<format::Padding>(padding), stride,
                    stride, static_cast<format::Activation>(activation), dilation, dilation,
                    bias_type);
}

TensorSpec real_weights() {
  return {"kernel", {3, 6}, kFloat32, {}, {}, bytes_of(std::vector<float>(18, 0.5f))};
}

class RefusedOperator : public testing::TestWithParam<Refusal> {};

TEST_P(RefusedOperator, SaysWhereAndWhat) {
  expect_refused(GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Operators, RefusedOperator,
    testing::ValuesIn(std::vector<Refusal>{
        {"InputCount", conv2d_model, [](ModelSpec& m) { m.operators[0].inputs = {0}; },
         std::string(kConv) + "has 1 inputs, but takes 2 to 3"},
        {"OutputCount", softmax_model,
         [](ModelSpec& m) {
           m.operators[0].outputs = {1, 1};
         },
         "some/m.tflite: operator 0 'softmax' (SOFTMAX v2): writes tensor 1 'Identity', which "
         "operator 0 'softmax' (SOFTMAX v2) has written already\n"
         "some/m.tflite: operator 0 'softmax' (SOFTMAX v2): has 2 outputs, but makes 1"},
        {"AbsentInput", conv2d_model, [](ModelSpec& m) { m.operators[0].inputs[1] = -1; },
         std::string(kConv) + "lacks its input 1"},
        {"NoOptions", conv2d_model, [](ModelSpec& m) { m.operators[0].options = {}; },
         std::string(kConv) + "has no options; the file is incomplete"},
        {"OtherOptions", conv2d_model,
         [](ModelSpec& m) {
           m.operators[0].options = options_of(&format::CreateSoftmaxOptions, 1.0f);
         },
         std::string(kConv) + "carries the options of another operator (SoftmaxOptions)"},
        {"Stride", conv2d_model, [](ModelSpec& m) { m.operators[0].options = conv_options(0, 1); },
         std::string(kConv) + "has stride_h 0; 1 to 65535 is possible\n" + kConv +
             "has stride_w 0; 1 to 65535 is possible"},
        {"Dilation", conv2d_model,
         [](ModelSpec& m) { m.operators[0].options = conv_options(2, 1 << 20); },
         std::string(kConv) + "has dilation_h 1048576; 1 to 65535 is possible\n" + kConv +
             "has dilation_w 1048576; 1 to 65535 is possible"},
        {"Padding", conv2d_model,
         [](ModelSpec& m) { m.operators[0].options = conv_options(2, 1, 0, 2); },
         std::string(kConv) + "has padding 2, which is neither SAME nor VALID"},
        {"FusedTanh", conv2d_model,
         [](ModelSpec& m) { m.operators[0].options = conv_options(2, 1, 4); },
         std::string(kConv) +
             "has the fused activation Tanh; only Relu, ReluN1To1 and Relu6 can be fused; make the "
             "activation an operator of its own"},
        {"FusedUnknown", conv2d_model,
         [](ModelSpec& m) { m.operators[0].options = conv_options(2, 1, 9); },
         std::string(kConv) +
             "has the fused activation 9; only Relu, ReluN1To1 and Relu6 can be fused; make the "
             "activation an operator of its own"},
        {"BiasType", conv2d_model,
         [](ModelSpec& m) { m.operators[0].options = conv_options(2, 1, 0, 0, kInt64); },
         std::string(kConv) + "states a bias type (4) other than that of tensor 2 'net/conv/bias' "
                              "(i32)"},
        {"InputRank", conv2d_model,
         [](ModelSpec& m) {
           m.tensors[0].shape = {5, 5, 2};
         },
         std::string(kConv) + "needs rank 4 for its input, but tensor 0 'image' has shape [5,5,2]"},
        {"WeightsZeroPoint", conv2d_model, [](ModelSpec& m) { m.tensors[1].zero_point[1] = 5; },
         std::string(kConv) +
             "needs weights with zero point 0, but tensor 1 'net/conv/kernel' has others"},
        {"WeightsAxis", conv2d_model,
         [](ModelSpec& m) {
           m.tensors[1].axis = 3;
           m.tensors[1].scale = {1, 2};
           m.tensors[1].zero_point = {0, 0};
         },
         std::string(kConv) + "needs per channel scales along axis 0, but tensor 1 "
                              "'net/conv/kernel' has them along axis 3"},
        {"RealWeights", fully_connected_model, [](ModelSpec& m) { m.tensors[1] = real_weights(); },
         "some/m.tflite: operator 0 'dense' (FULLY_CONNECTED v4): mixes i8 activations (tensor 0 "
         "'features') with f32 weights (tensor 1 'kernel'); convert the model with full integer "
         "quantisation, or without any"},
        {"WeightsThatVary", fully_connected_model,
         [](ModelSpec& m) {
           m.tensors[0].type = m.tensors[3].type = kFloat32;
           m.tensors[1].data.clear();
           m.inputs = {0, 1};
         },
         "some/m.tflite: operator 0 'dense' (FULLY_CONNECTED v4): mixes f32 activations (tensor 0 "
         "'features') with i8 weights (tensor 1 'kernel'); convert the model with full integer "
         "quantisation, or without any"},
        {"PerChannelActivation", softmax_model,
         [](ModelSpec& m) {
           m.tensors[0].scale.assign(10, 1.0f);
           m.tensors[0].zero_point.assign(10, 0);
           m.tensors[0].axis = 1;
         },
         "some/m.tflite: operator 0 'softmax' (SOFTMAX v2): takes per channel scales on weights "
         "only, but tensor 0 'logits' has 10"},
        {"Shuffled", fully_connected_model,
         [](ModelSpec& m) {
           m.operators[0].options =
               options_of(&format::CreateFullyConnectedOptions, format::Activation::None, int8_t{1},
                          false, false, int8_t{0});
         },
         "some/m.tflite: operator 0 'dense' (FULLY_CONNECTED v4): has shuffled weights, a layout "
         "for phones; convert the model without it"},
        {"Multiplier", depthwise_conv2d_model,
         [](ModelSpec& m) {
           m.operators[0].options =
               options_of(&format::CreateDepthwiseConv2dOptions, format::Padding::Valid, 1, 1, 3,
                          format::Activation::None, 1, 1);
         },
         "some/m.tflite: operator 0 'depthwise' (DEPTHWISE_CONV_2D v3): states a depth multiplier "
         "of 3, but its weights have 4 filters for 2 channels"},
        {"Filters", depthwise_conv2d_model,
         [](ModelSpec& m) {
           m.tensors[0].shape = {1, 5, 5, 3};
         },
         "some/m.tflite: operator 0 'depthwise' (DEPTHWISE_CONV_2D v3): has 4 filters for 3 "
         "channels; a multiple is needed"},
        {"Beta", softmax_model,
         [](ModelSpec& m) {
           m.operators[0].options = options_of(&format::CreateSoftmaxOptions, 0.0f);
         },
         "some/m.tflite: operator 0 'softmax' (SOFTMAX v2): has beta 0, which must be positive"},
        {"ReshapeShape", reshape_model,
         [](ModelSpec& m) {
           m.tensors[1].data = bytes_of(std::vector<int32_t>{2, -1});
         },
         "some/m.tflite: operator 0 'flatten' (RESHAPE v1): reshapes to [2,-1], but its output has "
         "shape [1,6]"},
        {"ReshapeCount", reshape_model,
         [](ModelSpec& m) {
           m.tensors[0].shape = {1, 2, 4};
         },
         "some/m.tflite: operator 0 'flatten' (RESHAPE v1): reshapes [1,2,4] to [1,6], which has "
         "another number of elements"},
        {"ReshapeAtRunTime", reshape_model,
         [](ModelSpec& m) {
           m.tensors[1].data.clear();
           m.inputs.push_back(1);
         },
         "some/m.tflite: operator 0 'flatten' (RESHAPE v1): needs its new shape to be constant, "
         "but "
         "tensor 1 'shape' is computed when the model runs; convert the model with fixed shapes"},
        {"PadAmounts", pad_model,
         [](ModelSpec& m) {
           m.tensors[1].data = bytes_of(std::vector<int32_t>{0, 0, 1, -1, 1, 1, 0, 0});
         },
         "some/m.tflite: operator 0 'padded' (PAD v2): pads by [0,0,1,-1,1,1,0,0]; amounts must be "
         "0 or more and fit memory"},
        {"PadPairs", pad_model,
         [](ModelSpec& m) {
           m.tensors[1].shape = {2, 4};
         },
         "some/m.tflite: operator 0 'padded' (PAD v2): needs one pair of amounts per axis, [4,2], "
         "but tensor 1 'amounts' has shape [2,4]"},
        {"PadType", pad_model,
         [](ModelSpec& m) {
           m.tensors[1].type = kInt16;
           m.tensors[1].data = bytes_of(std::vector<int16_t>{0, 0, 1, 1, 1, 1, 0, 0});
         },
         "some/m.tflite: operator 0 'padded' (PAD v2): has its padding of type i16 (tensor 1 "
         "'amounts'); i32 or i64 is needed"},
        {"MeanAxis", mean_model,
         [](ModelSpec& m) {
           m.tensors[1].data = bytes_of(std::vector<int32_t>{1, 4});
         },
         "some/m.tflite: operator 0 'average' (MEAN v2): reduces axis 4 of a tensor of rank 4; -4 "
         "to 3 are "
         "possible"},
    }),
    [](const auto& info) { return info.param.name; });

TEST(UnknownOperators, AreAllNamedWithTheirReaders) {
  ModelSpec model = chain_model();
  model.operators[0] = {kCustom, {0}, {3}, {}, 2, "edge-tpu"};
  model.operators[3] = {kUnique, {7}, {8}, {}, 5};
  model.operators[4] = {215, {5}, {9}};
  const std::string text = errors(model);
  const auto at = [&](const std::string& line) { return text.find(line); };
  EXPECT_EQ(
      at("some/m.tflite: operator 0 'act_Relu' (custom 'edge-tpu' v2): is an operator Intarsia "
         "does not have; its output feeds operator 1 'flatten' (RESHAPE v1); docs/operators.md has "
         "what there is: write "
         "the layer with these, or end the model before it\n"),
      0u);
  EXPECT_NE(at("\nsome/m.tflite: operator 3 'unique' (UNIQUE v5): is an operator Intarsia does not "
               "have; its output feeds model output 0; the size of its result depends on values: "
               "end the model before it, "
               "or compute with a mask in its place\n"),
            std::string::npos);
  EXPECT_NE(
      at("\nsome/m.tflite: operator 4 'dense_MatMul' (builtin 215 v1): is an operator "
         "Intarsia does not have; nothing reads its output; docs/operators.md has what there is"),
      std::string::npos);
}

TEST(UnknownOperators, AreToldOnceForEachType) {
  ModelSpec model = chain_model();
  for (const size_t at : {0, 1, 3}) model.operators[at].code = kUnique;
  const std::string text = errors(model);
  EXPECT_THAT(text, testing::HasSubstr("and 2 more of this type: operators 1, 3"));
  EXPECT_EQ(text.find("operator 3 '"), std::string::npos);
}

TEST(UnknownOperators, NameTheSubgraphsTheyRun) {
  ModelSpec model = softmax_model();
  model.more_subgraphs = {"function"};
  model.operators[0].code = kCall;
  model.operators[0].options = options_of(&format::CreateCallOptions, 1u);
  EXPECT_THAT(errors(model),
              testing::StartsWith(
                  "some/m.tflite: operator 0 'call' (CALL v2): is an operator Intarsia does not "
                  "have, runs subgraph 1 'function'; its output feeds model output 0"));
}

TEST(Refusals, AreReportedTogether) {
  ModelSpec model = chain_model();
  model.tensors[1].scale[0] = -1;                                 // the convolution's weights
  model.tensors[4].data = bytes_of(std::vector<int32_t>{1, 35});  // the new shape
  model.operators[3].options = options_of(&format::CreateSoftmaxOptions, -1.0f);
  model.operators[4].code = kSvdf;
  const auto result = import(model);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().items().size(), 4u) << result.error().to_string();
}

TEST(Refusals, RulesOfTheIrCarryTheFile) {
  ModelSpec model = average_pool2d_model();
  model.tensors[1].shape = {1, 3, 3, 3};
  const auto result = import(model);
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().to_string(), testing::StartsWith("some/m.tflite: "));

  const std::string text = "intarsia.graph broken\nentry @nothing\n";
  const auto parsed =
      import_model({reinterpret_cast<const uint8_t*>(text.data()), text.size()}, {"some/m.graph"});
  ASSERT_FALSE(parsed.ok());
  EXPECT_THAT(parsed.error().to_string(), testing::StartsWith("some/m.graph:"));
}

}  // namespace
}  // namespace intarsia::test
