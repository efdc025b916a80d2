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

// Whether it is a number on a scale.
bool has_scale(const graph::Tensor& tensor) {
  return is_integer(tensor.type) && tensor.quantization.scale.size() == 1;
}

}  // namespace

int32_t SubgraphReader::as_reals(const OperatorInfo& op, OperatorReader& in, size_t operand) {
  const graph::Tensor given = in.input(operand);
  if (!has_scale(given)) return current(op.inputs[operand]);
  return put(op, OpKind::Dequantize, graph::NoAttrs{}, {current(op.inputs[operand])},
             {.type = DataType::Float32, .shape = given.shape});
}

void SubgraphReader::put_quantised(const OperatorInfo& op, graph::Attributes attributes,
                                   std::vector<int32_t> reals, const Shape& shape) {
  const int32_t made = put(op, op.known->kind, std::move(attributes), std::move(reals),
                           {.type = DataType::Float32, .shape = shape});
  put_last(op, OpKind::Quantize, graph::NoAttrs{}, {made});
}

// Integers beside floats, as the converter leaves them where it has no int16 for an operator: no interpreter runs these files, but all operands
// say which numbers they stand for. `first`: the first operand that is a number. True when it is one.
bool SubgraphReader::compose_beside_reals(const OperatorInfo& op, OperatorReader& in,
                                          size_t first) {
  const graph::Tensor output = in.output();
  bool has_integers = has_scale(output), has_reals = output.type == DataType::Float32;
  for (size_t i = first; i < op.inputs.size(); ++i) {
    has_integers |= has_scale(in.input(i));
    has_reals |= in.input(i).type == DataType::Float32;
  }
  if (!has_integers || !has_reals) return false;
  Converted converted{graph::NoAttrs{}};
  if (op.known->convert != nullptr) converted = op.known->convert(in);
  if (!in.clean()) return true;
  std::vector<int32_t> operands;
  for (size_t i = 0; i < op.inputs.size(); ++i)
    operands.push_back(i < first ? current(op.inputs[i]) : as_reals(op, in, i));
  if (!has_scale(output))
    return put_last(op, op.known->kind, converted.attributes, std::move(operands)), true;
  put_quantised(op, converted.attributes, std::move(operands), output.shape);
  return true;
}

// A square of int16 that only a QUANTIZE reads is a product on the scale that this one asks for. True when it is done with.
bool SubgraphReader::compose_square(const OperatorInfo& op, OperatorReader& in) {
  const graph::Tensor x = in.input(0);
  const OperatorInfo* reader = nullptr;
  size_t readers = is_result(op.outputs[0]) ? 1 : 0;
  for (const OperatorInfo& other : *model_.subgraph(signature_.subgraph).operators)
    if (std::ranges::find(other.inputs, op.outputs[0]) != other.inputs.end())
      reader = &other, ++readers;
  if (readers == 1 && reader != nullptr && reader->code == kQUANTIZE && x.type == DataType::Int16 &&
      has_scale(x) && in.output().type == DataType::Float32) {
    const graph::Tensor* result = tensors_.get(reader->outputs[0], "written by " + reader->label());
    if (result == nullptr) return true;
    if (result->type == DataType::Int16 && has_scale(*result)) {
      const int32_t operand = current(op.inputs[0]);
      graph::Tensor product{.type = DataType::Int16, .shape = in.output().shape};
      product.quantization = result->quantization;
      const int32_t made =
          put(op, OpKind::Mul, graph::BinaryAttrs{}, {operand, operand}, std::move(product));
      put_last(op, OpKind::Dequantize, graph::NoAttrs{}, {made});
      return true;
    }
  }
  return compose_beside_reals(op, in, 0);
}

// Of narrow integers without a scale, and of int16 on one scale, the integers say it; of int16 on two scales the numbers that they stand
// for, where LiteRT's kernel compares the integers. True when it is done with.
bool SubgraphReader::compose_comparison(const OperatorInfo& op, OperatorReader& in) {
  const graph::Tensor a = in.input(0), b = in.input(1);
  if (compose_beside_reals(op, in, 0)) return true;
  const bool on_scales = a.quantization.present() || b.quantization.present();
  if (a.type != b.type || !is_integer(a.type) || bits(a.type) > 16 ||
      (on_scales && (a.type != DataType::Int16 || !has_scale(a) || !has_scale(b))))
    return false;
  const auto comparable = [&](size_t operand) {
    if (on_scales && a.quantization != b.quantization) return as_reals(op, in, operand);
    return put(op, OpKind::Cast, graph::NoAttrs{}, {current(op.inputs[operand])},
               {.type = DataType::Int32, .shape = in.input(operand).shape});
  };
  const int32_t first = comparable(0);
  put_last(op, op.known->kind, graph::NoAttrs{}, {first, comparable(1)});
  return true;
}

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
  std::vector<int32_t> operands{as_reals(op, in, 0), as_reals(op, in, 1)};
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
  put_quantised(op, converted.attributes, std::move(operands), output.shape);
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
