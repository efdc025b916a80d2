// Networks of old converters, whose quantised tensors are bytes without a sign: 0 to 255 where int8 has -128 to 127. They are read
// as int8 with zero points that are 128 less (tflite_tensors.cpp), which most operators compute alike. Here is what they do
// not: kernels for bytes round and scale in ways of their own. Inputs and outputs of the model stay what they are.
#include <algorithm>
#include <array>
#include <cmath>

#include "import/tflite/subgraph_reader.h"
#include "intarsia/plugin/rounded_exp.h"

namespace intarsia::tflite {

namespace {

using graph::OpKind;

constexpr int64_t kSigned = 128;  // what a byte without a sign is more than the int8

// Sums, comparisons and moves of what lies between zero points: the same numbers, 128 apart.
constexpr auto kComputedAlike = std::to_array<int32_t>({
    kADD,
    kARG_MAX,
    kARG_MIN,
    kASSIGN_VARIABLE,
    kBATCH_TO_SPACE_ND,
    kBROADCAST_TO,
    kCONV_2D,
    kDEPTH_TO_SPACE,
    kDEPTHWISE_CONV_2D,
    kDEQUANTIZE,
    kDIV,
    kDYNAMIC_UPDATE_SLICE,
    kEQUAL,
    kEXPAND_DIMS,
    kFULLY_CONNECTED,
    kGATHER,
    kGATHER_ND,
    kGELU,
    kGREATER,
    kGREATER_EQUAL,
    kHARD_SWISH,
    kIF,
    kLEAKY_RELU,
    kLESS,
    kLESS_EQUAL,
    kMAX_POOL_2D,
    kMAXIMUM,
    kMEAN,
    kMINIMUM,
    kMIRROR_PAD,
    kMUL,
    kNOT_EQUAL,
    kPACK,
    kPAD,
    kPADV2,
    kPRELU,
    kQUANTIZE,
    kREAD_VARIABLE,
    kREDUCE_MAX,
    kREDUCE_MIN,
    kRELU,
    kRELU6,
    kRELU_N1_TO_1,
    kRESHAPE,
    kRESIZE_NEAREST_NEIGHBOR,
    kREVERSE_V2,
    kSELECT,
    kSELECT_V2,
    kSHAPE,
    kSLICE,
    kSPACE_TO_BATCH_ND,
    kSPACE_TO_DEPTH,
    kSPLIT,
    kSPLIT_V,
    kSQUEEZE,
    kSTRIDED_SLICE,
    kSUB,
    kSUM,
    kTILE,
    kTOPK_V2,
    kTRANSPOSE,
    kTRANSPOSE_CONV,
    kUNPACK,
    kWHILE,
});

graph::Tensor as_unsigned(graph::Tensor tensor) {
  tensor.type = DataType::UInt8;
  for (int64_t& zero : tensor.quantization.zero_point) zero += kSigned;
  tensor.constant = {};
  tensor.variable = false;
  return tensor;
}

graph::Tensor plain(DataType type, Shape shape) {
  return {.type = type, .shape = std::move(shape)};
}

// Whether each window has an odd number of elements: then no average lies in the middle between two numbers.
bool has_odd_windows(const graph::Pool2dAttrs& a) {
  return a.filter_h % 2 == 1 && a.filter_w % 2 == 1 && a.padding == graph::Padding2d{};
}

}  // namespace

void SubgraphReader::make_edges_signed() {
  for (const int32_t id : values(subgraph_.inputs())) {
    if (handles_.contains(id) || !tensors_.is_made_signed(id) || edges_.contains(id) ||
        given_.contains(id))
      continue;
    const std::string name = tensor(id).name;
    edges_[id] = make({as_unsigned(tensor(id)), {}});
    tensors_.rename(id, name + "_signed");
    Draft draft;
    draft.node.kind = OpKind::Quantize;
    draft.node.name = unique_name("make_signed");
    draft.node.attributes = graph::NoAttrs{};
    draft.inputs = {edges_[id]};
    draft.outputs = {id};
    drafts_.push_back(std::move(draft));
  }
}

// What a function gives for a tensor of the file; the model itself gives bytes as the file has them.
int32_t SubgraphReader::edge_output(int32_t id) {
  const int32_t inside = current(id);
  if (!is_model_ || !tensors_.is_made_signed(id)) return inside;
  graph::Tensor edge = as_unsigned(tensor(id));
  edge.name = printable(tensors_.name(id));
  tensors_.rename(id, edge.name + "_signed");
  Draft draft;
  draft.node.kind = OpKind::Quantize;
  draft.node.name = unique_name("make_unsigned");
  draft.node.attributes = graph::NoAttrs{};
  draft.inputs = {inside};
  draft.outputs = {make({std::move(edge), {}})};
  drafts_.push_back(std::move(draft));
  return drafts_.back().outputs[0];
}

// Old weights have any zero point; what they are less it has 9 bits. LiteRT multiplies a convolution's scale of weights and that of its
// input in single precision, and those of int8 and of fully connected layers in double precision.
void SubgraphReader::centre_weights(const OperatorInfo& op) {
  const Operands operands = op.known->operands;
  if (operands != Operands::Weighted && operands != Operands::WeightsByChannel) return;
  if (op.inputs.size() < 2 || op.inputs[1] < 0 || !tensors_.is_made_signed(op.inputs[1])) return;
  if (tensors_.get_values(op.inputs[1], "read by " + op.label()) != nullptr)
    tensors_.centre_weights(op.inputs[1], op.known->kind != OpKind::FullyConnected);
}

// The bytes without a sign that `id` stands for.
int32_t SubgraphReader::as_bytes(const OperatorInfo& op, int32_t id) {
  const int32_t from = current(id);
  if (!tensors_.is_made_signed(id)) return from;
  return put(op, OpKind::Quantize, graph::NoAttrs{}, {from}, as_unsigned(tensor(id)));
}

// An operator that makes bytes without a sign, and their int8.
void SubgraphReader::put_bytes(const OperatorInfo& op, OpKind kind, std::vector<int32_t> inputs) {
  const int32_t bytes =
      put(op, kind, graph::NoAttrs{}, std::move(inputs), as_unsigned(tensor(op.outputs[0])));
  put_last(op, OpKind::Quantize, graph::NoAttrs{}, {bytes});
}

int32_t SubgraphReader::looked_up(const OperatorInfo& op, int32_t from,
                                  std::vector<int64_t> results, graph::Tensor result) {
  return put(op, OpKind::Lookup, graph::LookupAttrs{std::move(results)}, {from}, std::move(result));
}

// A function of one element, computed in floats; a later pass makes the table of it.
void SubgraphReader::tabulate_unsigned(const OperatorInfo& op, OpKind function) {
  const Shape shape = tensor(op.inputs[0]).shape;
  const int32_t real = put(op, OpKind::Dequantize, graph::NoAttrs{}, {current(op.inputs[0])},
                           plain(DataType::Float32, shape));
  const int32_t result =
      put(op, function, graph::NoAttrs{}, {real}, plain(DataType::Float32, shape));
  put_last(op, OpKind::Quantize, graph::NoAttrs{}, {result});
}

// Ties are rounded up; averages of int8 round them away from zero, which is the same for the numbers that bytes without a sign are.
void SubgraphReader::average_unsigned(const OperatorInfo& op, OperatorReader& in) {
  const Converted converted = op.known->convert(in);
  if (!in.clean()) return;
  const auto& pool = std::get<graph::Pool2dAttrs>(converted.attributes);
  if (has_odd_windows(pool))
    return put_last(op, OpKind::AveragePool2d, pool, {current(op.inputs[0])});
  graph::Tensor from = as_unsigned(tensor(op.inputs[0])), to = as_unsigned(tensor(op.outputs[0]));
  from.type = to.type = DataType::Int16;
  std::vector<int64_t> bytes(256);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<int64_t>(i);
  const int32_t wide = looked_up(op, current(op.inputs[0]), std::move(bytes), std::move(from));
  const int32_t average = put(op, OpKind::AveragePool2d, pool, {wide}, std::move(to));
  put_last(op, OpKind::Quantize, graph::NoAttrs{}, {average});
}

// Operands of other scales than the result's are rescaled, in floats as LiteRT does it.
void SubgraphReader::concatenate_unsigned(const OperatorInfo& op, OperatorReader& in) {
  const Converted converted = op.known->convert(in);
  if (!in.clean()) return;
  const graph::Tensor output = tensor(op.outputs[0]);
  std::vector<int32_t> operands;
  for (const int32_t id : op.inputs) {
    const graph::Tensor from = tensor(id);
    operands.push_back(current(id));
    if (!from.quantization.present() || from.quantization == output.quantization) continue;
    const float scale = from.quantization.scale[0] * (1.0f / output.quantization.scale[0]);
    const float bias = -static_cast<float>(from.quantization.zero_point[0] + kSigned) * scale;
    std::vector<int64_t> results(256);
    for (size_t byte = 0; byte < results.size(); ++byte) {
      const float product = static_cast<float>(byte) * scale;
      const auto steps = static_cast<int64_t>(std::round(product + bias));
      results[byte] =
          std::clamp<int64_t>(steps + output.quantization.zero_point[0], -kSigned, kSigned - 1);
    }
    graph::Tensor rescaled = output;
    rescaled.shape = from.shape;
    operands.back() = looked_up(op, operands.back(), std::move(results), std::move(rescaled));
  }
  put_last(op, OpKind::Concat, converted.attributes, std::move(operands));
}

// In floats: the powers of e are a table by the distance from the largest element.
void SubgraphReader::softmax_unsigned(const OperatorInfo& op, OperatorReader& in) {
  const Converted converted = op.known->convert(in);
  if (!in.clean()) return;
  const float beta = std::get<graph::SoftmaxAttrs>(converted.attributes).beta;
  const graph::Tensor input = tensor(op.inputs[0]), output = tensor(op.outputs[0]);
  if (input.shape.empty()) return in.problem("needs an axis to sum along");
  const float scale = -input.quantization.scale[0] * beta;
  std::vector<float> powers(256);
  for (size_t distance = 0; distance < powers.size(); ++distance)
    powers[distance] = graph::rounded_exp(scale * static_cast<float>(distance));
  const auto axis = static_cast<int64_t>(input.shape.size()) - 1;
  Shape one = input.shape;
  one.back() = 1;
  graph::Tensor most = input;
  most.shape = one;
  most.constant = {};
  const int32_t x = current(op.inputs[0]);
  const int32_t largest = put(op, OpKind::ReduceMax, graph::ReduceAttrs{{axis}, true}, {x}, most);
  const auto whole = [&](int32_t id, const Shape& shape) {
    return put(op, OpKind::Cast, graph::NoAttrs{}, {id}, plain(DataType::Int32, shape));
  };
  const auto real = [&](OpKind kind, int32_t a, int32_t b, const Shape& shape) {
    return put(op, kind, graph::BinaryAttrs{}, {a, b}, plain(DataType::Float32, shape));
  };
  const auto number = [&](const char* name, float value) {
    return make(real_constant(name, {1}, {value}));
  };
  const int32_t distance =
      put(op, OpKind::Sub, graph::BinaryAttrs{}, {whole(largest, one), whole(x, input.shape)},
          plain(DataType::Int32, input.shape));
  const int32_t power = put(op, OpKind::Gather, graph::GatherAttrs{0, 0},
                            {make(real_constant("powers", {256}, powers)), distance},
                            plain(DataType::Float32, input.shape));
  const int32_t sum = put(op, OpKind::Sum, graph::ReduceAttrs{{axis}, true}, {power},
                          plain(DataType::Float32, one));
  const int32_t steps = real(OpKind::Mul, sum, number("step", output.quantization.scale[0]), one);
  const int32_t factor = real(OpKind::Div, number("whole", 1), steps, one);
  const int32_t part = real(OpKind::Mul, power, factor, input.shape);
  put_bytes(op, OpKind::Cast, {real(OpKind::Add, part, number("half", 0.5f), input.shape)});
}

// In floats, from the numbers that the bytes are.
void SubgraphReader::resize_unsigned(const OperatorInfo& op, OperatorReader& in) {
  const Converted converted = op.known->convert(in);
  if (!in.clean()) return;
  const Shape from = tensor(op.inputs[0]).shape, to = tensor(op.outputs[0]).shape;
  const int32_t real = put(op, OpKind::Cast, graph::NoAttrs{}, {as_bytes(op, op.inputs[0])},
                           plain(DataType::Float32, from));
  const int32_t resized =
      put(op, OpKind::ResizeBilinear, converted.attributes, {real}, plain(DataType::Float32, to));
  const int32_t half = make(real_constant("half", {1}, {0.5f}));
  put_bytes(
      op, OpKind::Cast,
      {put(op, OpKind::Add, graph::BinaryAttrs{}, {resized, half}, plain(DataType::Float32, to))});
}

// Boxes and scores of bytes without a sign, and the anchors that belong to them, are floats from here on.
void SubgraphReader::detect_in_floats(const OperatorInfo& op, Draft& draft) {
  for (int32_t& id : draft.inputs) {
    if (tensor(id).type != DataType::Int8) continue;
    id = bytes(id).empty() ? put(op, OpKind::Dequantize, graph::NoAttrs{}, {id},
                                 plain(DataType::Float32, tensor(id).shape))
                           : widened(id);
  }
}

bool SubgraphReader::convert_unsigned(const OperatorInfo& op, OperatorReader& in) {
  const auto is_signed_now = [&](int32_t id) { return id >= 0 && tensors_.is_made_signed(id); };
  const bool makes = std::ranges::any_of(op.outputs, is_signed_now);
  if (!makes && std::ranges::none_of(op.inputs, is_signed_now)) return false;
  const bool takes = is_signed_now(op.inputs.empty() ? -1 : op.inputs[0]);
  // What these make of a byte follows from the scales on both sides; operands of CONCATENATION that have none stay as they are.
  constexpr std::array kOfScales = {kLOGISTIC,      kTANH,    kAVERAGE_POOL_2D,
                                    kCONCATENATION, kSOFTMAX, kRESIZE_BILINEAR};
  const auto has_scale = [&](std::span<const int32_t> ids) {
    return !ids.empty() && ids[0] >= 0 && tensor(ids[0]).quantization.present();
  };
  if (std::ranges::find(kOfScales, op.code) != kOfScales.end() &&
      (!has_scale(op.outputs) || (op.code != kCONCATENATION && !has_scale(op.inputs))))
    return in.problem("computes on u8 and has an input or output without a scale"), true;
  switch (op.code) {
    case kLOGISTIC:
      return tabulate_unsigned(op, OpKind::Logistic), true;
    case kTANH:
      return tabulate_unsigned(op, OpKind::Tanh), true;
    case kAVERAGE_POOL_2D:
      return average_unsigned(op, in), true;
    case kCONCATENATION:
      return concatenate_unsigned(op, in), true;
    case kSOFTMAX:
      return softmax_unsigned(op, in), true;
    case kRESIZE_BILINEAR:
      return resize_unsigned(op, in), true;
    case kCAST:
      if (makes) return put_bytes(op, OpKind::Cast, {as_bytes(op, op.inputs[0])}), true;
      return put_last(op, OpKind::Cast, graph::NoAttrs{}, {as_bytes(op, op.inputs[0])}), true;
    default:
      break;
  }
  const bool is_alike = std::ranges::find(kComputedAlike, op.code) != kComputedAlike.end();
  const bool is_detection = op.known->kind == OpKind::DetectBoxes;
  if (!is_alike && !is_detection)
    in.problem("is not computed on u8, the quantisation of old converters",
               "convert the model again with int8 quantisation");
  else if (!takes && in.is_hybrid())
    in.problem("mixes float activations with u8 weights",
               "convert the model again with int8 quantisation");
  return !in.clean();
}

}  // namespace intarsia::tflite
