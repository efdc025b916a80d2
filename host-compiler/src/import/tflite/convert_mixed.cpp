// Operators of integers that the format's kernels refuse, since one operand is not as they want it: what converters write of layers
// whose weights are computed, and of values that they did not quantise.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "import/tflite/subgraph_reader.h"

namespace intarsia::tflite {

namespace {

using graph::OpKind;

bool has_one_narrow_scale(const graph::Tensor& tensor) {
  return (tensor.type == DataType::Int8 || tensor.type == DataType::Int16) &&
         tensor.quantization.scale.size() == 1;
}

}  // namespace

// A convolution with computed weights that have a zero point, or 16 bits: in floats. True when it is one.
bool SubgraphReader::compose_computed_weights(const OperatorInfo& op, OperatorReader& in) {
  const graph::Tensor x = in.input(0), weights = in.input(1), output = in.output();
  if (in.is_constant(1) || !has_one_narrow_scale(x) || !has_one_narrow_scale(weights) ||
      !has_one_narrow_scale(output) ||
      (weights.type == DataType::Int8 && weights.quantization.zero_point[0] == 0))
    return false;
  Converted converted = op.known->convert(in);
  if (in.has_input(2) && !in.is_constant(2)) in.problem("has a bias that is computed");
  if (!in.clean()) return true;
  const auto real = [&](size_t operand) {
    return put(op, OpKind::Dequantize, graph::NoAttrs{}, {current(op.inputs[operand])},
               {.type = DataType::Float32, .shape = in.input(operand).shape});
  };
  std::vector<int32_t> operands{real(0), real(1)};
  if (in.has_input(2)) {
    const graph::Tensor& bias = in.input(2);
    const double scale = static_cast<double>(x.quantization.scale[0]) *
                         static_cast<double>(weights.quantization.scale[0]);
    std::vector<float> values;
    for (const int64_t value : in.constant_values(2))
      values.push_back(static_cast<float>(static_cast<double>(value) * scale));
    operands.push_back(make({{.name = bias.name, .type = DataType::Float32, .shape = bias.shape},
                             little_endian(values)}));
  }
  const int32_t made = put(op, op.known->kind, converted.attributes, std::move(operands),
                           {.type = DataType::Float32, .shape = output.shape});
  put_last(op, OpKind::Quantize, graph::NoAttrs{}, {made});
  return true;
}

// Integers filled with a float, which becomes the nearest of them. True when they are.
bool SubgraphReader::compose_pad_with_real(const OperatorInfo& op, OperatorReader& in) {
  const graph::Tensor x = in.input(0);
  if (!has_one_narrow_scale(x) || !in.is_constant(2) || in.input(2).type != DataType::Float32 ||
      element_count(in.input(2).shape) != 1)
    return false;
  Converted converted = op.known->convert(in);
  if (!in.clean()) return true;
  float value = 0;
  std::memcpy(&value, bytes(current(op.inputs[2])).data(), sizeof value);
  const double most = x.type == DataType::Int8 ? 127 : 32767;
  const double steps = std::round(static_cast<double>(value / x.quantization.scale[0])) +
                       static_cast<double>(x.quantization.zero_point[0]);
  const auto nearest = static_cast<int32_t>(std::isnan(steps) ? x.quantization.zero_point[0]
                                                              : std::clamp(steps, -most - 1, most));
  MadeConstant filling{x, little_endian(std::vector{nearest})};
  filling.tensor.name = in.input(2).name, filling.tensor.shape = {}, filling.tensor.constant = {};
  filling.bytes.resize(static_cast<size_t>(bits(x.type)) / 8);
  put_last(op, OpKind::PadV2, converted.attributes,
           {current(op.inputs[0]), make(std::move(filling))});
  return true;
}

}  // namespace intarsia::tflite
