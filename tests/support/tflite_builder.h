// Makes .tflite files in memory, valid or wrong in one chosen way. A model is a plain struct of
// tensors and operators to fill in; build() writes it down without looking at what it means.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "import_format/tflite_generated.h"

namespace intarsia::test {

namespace format = intarsia::tflite::format;

// The format's numbers of the element types and operators that tests use.
enum ElementType : int8_t {
  kFloat32 = 0,
  kFloat16 = 1,
  kInt32 = 2,
  kUInt8 = 3,
  kInt64 = 4,
  kInt16 = 7,
  kInt8 = 9,
  kBool = 6,
  kResource = 13,
  kInt4 = 17,
  kInt2 = 19
};
enum Builtin : int32_t {
  kAdd = 0,
  kAveragePool2d = 1,
  kConcatenation = 2,
  kConv2d = 3,
  kDepthwiseConv2d = 4,
  kDequantize = 6,
  kFullyConnected = 9,
  kMaxPool2d = 17,
  kMul = 18,
  kRelu = 19,
  kReluN1To1 = 20,
  kRelu6 = 21,
  kReshape = 22,
  kSoftmax = 25,
  kSvdf = 27,
  kCustom = 32,
  kPad = 34,
  kGather = 36,
  kTranspose = 39,
  kTransposeConv = 67,
  kTopKV2 = 48,
  kOneHot = 85,
  kReverseSequence = 112,
  kBatchMatmul = 126,
  kMean = 40,
  kSub = 41,
  kSplit = 49,
  kMaximum = 55,
  kArgMax = 56,
  kEqual = 71,
  kPack = 83,
  kLogicalAnd = 86,
  kUnpack = 88,
  kSelectV2 = 123,
  kDensify = 124,
  kCumsum = 128,
  kQuantize = 114,
  kIf = 118,
  kWhile = 119,
  kUnique = 103,
  kMatrixDiag = 113,
  kLess = 58,
  kNeg = 59,
  kCall = 31,
  kCallOnce = 129,
  kVarHandle = 142,
  kReadVariable = 143,
  kAssignVariable = 144
};

template <typename T>
std::vector<uint8_t> bytes_of(const std::vector<T>& values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// A dimension of a constant of which not everything is stored: its extent, or the places that are stored, row by row.
struct SparseLevel {
  int32_t extent = 0;
  std::vector<int32_t> segments = {}, places = {};
};
struct SparseSpec {
  std::vector<int32_t> order, blocked;
  std::vector<SparseLevel> levels;
  bool narrow = false;  // numbers of 8 bits
};

// Where scales and zero points by blocks are.
struct BlocksSpec {
  int32_t scales = 0, zero_points = -1, size = 0;
};

struct TensorSpec {
  std::string name;
  std::vector<int32_t> shape;
  int8_t type = kInt8;
  std::vector<float> scale = {0.5f};
  std::vector<int64_t> zero_point = {0};
  std::vector<uint8_t> data = {};  // empty: not a constant
  int32_t axis = 0;
  bool variable = false;
  std::optional<SparseSpec> sparse = {};
  uint8_t quantization_details = 0;       // 1: custom, 2: by blocks
  std::optional<BlocksSpec> blocks = {};  // those of the details
  std::optional<uint32_t> buffer = {};    // instead of the one made for `data`
  uint64_t offset = 0, size = 0;          // of data outside the flatbuffer
  std::vector<int32_t> signature = {};    // -1: an extent that the converter did not know
};

// Makes an operator's options, e.g. from options_of(&format::CreateSoftmaxOptions, 1.0f).
using OptionsMaker = std::function<std::pair<format::Options, flatbuffers::Offset<void>>(
    flatbuffers::FlatBufferBuilder&)>;

template <typename Table, typename... Parameters, typename... Values>
OptionsMaker options_of(flatbuffers::Offset<Table> (*create)(flatbuffers::FlatBufferBuilder&,
                                                             Parameters...),
                        Values... values) {
  return [=](flatbuffers::FlatBufferBuilder& builder) {
    // A copy: the generated constant has no definition that a reference could bind to.
    constexpr format::Options kind = format::OptionsTraits<Table>::enum_value;
    return std::pair(kind, create(builder, values...).Union());
  };
}

struct OperatorSpec {
  int32_t code = 0;
  std::vector<int32_t> inputs, outputs;
  OptionsMaker options = {};
  int32_t version = 1;
  std::string custom_code = {};
  std::optional<uint32_t> opcode_index = {};  // instead of the one made for `code`
  std::vector<uint8_t> custom_options = {};
  std::optional<int32_t> described_by = {};  // the subgraph of a composite
};

struct ModelSpec {
  std::vector<TensorSpec> tensors;
  std::vector<OperatorSpec> operators;
  std::vector<int32_t> inputs, outputs;
  std::vector<ModelSpec> subgraphs;         // after the model: "part1", "part2" ...
  std::vector<std::string> more_subgraphs;  // names; empty subgraphs after those
  std::vector<std::pair<std::string, uint32_t>> signatures;  // names, and their subgraphs
  uint32_t version = 3;
  // Metadata "OfflineMemoryAllocation": for each tensor where it is in its arena, -1 for nowhere.
  std::vector<int32_t> arena_addresses;

  // Adds a tensor and returns its number.
  int32_t add(TensorSpec tensor) {
    tensors.push_back(std::move(tensor));
    return static_cast<int32_t>(tensors.size()) - 1;
  }
};

std::vector<uint8_t> build(const ModelSpec& model);

// Valid models of one operator; operands are the first tensors, the result is the last.
ModelSpec conv2d_model();            // i8[1,5,5,2], 3x3x4, stride 2, SAME, bias, per channel, Relu
ModelSpec depthwise_conv2d_model();  // i8[1,5,5,2], 3x3, multiplier 2, VALID, per channel
ModelSpec fully_connected_model();   // i8[2,6] -> i8[2,3]
ModelSpec average_pool2d_model();    // i8[1,4,4,3], 2x2
ModelSpec add_model();               // i8[1,2,2,3] + i8[1,2,2,3]
ModelSpec softmax_model();           // i8[1,10]
ModelSpec reshape_model();           // i8[1,2,3] -> i8[1,6], asked as [-1,6]
ModelSpec pad_model();               // i8[1,3,3,1] by 1 in height and width
ModelSpec mean_model();              // i8[1,4,4,3] over height and width, given as -2 and 1
ModelSpec quantize_model();          // f32[4] -> i8[4]
// conv2d, reshape, fully_connected, softmax, and one fully_connected that nothing reads.
ModelSpec chain_model();

}  // namespace intarsia::test
