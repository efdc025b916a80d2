// Refusals of tensors, indices and data flow, as the user reads them.
#include <cmath>
#include <limits>

#include "refusal.h"

namespace intarsia::test {
namespace {

class RefusedTensor : public testing::TestWithParam<Refusal> {};

TEST_P(RefusedTensor, SaysWhereAndWhat) {
  expect_refused(GetParam());
}

const char* const kWeightsOfConv =
    "some/m.tflite: tensor 1 'net/conv/kernel', read by operator 0 'conv' (CONV_2D v3): ";
const char* const kImageOfConv = "some/m.tflite: tensor 0 'image', model input 0: ";
const char* const kSawTooLittle =
    "; the converter has seen hardly anything but zeros there: give it samples that the network "
    "will meet "
    "(representative_dataset)";
const char* const kNotQuantised =
    "; the converter could not quantise it: give it samples that the network will meet "
    "(representative_dataset), and look for weights that are all zero or no numbers";
const char* const kResultOfConv =
    "some/m.tflite: tensor 3 'net/act/Relu', written by operator 0 'conv' (CONV_2D v3): ";

INSTANTIATE_TEST_SUITE_P(
    Tensors, RefusedTensor,
    testing::ValuesIn(std::vector<Refusal>{
        {"ZeroExtent", conv2d_model, [](ModelSpec& m) { m.tensors[0].shape[1] = 0; },
         std::string(kImageOfConv) + "has shape [1,0,5,2]; every extent must be 1 or more; "
                                     "convert the model with the extents that it will run on"},
        {"UnknownExtent", conv2d_model, [](ModelSpec& m) { m.tensors[0].shape[0] = -1; },
         std::string(kImageOfConv) +
             "has shape [-1,5,5,2]; every extent must be 1 or more and known at conversion; "
             "convert the model with fixed shapes"},
        {"Rank", conv2d_model, [](ModelSpec& m) { m.tensors[0].shape = {1, 1, 1, 1, 1, 1, 1}; },
         std::string(kImageOfConv) + "has rank 7; at most 6 is supported"},
        {"Overflow", conv2d_model,
         [](ModelSpec& m) {
           m.tensors[0].shape = {1 << 30, 1 << 30, 1 << 30, 1 << 30};
         },
         std::string(kImageOfConv) +
             "has shape [1073741824,1073741824,1073741824,1073741824], which is more than 2 GiB; "
             "convert the model for a smaller input, or fewer rows at a time"},
        {"BytesOverflow", quantize_model, [](ModelSpec& m) { m.tensors[0].shape = {1 << 29}; },
         "some/m.tflite: tensor 0 'real', model input 0: has shape [536870912], which is more than "
         "2 GiB; convert the model for a smaller input, or fewer rows at a time"},
        {"Complex128", conv2d_model, [](ModelSpec& m) { m.tensors[0].type = 11; },
         std::string(kImageOfConv) + "has elements of type COMPLEX128, which cannot be compiled; "
                                     "convert the model with float32 in place of these"},
        {"UnknownType", conv2d_model, [](ModelSpec& m) { m.tensors[0].type = 77; },
         std::string(kImageOfConv) + "has element type 77, which is not known"},
        {"NegativeType", conv2d_model, [](ModelSpec& m) { m.tensors[0].type = -1; },
         std::string(kImageOfConv) + "has element type -1, which is not known"},
        {"Sparse", conv2d_model, [](ModelSpec& m) { m.tensors[1].sparse = SparseSpec{}; },
         std::string(kWeightsOfConv) +
             "is stored sparse in the order [], for a shape [4,3,3,2] and 0 blocks"},
        {"DataSize", conv2d_model, [](ModelSpec& m) { m.tensors[1].data.pop_back(); },
         std::string(kWeightsOfConv) + "has 71 bytes of data (buffer 1), but i8[4,3,3,2] needs 72"},
        {"InitialisedVariable", conv2d_model, [](ModelSpec& m) { m.tensors[1].variable = true; },
         std::string(kWeightsOfConv) +
             "is a variable with an initial value, which is not supported"},
        {"NaNScale", conv2d_model, [](ModelSpec& m) { m.tensors[1].scale[2] = std::nanf(""); },
         std::string(kWeightsOfConv) + "scale of channel 2 is not a number" + kNotQuantised},
        {"InfiniteScale", conv2d_model,
         [](ModelSpec& m) { m.tensors[0].scale[0] = std::numeric_limits<float>::infinity(); },
         std::string(kImageOfConv) + "scale is infinite" + kNotQuantised},
        {"ZeroScale", conv2d_model, [](ModelSpec& m) { m.tensors[0].scale[0] = 0; },
         std::string(kImageOfConv) + "scale is 0, but must be positive" + kSawTooLittle},
        {"NegativeScale", conv2d_model, [](ModelSpec& m) { m.tensors[0].scale[0] = -0.5f; },
         std::string(kImageOfConv) + "scale is -0.5, but must be positive" + kNotQuantised},
        {"DenormalScale", conv2d_model, [](ModelSpec& m) { m.tensors[0].scale[0] = 1e-40f; },
         std::string(kImageOfConv) + "scale is 1e-40, too small to compute with" + kSawTooLittle},
        {"ZeroScaleOfAChannel", conv2d_model, [](ModelSpec& m) { m.tensors[1].scale[2] = 0; },
         std::string(kWeightsOfConv) + "scale of channel 2 is 0, but must be positive"},
        {"ZeroScaleOfAResult", conv2d_model, [](ModelSpec& m) { m.tensors[3].scale[0] = 0; },
         std::string(kResultOfConv) + "scale is 0, but must be positive" + kSawTooLittle},
        {"ZeroPoint", conv2d_model, [](ModelSpec& m) { m.tensors[0].zero_point[0] = 128; },
         std::string(kImageOfConv) + "zero point is 128, outside -128..127 of i8"},
        {"ZeroPointCount", conv2d_model, [](ModelSpec& m) { m.tensors[0].zero_point.clear(); },
         std::string(kImageOfConv) + "has 1 scales but 0 zero points"},
        {"Axis", conv2d_model, [](ModelSpec& m) { m.tensors[1].axis = 4; },
         std::string(kWeightsOfConv) + "has scales along axis 4, but rank 4"},
        {"AxisExtent", conv2d_model, [](ModelSpec& m) { m.tensors[1].axis = 3; },
         std::string(kWeightsOfConv) + "has 4 scales along axis 3, whose extent is 2"},
        {"Blockwise", conv2d_model, [](ModelSpec& m) { m.tensors[0].quantization_details = 2; },
         std::string(kImageOfConv) + "has scales by blocks, which only constants may have"},
        {"BlocksNowhere", conv2d_model, [](ModelSpec& m) { m.tensors[1].quantization_details = 2; },
         std::string(kWeightsOfConv) + "has scales by blocks, but does not say where"},
        {"CustomScales", conv2d_model, [](ModelSpec& m) { m.tensors[1].quantization_details = 1; },
         std::string(kWeightsOfConv) +
             "has a custom quantisation; scales of tensors, of channels and of blocks of constants "
             "can be read"},
        {"MissingScale", conv2d_model,
         [](ModelSpec& m) { m.tensors[0].scale.clear(), m.tensors[0].zero_point.clear(); },
         std::string(kConv) +
             "needs tensor 0 'image' of type i8 to be quantised, but it has no scale; convert the "
             "model again with a representative data set"},
    }),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Indices, RefusedTensor,
    testing::ValuesIn(std::vector<Refusal>{
        {"Version", softmax_model, [](ModelSpec& m) { m.version = 2; },
         "some/m.tflite: has schema version 2, only version 3 can be read; convert the model with "
         "TensorFlow 2"},
        {"Buffer", conv2d_model, [](ModelSpec& m) { m.tensors[1].buffer = 9; },
         std::string(kConv) +
             "reads tensor 1 'net/conv/kernel', which is no model input, has no data, and no "
             "earlier operator writes\n" +
             kWeightsOfConv + "names buffer 9, but the file has 3"},
        {"OperatorCode", softmax_model, [](ModelSpec& m) { m.operators[0].opcode_index = 5; },
         "some/m.tflite: operator 0: names operator code 5, but the file has 1"},
        {"InputTensor", softmax_model, [](ModelSpec& m) { m.operators[0].inputs[0] = 2; },
         "some/m.tflite: operator 0 (SOFTMAX v2): reads tensor 2, but there are 2"},
        {"NegativeInput", softmax_model, [](ModelSpec& m) { m.operators[0].inputs[0] = -2; },
         "some/m.tflite: operator 0 (SOFTMAX v2): reads tensor -2, but there are 2"},
        {"OutputTensor", softmax_model, [](ModelSpec& m) { m.operators[0].outputs[0] = -1; },
         "some/m.tflite: operator 0 (SOFTMAX v2): writes tensor -1, but there are 2"},
        {"ModelInput", softmax_model, [](ModelSpec& m) { m.inputs.push_back(7); },
         "some/m.tflite: model input 1: is tensor 7, but there are 2"},
        {"ModelInputTwice", softmax_model,
         [](ModelSpec& m) {
           m.inputs = {0, 0};
         },
         "some/m.tflite: model input 1: is tensor 0 'logits', which is an input already"},
        {"ModelInputConstant", fully_connected_model,
         [](ModelSpec& m) {
           m.inputs = {0, 1};
         },
         "some/m.tflite: model input 1: is tensor 1 'kernel', which is a constant"},
        {"ModelInputVariable", softmax_model, [](ModelSpec& m) { m.tensors[0].variable = true; },
         "some/m.tflite: model input 0: is tensor 0 'logits', which is a variable"},
        {"NoOutput", softmax_model, [](ModelSpec& m) { m.outputs.clear(); },
         "some/m.tflite: has a model without outputs; convert the model again, with what it "
         "computes as outputs"},
        {"OutputNotWritten", softmax_model,
         [](ModelSpec& m) {
           m.outputs = {1, m.add({"stray", {2}})};
         },
         "some/m.tflite: model output 1: is tensor 2 'stray', which no operator writes"},
        {"ReadBeforeWritten", chain_model,
         [](ModelSpec& m) { std::swap(m.operators[0], m.operators[1]); },
         "some/m.tflite: operator 0 'flatten' (RESHAPE v1): reads tensor 3 "
         "'net/act/Relu', which is no model input, has no data, and no earlier operator writes"},
        {"WritesInput", add_model,
         [](ModelSpec& m) { m.operators.push_back(m.operators[0]), m.operators[1].outputs = {0}; },
         "some/m.tflite: operator 1 'a' (ADD v2): writes tensor 0 'a', which is a model input"},
    }),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace intarsia::test
