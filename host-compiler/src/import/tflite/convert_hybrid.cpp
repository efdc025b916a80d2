// Float activations that meet integer weights ("dynamic range" models): the input is quantised row by row as the model
// runs, or, where the user asks for it, the weights are floats from now on.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "import/tflite/subgraph_reader.h"

namespace intarsia::tflite {

namespace {

using graph::OpKind;

// From one index along the axis to the next.
int64_t elements_behind(const Shape& shape, int64_t axis) {
  int64_t count = 1;
  for (size_t i = static_cast<size_t>(axis) + 1; i < shape.size(); ++i) count *= shape[i];
  return count;
}

// scale * (value - zero point), with those of the tensor or of each index along its axis.
std::vector<uint8_t> real_values(const graph::Tensor& tensor, std::span<const uint8_t> bytes) {
  const graph::Quantization& q = tensor.quantization;
  const std::vector<int8_t> values = unpacked(tensor, bytes);
  const auto inner = static_cast<size_t>(elements_behind(tensor.shape, q.axis));
  std::vector<uint8_t> result(values.size() * sizeof(float));
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t channel = q.per_channel() ? i / inner % q.scale.size() : 0;
    const int value = tensor.type == DataType::UInt8 ? static_cast<uint8_t>(values[i]) : values[i];
    const float real = q.scale[channel] * static_cast<float>(value - q.zero_point[channel]);
    std::memcpy(&result[i * sizeof real], &real, sizeof real);
  }
  return result;
}

OpKind hybrid(OpKind kind) {
  if (kind == OpKind::Conv2d) return OpKind::HybridConv2d;
  if (kind == OpKind::DepthwiseConv2d) return OpKind::HybridDepthwiseConv2d;
  INTARSIA_CHECK(kind == OpKind::FullyConnected, "the operator has a hybrid form");
  return OpKind::HybridFullyConnected;
}

}  // namespace

// The constant as floats, once for all who read it.
int32_t SubgraphReader::widened(int32_t weights) {
  if (const auto found = widened_.find(weights); found != widened_.end()) return found->second;
  graph::Tensor real = tensor(weights);
  std::vector<uint8_t> values = real_values(real, bytes(weights));
  real.type = DataType::Float32;
  real.quantization = {};
  return widened_[weights] = make({std::move(real), std::move(values)});
}

// What was float16 is widened already. Integers of one scale stay, being smaller, unless the user wants floats.
bool SubgraphReader::dequantize_constant(const OperatorInfo& op, OperatorReader& in) {
  const graph::Tensor& input = in.input(0);
  const bool is_real = input.type == DataType::Float32;
  const bool is_byte = input.type == DataType::Int8 || input.type == DataType::UInt8;
  const bool is_read_here = (is_byte || input.type == DataType::Int4) &&
                            input.quantization.present() &&
                            (input.quantization.per_channel() || input.type == DataType::Int4 ||
                             model_.options().widen_weights);
  if (!is_real && !is_read_here) return false;
  in.decide_shape(input.shape);
  if (!in.clean()) return true;
  if (is_real)
    is_same(op);
  else
    hold(op, real_values(input, bytes(op.inputs[0])));
  return true;
}

// Weights that training has rounded, which the converter leaves as an operator on a constant where it is not to optimise:
// LiteRT's quotient in floats, rounded half away from zero.
bool SubgraphReader::quantize_constant(const OperatorInfo& op, OperatorReader& in) {
  const graph::Tensor &input = in.input(0), output = in.output();
  const bool is_signed = output.type == DataType::Int8;
  if (input.type != DataType::Float32 || (!is_signed && output.type != DataType::UInt8) ||
      !output.quantization.per_channel())
    return false;
  in.decide_shape(input.shape);
  if (!in.clean()) return true;
  const graph::Quantization& q = output.quantization;
  const int64_t inner = elements_behind(input.shape, q.axis);
  const std::span<const uint8_t> reals = bytes(op.inputs[0]);
  std::vector<uint8_t> result(static_cast<size_t>(element_count(input.shape)));
  for (size_t i = 0; i < result.size(); ++i) {
    float real = 0;
    std::memcpy(&real, &reals[i * sizeof real], sizeof real);
    const size_t channel = i / static_cast<size_t>(inner) % q.scale.size();
    const float steps =
        std::round(real / q.scale[channel]) + static_cast<float>(q.zero_point[channel]);
    const float lowest = is_signed ? -128.0f : 0.0f;
    result[i] = static_cast<uint8_t>(
        std::isnan(steps) ? 0 : static_cast<int>(std::clamp(steps, lowest, lowest + 255)));
  }
  hold(op, std::move(result));
  return true;
}

// Rows of a table of integers, as floats.
void SubgraphReader::compose_embedding(const OperatorInfo& op, OperatorReader& in) {
  const graph::Tensor table = in.input(1);
  const int32_t rows = current(op.inputs[0]), values = op.inputs[1];
  if (table.quantization.per_channel() || model_.options().widen_weights)
    return put_last(op, OpKind::Gather, graph::GatherAttrs{}, {widened(values), rows});
  graph::Tensor row = in.output();
  row.type = table.type;
  row.quantization = table.quantization;
  const int32_t found = put(op, OpKind::Gather, graph::GatherAttrs{}, {values, rows}, row);
  put_last(op, OpKind::Dequantize, graph::NoAttrs{}, {found});
}

// The matrix [I,O] of a product as the weights [O,I] of a layer.
int32_t SubgraphReader::transposed(int32_t weights) {
  graph::Tensor turned = tensor(weights);
  const std::vector<int8_t> values = unpacked(turned, bytes(weights));
  std::swap(turned.shape[0], turned.shape[1]);
  turned.type = DataType::Int8;
  turned.quantization.axis = turned.quantization.per_channel() ? 1 - turned.quantization.axis : 0;
  const auto rows = static_cast<size_t>(turned.shape[0]), columns = values.size() / rows;
  std::vector<uint8_t> result(values.size());
  for (size_t row = 0; row < rows; ++row)
    for (size_t column = 0; column < columns; ++column)
      result[row * columns + column] = static_cast<uint8_t>(values[column * rows + row]);
  return make({std::move(turned), std::move(result)});
}

// The integers of the tensor's rows, their scales and zero points, once for all who read it.
std::array<int32_t, 3> SubgraphReader::quantised_rows(const std::string& reader, int32_t id,
                                                      int64_t rows, bool asymmetric) {
  const auto [at, is_new] = quantised_rows_.try_emplace({id, rows, asymmetric});
  if (!is_new) return at->second;
  const std::string name = tensor(id).name;
  const Shape shape = tensor(id).shape;
  Draft draft;
  draft.node.kind = OpKind::QuantizeRows;
  draft.node.name = unique_name(reader + "_rows");
  draft.node.attributes = graph::QuantizeRowsAttrs{rows, asymmetric};
  draft.inputs = {id};
  const auto made = [&](const char* what, DataType type, const Shape& extents) {
    draft.outputs.push_back(make({{.name = name + what, .type = type, .shape = extents}, {}}));
    return draft.outputs.back();
  };
  at->second = {made("_values", DataType::Int8, shape), made("_scales", DataType::Float32, {rows}),
                made("_zero_points", DataType::Int32, {rows})};
  drafts_.push_back(std::move(draft));
  return at->second;
}

// By several constant matrices: rows of integers and the weights as the whole numbers that they are, whose sums floats hold, times both scales.
void SubgraphReader::compose_hybrid_matrices(const OperatorInfo& op, const Draft& draft,
                                             bool asymmetric) {
  const graph::Tensor weights = tensor(draft.inputs[1]);
  const Shape shape = tensor(draft.inputs[0]).shape, product = tensor(op.outputs[0]).shape;
  const int64_t rows = element_count(shape) / shape.back();
  const auto [values, scales, zero_points] =
      quantised_rows(draft.node.name, draft.inputs[0], rows, asymmetric);
  Shape column = shape;
  column.back() = 1;
  const auto real = [&](const Shape& of) {
    return graph::Tensor{.name = draft.node.name, .type = DataType::Float32, .shape = of};
  };
  const auto in_rows = [&](int32_t id) {
    return put(op, OpKind::Reshape, graph::ReshapeAttrs{column}, {id}, real(column));
  };
  int32_t whole = put(op, OpKind::Cast, graph::NoAttrs{}, {values}, real(shape));
  if (asymmetric) {
    const int32_t zeros = put(op, OpKind::Cast, graph::NoAttrs{}, {zero_points}, real({rows}));
    whole = put(op, OpKind::Sub, graph::BinaryAttrs{}, {whole, in_rows(zeros)}, real(shape));
  }
  std::vector<float> numbers;
  for (const int8_t value : unpacked(weights, bytes(draft.inputs[1])))
    numbers.push_back(static_cast<float>(value - weights.quantization.zero_point[0]));
  graph::Tensor known = real(weights.shape);
  known.name = weights.name;
  const int32_t sums =
      put(op, OpKind::BatchMatmul, draft.node.attributes,
          {whole, make({std::move(known), little_endian(numbers)})}, real(product));
  const int32_t scale =
      put(op, OpKind::Mul, graph::BinaryAttrs{},
          {in_rows(scales),
           make({real({}), little_endian(std::vector{weights.quantization.scale[0]})})},
          real(column));
  put_last(op, OpKind::Mul, graph::BinaryAttrs{}, {sums, scale});
}

bool SubgraphReader::convert_hybrid(const OperatorInfo& op, Draft& draft, bool asymmetric) {
  if (model_.options().widen_weights) {
    for (int32_t& id : draft.inputs)
      if (id >= 0 && !bytes(id).empty() && tensor(id).quantization.present()) id = widened(id);
    return false;
  }
  if (draft.node.kind == OpKind::TransposeConv2d)
    return compose_hybrid_transposed(op, draft, asymmetric), true;
  if (draft.node.kind == OpKind::Svdf) return compose_hybrid_svdf(op, draft, asymmetric), true;
  if (draft.node.kind == OpKind::BatchMatmul && tensor(draft.inputs[1]).shape.size() > 2) {
    // What is no product of matrices is refused as the operator that it is.
    const Shape& shape = tensor(draft.inputs[0]).shape;
    if (shape.size() < 2 || shape.back() < 1) return false;
    return compose_hybrid_matrices(op, draft, asymmetric), true;
  }
  if (draft.node.kind == OpKind::BatchMatmul) {
    if (!draft.node.attrs<graph::BatchMatmulAttrs>().transpose_b)
      draft.inputs[1] = transposed(draft.inputs[1]);
    draft.node.kind = OpKind::FullyConnected;
    draft.node.attributes = graph::FullyConnectedAttrs{.keep_dims = true};
  }
  const graph::Tensor& input = tensor(draft.inputs[0]);
  // As the operator sees its input: images, or rows of the weights' length.
  const int64_t rows = draft.node.kind == OpKind::FullyConnected
                           ? element_count(input.shape) / tensor(draft.inputs[1]).shape.back()
                           : input.shape[0];
  const auto [values, scales, zero_points] =
      quantised_rows(draft.node.name, draft.inputs[0], rows, asymmetric);
  draft.node.kind = hybrid(draft.node.kind);
  draft.inputs.resize(3, -1);
  draft.inputs[0] = values;
  draft.inputs.insert(draft.inputs.end(), {scales, zero_points});
  return false;
}

}  // namespace intarsia::tflite
