// TFLite Micro's own operators: what they become, and what they refuse. What they compute is recorded
// (tests/golden/operators).
#include <flatbuffers/flexbuffers.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <tuple>

#include "import_support.h"

namespace intarsia::test {
namespace {

using graph::OpKind;
using testing::HasSubstr;

constexpr int8_t kUInt32 = 15, kUInt64 = 12, kBool = 6;

using Options = std::map<std::string, double>;

std::vector<uint8_t> flexible(const Options& options) {
  flexbuffers::Builder builder;
  builder.Map([&] {
    for (const auto& [name, value] : options)
      if (value == static_cast<double>(static_cast<int64_t>(value)))
        builder.Int(name.c_str(), static_cast<int64_t>(value));
      else
        builder.Double(name.c_str(), value);
  });
  builder.Finish();
  return builder.GetBuffer();
}

// The inputs come first.
ModelSpec custom(const std::string& name, const std::vector<TensorSpec>& inputs,
                 const std::vector<TensorSpec>& outputs, std::vector<uint8_t> options) {
  ModelSpec m;
  OperatorSpec op{kCustom, {}, {}, {}, 1, name, {}, std::move(options)};
  for (const TensorSpec& input : inputs) {
    op.inputs.push_back(static_cast<int32_t>(m.tensors.size()));
    if (input.data.empty()) m.inputs.push_back(op.inputs.back());
    m.add(input);
  }
  for (const TensorSpec& output : outputs) {
    op.outputs.push_back(static_cast<int32_t>(m.tensors.size()));
    m.outputs.push_back(op.outputs.back());
    m.add(output);
  }
  m.operators = {op};
  return m;
}

TensorSpec samples(const char* name, std::vector<int32_t> shape) {
  return {name, std::move(shape), kInt16, {}, {}};
}

ModelSpec delay(std::vector<uint8_t> options) {
  return custom("SignalDelay", {samples("x", {4})}, {samples("y", {4})}, std::move(options));
}

// Six int8 of [2,3] as indices of two bits, in a table for each row: 7 8 8, 1 0 2.
ModelSpec decode(std::vector<uint8_t> header,
                 std::vector<uint8_t> encoded = {0b00010101, 0b00100000}, bool by_row = true) {
  header.resize(16);
  const std::vector<uint8_t> values{7, 8, 9, 0, 1, 2};
  header.insert(header.end(), values.begin(), values.begin() + (by_row ? 6 : 3));
  const auto bytes = [](const char* name, std::vector<uint8_t> data) {
    const auto size = static_cast<int32_t>(data.size());
    return TensorSpec{name, {size}, kUInt8, {}, {}, std::move(data)};
  };
  return custom("TFLM_DECODE", {bytes("encoded", std::move(encoded)), bytes("header", header)},
                {{"y", {2, 3}, kInt8, {1.0f}, {0}}}, {});
}

TEST(ImportCustom, DecodedConstantsAreKnown) {
  const auto values = [](const ModelSpec& m) {
    const Result<graph::Module> module = import(m);
    EXPECT_TRUE(module.ok()) << module.error().to_string();
    return graph::Evaluator(*module).run({})->at(0);
  };
  EXPECT_EQ(values(decode({0, 1, 0, 0, 1, 0x02, 3})), (graph::TensorValue{7, 8, 8, 1, 0, 2}));
  EXPECT_EQ(values(decode({0, 1, 0, 0, 1, 0xf2, 3})), (graph::TensorValue{7, 8, 8, 8, 7, 9}));
  EXPECT_EQ(values(decode({0, 1, 0, 0, 1, 0x02, 3}, {0b00010101, 0b00100000}, false)),
            (graph::TensorValue{7, 8, 8, 8, 7, 9}));
}

// MediaPipe's operator: how it pads, strides along rows and columns.
ModelSpec biased_transpose_conv(std::vector<int32_t> options, int32_t out_h, int32_t out_w) {
  const auto constant = [](const char* name, std::vector<int32_t> shape, size_t count) {
    TensorSpec made = real(name, std::move(shape));
    made.data = bytes_of(std::vector<float>(count, 0.5f));
    return made;
  };
  return custom("Convolution2DTransposeBias",
                {real("x", {1, 3, 2, 2}), constant("w", {4, 3, 2, 2}, 48), constant("b", {4}, 4)},
                {real("y", {1, out_h, out_w, 4})}, bytes_of(options));
}

TEST(ImportCustom, TransposedConvolutionsWithABias) {
  const auto read = [](const ModelSpec& m) {
    const graph::Function function = imported(m);
    EXPECT_EQ(function.nodes.at(0).kind, OpKind::TransposeConv2d);
    EXPECT_EQ(function.nodes.at(0).inputs.size(), 3u);
    return function.nodes.at(0).attrs<graph::TransposeConv2dAttrs>();
  };
  // Rows: 2 * (3 - 1) + 3, less two at both ends; columns: 2 * (2 - 1) + 2, of which nothing is cut off.
  const auto same = read(biased_transpose_conv({1, 2, 2}, 5, 4));
  EXPECT_EQ(std::tuple(same.pad_top, same.pad_left, same.out_h, same.out_w),
            std::tuple(1, 0, 5, 4));
  EXPECT_EQ(std::pair(same.stride_h, same.stride_w), std::pair(int64_t{2}, int64_t{2}));
  const auto valid = read(biased_transpose_conv({2, 1, 3}, 9, 3));
  EXPECT_EQ(std::pair(valid.stride_h, valid.stride_w), std::pair(int64_t{3}, int64_t{1}));
  EXPECT_EQ(valid.pad_top, 0);
  EXPECT_THAT(errors(biased_transpose_conv({1, 2, 2}, 6, 4)),
              HasSubstr("makes [1,5,4,4], but its output has shape [1,6,4,4]"));
  EXPECT_THAT(errors(biased_transpose_conv({0, 2, 2}, 6, 4)),
              HasSubstr("has padding 0, which is neither SAME nor VALID"));
  EXPECT_THAT(errors(biased_transpose_conv({1, 2}, 5, 4)),
              HasSubstr("has no options that can be read"));
  EXPECT_THAT(errors(biased_transpose_conv({1, 0, 2}, 5, 4)), HasSubstr("stride_w"));
}

// MediaPipe's operators of parts that landmarks choose.
std::vector<uint8_t> part_options(const std::vector<int>& subset, int right, int width) {
  flexbuffers::Builder builder;
  builder.Map([&] {
    builder.Int("left_rotation_idx", 0);
    builder.Int("right_rotation_idx", right);
    builder.Int("output_width", width);
    builder.Int("output_height", 4);
    builder.Double("target_rotation_radians", 0);
    builder.Double("scale_x", 1.5);
    builder.Double("scale_y", 1.5);
    if (!subset.empty())
      builder.Vector("subset_idxs", [&] {
        for (const int landmark : subset) builder.Int(landmark);
      });
  });
  builder.Finish();
  return builder.GetBuffer();
}

TEST(ImportCustom, PartsThatLandmarksChoose) {
  const auto matrix = [](std::vector<int32_t> shape, std::vector<uint8_t> options,
                         std::vector<int32_t> made = {1, 4, 4}) {
    return custom("Landmarks2TransformMatrix", {real("x", std::move(shape))},
                  {real("y", std::move(made))}, std::move(options));
  };
  const std::vector<uint8_t> good = part_options({2, 5, 1}, 6, 4);
  EXPECT_EQ(imported(matrix({1, 7, 3}, good)).tensors.empty(), false);
  EXPECT_THAT(errors(matrix({1, 1, 1, 21}, good)), HasSubstr("takes landmarks f32[1,1,1,21]"));
  EXPECT_THAT(errors(matrix({1, 6, 3}, good)),
              HasSubstr("chooses landmarks that are not among its 6"));
  EXPECT_THAT(errors(matrix({1, 7, 3}, part_options({2, -1}, 6, 4))), HasSubstr("not among its 7"));
  EXPECT_THAT(errors(matrix({1, 7, 3}, part_options({2, 7}, 6, 4))), HasSubstr("not among its 7"));
  EXPECT_THAT(errors(matrix({1, 7, 3}, part_options({}, 6, 4))),
              HasSubstr("has no option 'subset_idxs'"));
  EXPECT_THAT(errors(matrix({1, 7, 3}, part_options({2}, 6, 0))),
              HasSubstr("is for pictures of 4 x 0 pixels"));
  EXPECT_THAT(errors(matrix({1, 7, 3}, good, {1, 3, 4})),
              HasSubstr("makes [1,4,4], but its output has shape [1,3,4]"));
}

TEST(ImportCustom, PicturesAndLandmarksOfParts) {
  const auto picture = [](std::vector<int32_t> shape, std::vector<int32_t> by,
                          const Options& options, std::vector<int32_t> made) {
    return custom("TransformTensorBilinear",
                  {real("x", std::move(shape)), real("m", std::move(by))},
                  {real("y", std::move(made))}, flexible(options));
  };
  const Options size = {{"output_height", 4}, {"output_width", 5}};
  EXPECT_THAT(errors(picture({2, 6, 6, 3}, {1, 4, 4}, size, {2, 4, 5, 3})),
              HasSubstr("takes the picture f32[2,6,6,3] by the matrix [1,4,4]"));
  EXPECT_THAT(errors(picture({1, 6, 6, 3}, {4, 4}, size, {1, 4, 5, 3})),
              HasSubstr("by the matrix [4,4]"));
  EXPECT_THAT(errors(picture({1, 6, 6, 3}, {1, 4, 4}, size, {1, 5, 4, 3})),
              HasSubstr("makes [1,4,5,3], but its output has shape [1,5,4,3]"));
  EXPECT_THAT(errors(picture({1, 6, 6, 3}, {1, 4, 4}, {{"output_height", 4}}, {1, 4, 5, 3})),
              HasSubstr("has no option 'output_width'"));
  EXPECT_THAT(
      errors(picture({1, 6, 6, 3}, {1, 4, 4},
                     {{"output_height", 1 << 20}, {"output_width", 1 << 20}}, {1, 4, 5, 3})),
      HasSubstr("at most 16777216 pixels are possible"));
  const auto landmarks = [](std::vector<int32_t> shape) {
    return custom("TransformLandmarks", {real("x", shape), real("m", {1, 4, 4})},
                  {real("y", shape)}, {});
  };
  EXPECT_EQ(imported(landmarks({1, 6, 2})).nodes.back().kind, OpKind::Concat);
  EXPECT_THAT(errors(landmarks({1, 6, 4})), HasSubstr("takes the landmarks f32[1,6,4]"));
  EXPECT_THAT(errors(landmarks({1, 1, 6, 2})), HasSubstr("as version 2 of the operator has them"));
}

// Behind the header: 7 8 9 0 1 2. Bits say which of [2,3] are these; the rest is the zero point.
TEST(ImportCustom, PrunedConstantsAreFilled) {
  const auto values = [](const ModelSpec& m) {
    const Result<graph::Module> module = import(m);
    EXPECT_TRUE(module.ok()) << module.error().to_string();
    return graph::Evaluator(*module).run({})->at(0);
  };
  ModelSpec model = decode({2, 1, 0, 0, 1}, {0b10110100});
  EXPECT_EQ(values(model), (graph::TensorValue{7, 0, 8, 9, 0, 0}));
  model.tensors.back().zero_point = {-3};
  EXPECT_EQ(values(model), (graph::TensorValue{7, 253, 8, 9, 253, 0}));
  EXPECT_THAT(errors(decode({2, 1, 0, 0, 1}, {0b11111110}, false)), HasSubstr("too few bytes"));
}

TEST(ImportCustom, DecodingThatCannotBe) {
  const auto refusal = [](std::vector<uint8_t> header) {
    return errors(decode(std::move(header)));
  };
  EXPECT_THAT(refusal({3, 1}),
              HasSubstr("decodes a kind 3 of an application, for its output 0; tables of values "
                        "(LUT), Huffman codes and pruning are possible"));
  EXPECT_THAT(refusal({1, 1}), HasSubstr("is of version 1.0"));
  // Entries of 16 bits: 0x0807 is no element, and what it looks up next lies behind the table.
  EXPECT_THAT(refusal({1, 1, 0, 0, 1, 0x00}), HasSubstr("has a code beyond its table"));
  EXPECT_THAT(refusal({200, 1}), HasSubstr("decodes a kind 200 of an application"));
  EXPECT_THAT(refusal({0, 2, 0, 0, 1, 2, 3}), HasSubstr("is of version 2.1"));
  EXPECT_THAT(refusal({0, 1, 0, 0, 1, 0, 3}), HasSubstr("has indices of no bits"));
  EXPECT_THAT(refusal({0, 1, 0, 0, 1, 2, 0}), HasSubstr("tables of no values"));
  EXPECT_THAT(refusal({0, 1, 0, 0, 1, 0x52, 3}), HasSubstr("has tables along axis 5 of [2,3]"));
  EXPECT_THAT(refusal({0, 1, 0, 0, 1, 0x12, 3}), HasSubstr("has 6 bytes of values for 3 tables"));
  EXPECT_THAT(refusal({0, 1, 0, 0, 1, 0xf2, 2}), HasSubstr("an index beyond its table"));
  EXPECT_THAT(errors(decode({0, 1, 0, 0, 1, 2, 3}, {0x15})), HasSubstr("has too few bytes"));
  ModelSpec running = decode({0, 1, 0, 0, 1, 2, 3});
  running.tensors[0].data.clear();
  running.inputs = {0};
  EXPECT_THAT(errors(running), HasSubstr("decodes what is known only when the model runs"));
}

TEST(ImportCustom, OptionsAreWholeOrReported) {
  EXPECT_EQ(errors(delay(flexible({{"delay_length", 3}}))), "");
  EXPECT_EQ(errors(delay(flexible({{"length", 3}}))),
            "some/m.tflite: operator 0 'y' (custom 'SignalDelay' v1): has no option "
            "'delay_length'; the file is incomplete; convert the model again\n");
  for (const std::vector<uint8_t>& damaged :
       {std::vector<uint8_t>{}, std::vector<uint8_t>{1, 2, 3}, std::vector<uint8_t>(40, 255)})
    EXPECT_THAT(errors(delay(damaged)), HasSubstr("has no options that can be read"));
  EXPECT_THAT(errors(delay(flexible({{"delay_length", 0}}))), HasSubstr("delays by 0 samples"));
  EXPECT_THAT(errors(delay(flexible({{"delay_length", -4}}))), HasSubstr("delays by -4 samples"));
}

TEST(ImportCustom, StateIsAVariableOfTheModel) {
  const graph::Function main = imported(delay(flexible({{"delay_length", 3}})));
  std::vector<OpKind> kinds;
  for (const graph::Node& node : main.nodes) kinds.push_back(node.kind);
  EXPECT_EQ(kinds, (std::vector{OpKind::ReadVariable, OpKind::Concat, OpKind::Slice, OpKind::Slice,
                                OpKind::AssignVariable}));
}

ModelSpec framer(double size, double step, std::vector<int32_t> frames) {
  return custom("SignalFramer", {samples("x", {6})},
                {samples("y", std::move(frames)), {"valid", {}, kBool, {}, {}}},
                flexible({{"frame_size", size}, {"frame_step", step}, {"prefill", 1}}));
}

TEST(ImportCustom, Framer) {
  EXPECT_EQ(errors(framer(7, 3, {2, 7})), "");
  EXPECT_EQ(errors(framer(3, 3, {2, 3})), "");
  for (const double step : {0.0, -3.0, 4.0, 12.0})
    EXPECT_THAT(errors(framer(7, step, {2, 7})), HasSubstr("makes frames of 7 samples"));
  EXPECT_THAT(errors(framer(2, 3, {2, 2})), HasSubstr("frames as long as a step or longer"));
  EXPECT_THAT(errors(framer(7, 3, {3, 7})), HasSubstr("is declared as [3,7]"));
}

TEST(ImportCustom, Stacker) {
  const auto stacker = [](double left, double step) {
    return errors(custom("SignalStacker", {samples("x", {3})},
                         {samples("y", {9}), {"valid", {}, kBool, {}, {}}},
                         flexible({{"num_channels", 3},
                                   {"stacker_left_context", left},
                                   {"stacker_right_context", 1},
                                   {"stacker_step", step}})));
  };
  EXPECT_EQ(stacker(1, 3), "");
  EXPECT_THAT(stacker(1, 4), HasSubstr("stacks 1 + 1 + 1 frames of 3 channels, 4 apart"));
  EXPECT_THAT(stacker(-1, 1), HasSubstr("stacks -1 + 1 + 1"));
  EXPECT_NE(stacker(2, 1), "");  // the output has room for three frames
}

TEST(ImportCustom, OverlapAdd) {
  const auto overlap = [](int8_t type, double step) {
    return errors(custom("SignalOverlapAdd", {{"x", {2, 4}, type, {}, {}}},
                         {{"y", {6}, type, {}, {}}}, flexible({{"frame_step", step}})));
  };
  EXPECT_EQ(overlap(kInt16, 3), "");
  EXPECT_EQ(overlap(kFloat32, 3), "");
  EXPECT_THAT(overlap(kInt16, 5), HasSubstr("adds frames of [2,4], 5 apart"));
  EXPECT_THAT(overlap(kInt32, 3), HasSubstr("adds i32; i16 and f32 are possible"));
}

TEST(ImportCustom, Transforms) {
  const auto rfft = [](int8_t type, double length, int32_t made) {
    return errors(custom("SignalRfft", {{"x", {12}, type, {}, {}}}, {{"y", {made}, type, {}, {}}},
                         flexible({{"fft_length", length}})));
  };
  EXPECT_EQ(rfft(kInt16, 16, 18), "");
  EXPECT_THAT(rfft(kInt32, 16, 18), HasSubstr("transforms i32; i16 and f32 are possible"));
  EXPECT_EQ(rfft(kFloat32, 16, 18), "");
  EXPECT_THAT(rfft(kFloat32, 24, 26), HasSubstr("transforms a length of 24; powers of two"));
  EXPECT_THAT(rfft(kFloat32, 1e12, 18), HasSubstr("powers of two from 2 to 2^18 are possible"));
  EXPECT_THAT(rfft(kFloat32, 8, 10), HasSubstr("transforms 12 samples by 8 points"));
  EXPECT_THAT(rfft(kFloat32, 16, 17), HasSubstr("makes f32[17] of [12] by a transform of 16"));
  EXPECT_THAT(rfft(kInt16, 24, 26), HasSubstr("powers of two from 4"));
  EXPECT_THAT(rfft(kInt16, 8, 10), HasSubstr("transforms 12 samples by 8 points"));
  EXPECT_THAT(rfft(kInt16, 1e12, 18), HasSubstr("powers of two from 4"));
}

ModelSpec filter_bank(const std::vector<int16_t>& starts) {
  const auto constant = [](const char* name, const std::vector<int16_t>& values) {
    return TensorSpec{
        name, {static_cast<int32_t>(values.size())}, kInt16, {}, {}, bytes_of(values)};
  };
  ModelSpec m = custom("SignalFilterBank",
                       {{"energy", {8}, kUInt32, {}, {}},
                        constant("rising", {1, 2, 3, 4, 5, 6}),
                        constant("falling", {6, 5, 4, 3, 2, 1}),
                        constant("starts", starts),
                        constant("weights", {0, 2, 4}),
                        constant("widths", {2, 2, 2})},
                       {{"sums", {2}, kUInt64, {}, {}}}, flexible({{"num_channels", 2}}));
  m.add({"shift", {}, kInt32, {}, {}});
  m.add({"roots", {2}, kUInt32, {}, {}});
  m.operators.push_back({kCustom, {6, 7}, {8}, {}, 1, "SignalFilterBankSquareRoot", {}, {}});
  m.inputs.push_back(7);
  m.outputs = {8};
  return m;
}

TEST(ImportCustom, FilterBankStaysInItsTables) {
  EXPECT_EQ(errors(filter_bank({0, 3, 6})), "");
  EXPECT_THAT(errors(filter_bank({0, 3, 7})), HasSubstr("band 2 is not among the 8 frequencies"));
  EXPECT_THAT(errors(filter_bank({-1, 3, 6})), HasSubstr("band 0 is not among the 8 frequencies"));
  EXPECT_THAT(errors(filter_bank({0, 3})), HasSubstr("has 2 first energies for 3 bands"));
}

TEST(ImportCustom, LongNumbersWithoutASignAreOfFilterBanksOnly) {
  ModelSpec m = filter_bank({0, 3, 6});
  m.outputs = {6, 8};
  EXPECT_THAT(errors(m), HasSubstr("model output 0: is tensor 6 'sums', which is of type UINT64"));
  m.outputs = {8};
  m.add({"copy", {2}, kUInt64, {}, {}});
  m.operators.push_back({kReshape, {6}, {9}});
  EXPECT_THAT(errors(m), HasSubstr("has tensor 6 'sums' of type UINT64"));
}

ModelSpec detection(Options changed) {
  Options options{{"max_detections", 2},
                  {"max_classes_per_detection", 1},
                  {"num_classes", 3},
                  {"nms_score_threshold", 0.25},
                  {"nms_iou_threshold", 0.5},
                  {"y_scale", 10},
                  {"x_scale", 10},
                  {"h_scale", 5},
                  {"w_scale", 5}};
  for (const auto& [name, value] : changed) options[name] = value;
  const auto real = [](const char* name, std::vector<int32_t> shape) {
    return TensorSpec{name, std::move(shape), kFloat32, {}, {}};
  };
  return custom(
      "TFLite_Detection_PostProcess",
      {real("boxes", {1, 7, 4}), real("scores", {1, 7, 4}), real("anchors", {7, 4})},
      {real("found", {1, 2, 4}), real("classes", {1, 2}), real("best", {1, 2}), real("count", {1})},
      flexible(options));
}

TEST(ImportCustom, Detections) {
  EXPECT_EQ(errors(detection({})), "");
  const graph::Function main = imported(detection({{"use_regular_nms", 1}}));
  EXPECT_EQ(main.nodes[0].attrs<graph::DetectBoxesAttrs>().most_of_class, 100);
  EXPECT_THAT(errors(detection({{"max_classes_per_detection", 2}})),
              HasSubstr("gives 2 classes for each box; convert the model with "
                        "max_classes_per_detection 1 or use_regular_nms"));
  EXPECT_EQ(errors(detection({{"max_classes_per_detection", 2}, {"use_regular_nms", 1}})), "");
  EXPECT_THAT(errors(detection({{"num_classes", 5}})), HasSubstr("has 4 scores for 5 classes"));
  EXPECT_THAT(errors(detection({{"h_scale", 0}})), HasSubstr("has a scale that is not positive"));
  EXPECT_THAT(errors(detection({{"max_detections", 0}})), HasSubstr("most"));
  EXPECT_THAT(errors(detection({{"max_detections", 100000}})), HasSubstr("at most 65536"));
}

ModelSpec circular_buffer(std::vector<uint8_t> options) {
  return custom("CIRCULAR_BUFFER", {{"x", {1, 1, 1, 3}}}, {{"y", {1, 4, 1, 3}}},
                std::move(options));
}

TEST(ImportCustom, CircularBuffer) {
  EXPECT_EQ(errors(circular_buffer(flexible({{"cycles_max", 1}}))), "");
  EXPECT_EQ(errors(circular_buffer(flexible({{"cycles_max", 4}}))), "");
  EXPECT_EQ(
      errors(circular_buffer(flexible({{"cycles_max", 0}}))),
      "some/m.tflite: operator 0 'y' (custom 'CIRCULAR_BUFFER' v1): does not say after how "
      "many inputs the model goes on; convert the model with cycles_max from 1 to 1073741824\n");
  EXPECT_THAT(errors(circular_buffer(flexible({{"cycles_max", -1}}))),
              HasSubstr("goes on after -1 inputs"));
  EXPECT_THAT(errors(circular_buffer({})), HasSubstr("has no options that can be read"));
  ModelSpec other = circular_buffer(flexible({{"cycles_max", 1}}));
  other.tensors[1].shape = {1, 4, 1, 2};
  EXPECT_THAT(errors(other), HasSubstr("needs inputs that are one slot of the output"));
}

// ---- invocations that end early ----

TensorSpec bytes(const char* name, std::vector<int32_t> shape, bool is_variable = false) {
  TensorSpec tensor{name, std::move(shape), kInt8, {0.5f}, {-3}};
  tensor.variable = is_variable;
  return tensor;
}

OperatorSpec slots(int32_t from, int32_t to, double cycles) {
  return {kCustom, {from}, {to}, {}, 1, "CIRCULAR_BUFFER", {}, flexible({{"cycles_max", cycles}})};
}

// What the model gives, one invocation after another, each with an input of one byte.
std::vector<std::vector<int>> stream(const ModelSpec& model, int invocations) {
  const auto module = import(model);
  EXPECT_TRUE(module.ok()) << module.error().to_string();
  std::vector<std::vector<int>> given;
  if (!module.ok()) return given;
  graph::Evaluator evaluator(*module);
  for (int i = 1; i <= invocations; ++i) {
    const auto outputs = evaluator.run({{static_cast<uint8_t>(i)}});
    EXPECT_TRUE(outputs.ok());
    given.emplace_back();
    for (const graph::TensorValue& output : *outputs)
      for (const uint8_t byte : output) given.back().push_back(static_cast<int8_t>(byte));
  }
  return given;
}

using Stream = std::vector<std::vector<int>>;

TEST(EarlyEnds, OutputsAreThoseOfTheLastWholeInvocation) {
  ModelSpec m;
  m.add(bytes("x", {1, 1, 1, 1})), m.add(bytes("held", {1, 2, 1, 1}, true));
  m.add(bytes("behind", {1, 2, 1, 1})), m.add(bytes("before", {1, 1, 1, 1}));
  m.inputs = {0}, m.outputs = {2, 1, 3};
  m.operators = {{kRelu, {0}, {3}}, slots(0, 1, 3), {kRelu, {1}, {2}}};
  EXPECT_EQ(stream(m, 7), (Stream{{-3, -3, -3, 1, 1},
                                  {-3, -3, 1, 2, 2},
                                  {2, 3, 2, 3, 3},
                                  {2, 3, 3, 4, 4},
                                  {2, 3, 4, 5, 5},
                                  {5, 6, 5, 6, 6},
                                  {5, 6, 6, 7, 7}}));
}

// The second one is reached in every second invocation, and goes on in every fourth.
TEST(EarlyEnds, OneBehindAnother) {
  ModelSpec m;
  m.add(bytes("x", {1, 1, 1, 1})), m.add(bytes("first", {1, 2, 1, 1}, true));
  m.add(bytes("largest", {1, 1, 1, 1})), m.add(bytes("second", {1, 2, 1, 1}, true));
  m.add(bytes("y", {1, 2, 1, 1}));
  m.inputs = {0}, m.outputs = {4};
  OperatorSpec pool{kMaxPool2d, {1}, {2}};
  pool.options = options_of(&format::CreatePool2dOptions, format::Padding::Valid, 1, 1, 1, 2,
                            format::Activation::None);
  m.operators = {slots(0, 1, 2), pool, slots(2, 3, 2), {kRelu, {3}, {4}}};
  EXPECT_EQ(stream(m, 9),
            (Stream{{-3, -3}, {-3, -3}, {-3, -3}, {2, 4}, {2, 4}, {2, 4}, {2, 4}, {6, 8}, {6, 8}}));
}

// ---- TensorFlow's front end of floats: what of a damaged file is said, before anything is made ----

TensorSpec real_tensor(const char* name, std::vector<int32_t> shape) {
  return {name, std::move(shape), kFloat32, {}, {}};
}

std::string outcome(const ModelSpec& model) {
  const std::string text = errors(model);
  return text.empty() ? "is taken" : text;
}

std::string of_spectrogram(std::vector<int32_t> shape, std::vector<int32_t> result,
                           const Options& options) {
  return outcome(custom("AudioSpectrogram", {real_tensor("x", std::move(shape))},
                        {real_tensor("y", std::move(result))}, flexible(options)));
}

TEST(ImportCustom, SpectrogramsOfFramesThatAreNone) {
  const auto frames = [](double size, double stride) -> Options {
    return {{"window_size", size}, {"stride", stride}, {"magnitude_squared", 1}};
  };
  EXPECT_EQ(of_spectrogram({200, 1}, {1, 19, 17}, frames(20, 10)), "is taken");
  EXPECT_THAT(of_spectrogram({200, 1}, {1, 19, 17}, frames(1, 10)),
              HasSubstr("takes frames of 1 samples, 10 apart, of f32[200,1]"));
  EXPECT_THAT(of_spectrogram({200, 1}, {1, 19, 17}, frames(20, 0)), HasSubstr("0 apart"));
  EXPECT_THAT(of_spectrogram({200, 1}, {1, 19, 17}, frames(20, -3)), HasSubstr("-3 apart"));
  EXPECT_THAT(of_spectrogram({200, 1}, {1, 19, 17}, frames(201, 10)), HasSubstr("of 201 samples"));
  EXPECT_THAT(of_spectrogram({200, 1}, {1, 19, 17}, frames(1e15, 10)), HasSubstr("takes frames"));
  EXPECT_THAT(of_spectrogram({200, 1}, {1, 19, 17}, frames(20, 1e15)), HasSubstr("takes frames"));
  EXPECT_THAT(of_spectrogram({200}, {1, 19, 17}, frames(20, 10)), HasSubstr("f32[200]"));
  EXPECT_THAT(of_spectrogram({200, 1}, {1, 19, 16}, frames(20, 10)), HasSubstr("[1,19,17]"));
  EXPECT_THAT(of_spectrogram({200, 1}, {1, 19, 17}, {{"stride", 10}}), HasSubstr("window_size"));
  // Places of frames as numerous as a file may state: refused before they are listed.
  EXPECT_THAT(of_spectrogram({49152, 1}, {1, 16386, 16385}, frames(32767, 1)),
              HasSubstr("needs a constant of 16386 x 32767 elements"));
}

std::string of_mfcc(std::vector<int32_t> shape, const Options& options,
                    std::vector<int32_t> rate = {16000}) {
  TensorSpec constant{"rate", {static_cast<int32_t>(rate.size())}, kInt32, {}, {}};
  constant.data.resize(rate.size() * 4);
  std::memcpy(constant.data.data(), rate.data(), constant.data.size());
  Options all{{"filterbank_channel_count", 40},
              {"dct_coefficient_count", 13},
              {"upper_frequency_limit", 4000.5},
              {"lower_frequency_limit", 20.5}};
  for (const auto& [name, value] : options) all[name] = value;
  return outcome(custom("Mfcc", {real_tensor("x", std::move(shape)), std::move(constant)},
                        {real_tensor("y", {1, 19, 13})}, flexible(all)));
}

TEST(ImportCustom, CepstraOfBandsThatAreNone) {
  EXPECT_EQ(of_mfcc({1, 19, 257}, {}), "is taken");
  const auto says = [](const std::string& what) { return HasSubstr("coefficients of " + what); };
  EXPECT_THAT(of_mfcc({1, 19, 39}, {}), says("40 bands"));
  EXPECT_THAT(of_mfcc({1, 19, 257}, {{"filterbank_channel_count", -1}}), says("-1 bands"));
  EXPECT_THAT(of_mfcc({1, 19, 257}, {{"filterbank_channel_count", 12}}), says("12 bands"));
  EXPECT_THAT(of_mfcc({1, 19, 257}, {{"dct_coefficient_count", 0}}), HasSubstr("makes 0 coeff"));
  EXPECT_THAT(of_mfcc({1, 19, 257}, {{"lower_frequency_limit", 4001.5}}), says("40 bands"));
  EXPECT_THAT(of_mfcc({1, 19, 257}, {{"lower_frequency_limit", -1.5}}), says("40 bands"));
  const double infinite = std::numeric_limits<double>::infinity(), none = std::nan("");
  EXPECT_THAT(of_mfcc({1, 19, 257}, {{"lower_frequency_limit", none}}), says("40 bands"));
  EXPECT_THAT(of_mfcc({1, 19, 257}, {{"upper_frequency_limit", infinite}}), says("40 bands"));
  EXPECT_THAT(of_mfcc({1, 19}, {}), HasSubstr("f32[1,19]"));
  EXPECT_THAT(of_mfcc({1, 19, 257}, {}, {0}), says("40 bands"));
  EXPECT_THAT(of_mfcc({1, 19, 257}, {}, {16000, 8000}), says("40 bands"));
  // Bands above all frequencies: zeros, and nothing behind the table is touched.
  EXPECT_EQ(
      of_mfcc({1, 19, 257}, {{"lower_frequency_limit", 1.5e30}, {"upper_frequency_limit", 2.5e30}}),
      "is taken");
  EXPECT_THAT(of_mfcc({1, 19, 1 << 20}, {}), HasSubstr("needs a constant of 40 x 1048576"));
}

}  // namespace
}  // namespace intarsia::test
