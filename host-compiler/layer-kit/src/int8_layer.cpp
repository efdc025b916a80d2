#include "int8_layer.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "intarsia/plugin/quantization.h"

namespace intarsia::layers {
namespace {

using graph::OpKind;

bool has_weights(OpKind kind) {
  return kind == OpKind::Conv2d || kind == OpKind::DepthwiseConv2d ||
         kind == OpKind::FullyConnected;
}

// Only chosen from, or divided by how many there are: no scale enters.
bool keeps_quantisation(OpKind kind) {
  return kind == OpKind::MaxPool2d || kind == OpKind::AveragePool2d || kind == OpKind::Minimum ||
         kind == OpKind::Maximum || kind == OpKind::Relu;
}

Reason refuses_type(const graph::Tensor& tensor, DataType type) {
  if (tensor.type == type) return std::nullopt;
  return fmt::format("'{}' is {}; a layer of int8 has {} there", tensor.name,
                     to_string(tensor.type), to_string(type));
}

// That they are symmetric is verified before.
Reason refuses_weights(const graph::Tensor& weights) {
  if (Reason reason = refuses_type(weights, DataType::Int8)) return reason;
  if (weights.quantization.present()) return std::nullopt;
  return fmt::format("the weights '{}' have no scale", weights.name);
}

Reason refuses_numbers(const graph::Tensor& tensor) {
  if (Reason reason = refuses_type(tensor, DataType::Int8)) return reason;
  if (!tensor.quantization.present()) return fmt::format("'{}' has no scale", tensor.name);
  if (tensor.quantization.per_channel())
    return fmt::format("'{}' has a scale for each channel, and only weights may", tensor.name);
  return std::nullopt;
}

int32_t float_word(float value) {
  return std::bit_cast<int32_t>(value);
}

}  // namespace

int32_t largest_steps(OpKind kind) {
  const bool chooses = kind == OpKind::MaxPool2d || kind == OpKind::Minimum ||
                       kind == OpKind::Maximum || kind == OpKind::Relu;
  return chooses ? 0 : 1;
}

Reason refuses_int8_operands(const graph::Function& function, const graph::Node& node) {
  const graph::Tensor& result = function.tensor(node.outputs[0]);
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!node.inputs[i].valid()) continue;
    const graph::Tensor& operand = function.tensor(node.inputs[i]);
    const bool is_number = i == 0 || !has_weights(node.kind);
    if (Reason reason = is_number ? refuses_numbers(operand)
                        : i == 1  ? refuses_weights(operand)
                                  : refuses_type(operand, DataType::Int32))
      return reason;
    if (keeps_quantisation(node.kind) && operand.quantization != result.quantization)
      return fmt::format("'{}' and '{}' differ in quantisation", operand.name, result.name);
  }
  return refuses_numbers(result);
}

void set_quantisation(const graph::Function& function, LayerOfNodes& made) {
  Layer& layer = made.layer;
  const auto set = [&](Operand operand, int32_t& scale, int32_t& zero_point) {
    if (!made.operand(operand).valid()) return;
    const graph::Quantization& from = function.tensor(made.operand(operand)).quantization;
    scale = float_word(from.scale[0]);
    zero_point = from.zero_point.empty() ? 0 : static_cast<int32_t>(from.zero_point[0]);
  };
  layer.type = static_cast<int32_t>(Type::of_int8);
  set(Operand::source, layer.source_scale, layer.source_zero_point);
  set(Operand::addend, layer.addend_scale, layer.addend_zero_point);
  set(Operand::result, layer.result_scale, layer.result_zero_point);
  if (!made.operand(Operand::weights).valid()) return;
  made.weight_scales = function.tensor(made.operand(Operand::weights)).quantization.scale;
  layer.weight_scales = static_cast<int32_t>(made.weight_scales.size());
  layer.operands |= 1u << static_cast<int32_t>(Operand::scales);
}

UnaryFunction int8_function_of(graph::Activation activation, const graph::Tensor& result) {
  const float scale = result.quantization.scale[0];
  const int64_t zero_point =
      result.quantization.zero_point.empty() ? 0 : result.quantization.zero_point[0];
  const operators::Range all = operators::type_range(result.type);
  const operators::Range range =
      operators::activation_range(activation, result.type, static_cast<double>(scale), zero_point);
  if (range.low <= all.low && range.high >= all.high) return {};
  const auto number = [&](int64_t step) { return scale * static_cast<float>(step - zero_point); };
  return {Function::of_clip, number(range.low), number(range.high)};
}

}  // namespace intarsia::layers
