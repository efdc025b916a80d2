#include "tflite_builder.h"

#include <algorithm>
#include <numeric>

namespace intarsia::test {

namespace {

std::vector<uint8_t> ramp(size_t bytes) {
  std::vector<uint8_t> values(bytes);
  std::iota(values.begin(), values.end(), uint8_t{1});
  return values;
}

TensorSpec activation(std::string name, std::vector<int32_t> shape, float scale = 0.5f,
                      int64_t zero_point = 3) {
  return {std::move(name), std::move(shape), kInt8, {scale}, {zero_point}};
}

TensorSpec integers(std::string name, std::vector<int32_t> shape, std::vector<int32_t> values) {
  return {std::move(name), std::move(shape), kInt32, {}, {}, bytes_of(values)};
}

}  // namespace

namespace {

// What the subgraphs of a file share.
struct Shared {
  flatbuffers::FlatBufferBuilder b;
  std::vector<flatbuffers::Offset<format::Buffer>> buffers;
  std::vector<flatbuffers::Offset<format::OperatorCode>> codes;
};

std::pair<format::Numbers, flatbuffers::Offset<void>> numbers(flatbuffers::FlatBufferBuilder& b,
                                                              const std::vector<int32_t>& values,
                                                              bool narrow) {
  if (!narrow)
    return {format::Numbers::Int32Numbers,
            format::CreateInt32Numbers(b, b.CreateVector(values)).Union()};
  const std::vector<uint8_t> bytes(values.begin(), values.end());
  return {format::Numbers::Uint8Numbers,
          format::CreateUint8Numbers(b, b.CreateVector(bytes)).Union()};
}

flatbuffers::Offset<format::Sparsity> sparsity(flatbuffers::FlatBufferBuilder& b,
                                               const SparseSpec& sparse) {
  std::vector<flatbuffers::Offset<format::SparseDimension>> levels;
  for (const SparseLevel& level : sparse.levels) {
    if (level.segments.empty()) {
      levels.push_back(format::CreateSparseDimension(b, 0, level.extent));
      continue;
    }
    const auto [segments_type, segments] = numbers(b, level.segments, sparse.narrow);
    const auto [places_type, places] = numbers(b, level.places, sparse.narrow);
    levels.push_back(
        format::CreateSparseDimension(b, 1, 0, segments_type, segments, places_type, places));
  }
  return format::CreateSparsity(b, b.CreateVector(sparse.order), b.CreateVector(sparse.blocked),
                                b.CreateVector(levels));
}

flatbuffers::Offset<format::Subgraph> subgraph(Shared& shared, const ModelSpec& model,
                                               const std::string& name) {
  flatbuffers::FlatBufferBuilder& b = shared.b;
  auto& [unused, buffers, codes] = shared;
  std::vector<flatbuffers::Offset<format::Tensor>> tensors;
  for (const TensorSpec& t : model.tensors) {
    uint32_t buffer = 0;
    if (!t.data.empty() || t.offset != 0) {
      buffer = static_cast<uint32_t>(buffers.size());
      buffers.push_back(
          format::CreateBuffer(b, t.data.empty() ? 0 : b.CreateVector(t.data), t.offset, t.size));
    }
    flatbuffers::Offset<format::Quantization> quantization;
    if (!t.scale.empty() || !t.zero_point.empty() || t.quantization_details) {
      const auto details = !t.blocks
                               ? 0
                               : format::CreateBlockwiseQuantization(
                                     b, t.blocks->scales, t.blocks->zero_points, t.blocks->size)
                                     .Union();
      quantization = format::CreateQuantization(
          b, b.CreateVector(t.scale), b.CreateVector(t.zero_point),
          static_cast<format::QuantizationDetails>(t.quantization_details), details, t.axis);
    }
    const auto stored = t.sparse ? sparsity(b, *t.sparse) : 0;
    tensors.push_back(format::CreateTensor(
        b, b.CreateVector(t.shape), t.type, t.buffer.value_or(buffer), b.CreateString(t.name),
        quantization, t.variable, stored, t.signature.empty() ? 0 : b.CreateVector(t.signature)));
  }
  std::vector<flatbuffers::Offset<format::Operator>> operators;
  for (const OperatorSpec& op : model.operators) {
    const auto code = static_cast<uint32_t>(codes.size());
    const auto old_code = static_cast<int8_t>(std::min(op.code, 127));
    const auto custom = op.custom_code.empty() ? 0 : b.CreateString(op.custom_code);
    codes.push_back(format::CreateOperatorCode(b, old_code, custom, op.version, op.code));
    std::pair<format::Options, flatbuffers::Offset<void>> options = {format::Options::NONE, 0};
    if (op.options) options = op.options(b);
    const auto composite =
        op.described_by ? format::CreateCompositeOptions(b, 0, *op.described_by).Union() : 0;
    const auto later =
        op.described_by ? format::LaterOptions::CompositeOptions : format::LaterOptions::NONE;
    operators.push_back(format::CreateOperator(
        b, op.opcode_index.value_or(code), b.CreateVector(op.inputs), b.CreateVector(op.outputs),
        options.first, options.second,
        op.custom_options.empty() ? 0 : b.CreateVector(op.custom_options), later, composite));
  }
  return format::CreateSubgraph(b, b.CreateVector(tensors), b.CreateVector(model.inputs),
                                b.CreateVector(model.outputs), b.CreateVector(operators),
                                b.CreateString(name));
}

}  // namespace

std::vector<uint8_t> build(const ModelSpec& model) {
  Shared shared;
  flatbuffers::FlatBufferBuilder& b = shared.b;
  shared.buffers.push_back(format::CreateBuffer(b));
  std::vector<flatbuffers::Offset<format::Subgraph>> subgraphs = {subgraph(shared, model, "main")};
  for (size_t i = 0; i < model.subgraphs.size(); ++i)
    subgraphs.push_back(subgraph(shared, model.subgraphs[i], "part" + std::to_string(i + 1)));
  for (const std::string& name : model.more_subgraphs) {
    subgraphs.push_back(format::CreateSubgraph(b, 0, 0, 0, 0, b.CreateString(name)));
  }
  std::vector<flatbuffers::Offset<format::Metadata>> metadata;
  if (!model.arena_addresses.empty()) {
    std::vector<int32_t> words = {0, 1, static_cast<int32_t>(model.arena_addresses.size())};
    words.insert(words.end(), model.arena_addresses.begin(), model.arena_addresses.end());
    metadata.push_back(format::CreateMetadata(b, b.CreateString("OfflineMemoryAllocation"),
                                              static_cast<uint32_t>(shared.buffers.size())));
    shared.buffers.push_back(format::CreateBuffer(b, b.CreateVector(bytes_of(words))));
  }
  std::vector<flatbuffers::Offset<format::ModelSignature>> signatures;
  for (const auto& [name, number] : model.signatures)
    signatures.push_back(format::CreateModelSignature(b, b.CreateString(name), number));
  const auto named = signatures.empty() ? 0 : b.CreateVector(signatures);
  format::FinishModelBuffer(
      b,
      format::CreateModel(b, model.version, b.CreateVector(shared.codes), b.CreateVector(subgraphs),
                          b.CreateVector(shared.buffers), b.CreateVector(metadata), named));
  return {b.GetBufferPointer(), b.GetBufferPointer() + b.GetSize()};
}

ModelSpec conv2d_model() {
  ModelSpec m;
  m.add(activation("image", {1, 5, 5, 2}));
  m.add({"net/conv/kernel", {4, 3, 3, 2}, kInt8, {0.1f, 0.2f, 0.3f, 0.4f}, {0, 0, 0, 0}, ramp(72)});
  m.add({"net/conv/bias",
         {4},
         kInt32,
         {0.05f, 0.1f, 0.15f, 0.2f},
         {0, 0, 0, 0},
         bytes_of(std::vector<int32_t>{1, -2, 3, -4})});
  m.add(activation("net/act/Relu;net/conv/BiasAdd;net/conv/Conv2D", {1, 3, 3, 4}));
  m.operators = {{kConv2d,
                  {0, 1, 2},
                  {3},
                  options_of(&format::CreateConv2dOptions, format::Padding::Same, 2, 2,
                             format::Activation::Relu, 1, 1, int8_t{0}),
                  3}};
  m.inputs = {0};
  m.outputs = {3};
  return m;
}

ModelSpec depthwise_conv2d_model() {
  ModelSpec m;
  m.add(activation("image", {1, 5, 5, 2}));
  m.add({"kernel", {1, 3, 3, 4}, kInt8, {0.1f, 0.2f, 0.3f, 0.4f}, {0, 0, 0, 0}, ramp(36), 3});
  m.add(activation("depthwise", {1, 3, 3, 4}));
  m.operators = {{kDepthwiseConv2d,
                  {0, 1, -1},
                  {2},
                  options_of(&format::CreateDepthwiseConv2dOptions, format::Padding::Valid, 1, 1, 2,
                             format::Activation::None, 1, 1),
                  3}};
  m.inputs = {0};
  m.outputs = {2};
  return m;
}

ModelSpec fully_connected_model() {
  ModelSpec m;
  m.add(activation("features", {2, 6}));
  m.add({"kernel", {3, 6}, kInt8, {0.25f}, {0}, ramp(18)});
  m.add({"bias", {3}, kInt32, {0.125f}, {0}, bytes_of(std::vector<int32_t>{5, 6, 7})});
  m.add(activation("net/dense/MatMul", {2, 3}));
  m.operators = {{kFullyConnected,
                  {0, 1, 2},
                  {3},
                  options_of(&format::CreateFullyConnectedOptions, format::Activation::None,
                             int8_t{0}, false, false, int8_t{0}),
                  4}};
  m.inputs = {0};
  m.outputs = {3};
  return m;
}

ModelSpec average_pool2d_model() {
  ModelSpec m;
  m.add(activation("image", {1, 4, 4, 3}));
  m.add(activation("pooled", {1, 2, 2, 3}));
  m.operators = {{kAveragePool2d,
                  {0},
                  {1},
                  options_of(&format::CreatePool2dOptions, format::Padding::Valid, 2, 2, 2, 2,
                             format::Activation::None),
                  2}};
  m.inputs = {0};
  m.outputs = {1};
  return m;
}

ModelSpec add_model() {
  ModelSpec m;
  m.add(activation("a", {1, 2, 2, 3}));
  m.add(activation("b", {1, 2, 2, 3}, 0.25f));
  m.add(activation("sum", {1, 2, 2, 3}, 1.0f));
  m.operators = {
      {kAdd, {0, 1}, {2}, options_of(&format::CreateAddOptions, format::Activation::None), 2}};
  m.inputs = {0, 1};
  m.outputs = {2};
  return m;
}

ModelSpec softmax_model() {
  ModelSpec m;
  m.add(activation("logits", {1, 10}));
  m.add(activation("Identity", {1, 10}, 1.0f / 256, -128));
  m.operators = {{kSoftmax, {0}, {1}, options_of(&format::CreateSoftmaxOptions, 1.0f), 2}};
  m.inputs = {0};
  m.outputs = {1};
  return m;
}

ModelSpec reshape_model() {
  ModelSpec m;
  m.add(activation("cube", {1, 2, 3}));
  m.add(integers("shape", {2}, {-1, 6}));
  m.add(activation("net/flatten/Reshape", {1, 6}));
  m.operators = {{kReshape, {0, 1}, {2}}};
  m.inputs = {0};
  m.outputs = {2};
  return m;
}

ModelSpec pad_model() {
  ModelSpec m;
  m.add(activation("image", {1, 3, 3, 1}));
  m.add(integers("amounts", {4, 2}, {0, 0, 1, 1, 1, 1, 0, 0}));
  m.add(activation("padded", {1, 5, 5, 1}));
  m.operators = {{kPad, {0, 1}, {2}, {}, 2}};
  m.inputs = {0};
  m.outputs = {2};
  return m;
}

ModelSpec mean_model() {
  ModelSpec m;
  m.add(activation("image", {1, 4, 4, 3}));
  m.add(integers("axes", {2}, {-2, 1}));
  m.add(activation("average", {1, 3}));
  m.operators = {{kMean, {0, 1}, {2}, options_of(&format::CreateReducerOptions, false), 2}};
  m.inputs = {0};
  m.outputs = {2};
  return m;
}

ModelSpec quantize_model() {
  ModelSpec m;
  m.add({"real", {4}, kFloat32, {}, {}});
  m.add(activation("quantized", {4}));
  m.operators = {{kQuantize, {0}, {1}}};
  m.inputs = {0};
  m.outputs = {1};
  return m;
}

ModelSpec chain_model() {
  ModelSpec m = conv2d_model();
  m.add(integers("shape", {2}, {1, 36}));                                    // 4
  m.add(activation("net/flatten/Reshape", {1, 36}));                         // 5
  m.add({"net/dense/kernel", {3, 36}, kInt8, {0.25f}, {0}, ramp(108)});      // 6
  m.add(activation("net/dense/MatMul", {1, 3}));                             // 7
  m.add(activation("StatefulPartitionedCall:0", {1, 3}, 1.0f / 256, -128));  // 8
  m.add(activation("net/dense/MatMul", {1, 3}));                             // 9
  const auto dense = options_of(&format::CreateFullyConnectedOptions, format::Activation::None,
                                int8_t{0}, false, false, int8_t{0});
  m.operators.push_back({kReshape, {3, 4}, {5}});
  m.operators.push_back({kFullyConnected, {5, 6, -1}, {7}, dense, 4});
  m.operators.push_back({kSoftmax, {7}, {8}, options_of(&format::CreateSoftmaxOptions, 1.0f), 2});
  m.operators.push_back({kFullyConnected, {5, 6, -1}, {9}, dense, 4});
  m.outputs = {8};
  return m;
}

}  // namespace intarsia::test
