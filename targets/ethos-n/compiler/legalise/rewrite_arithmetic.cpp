// Sums, differences and products as depthwise convolutions of one tap: of a constant, whose every element is a channel's,
// or one of all; and a difference as the sum with what the other operand is when it is turned round.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "legalise/rewrites.h"
#include "legalise/rewriting_builder.h"

namespace intarsia::targets::ethos_n {
namespace {

using graph::OpKind;
using graph::TensorId;

constexpr int64_t kMostChannels = 4096;  // of elements that each have a constant of their own
constexpr int8_t kUnit =
    64;  // the weight of an operand whose sum is taken: the bias counts in 64ths of it
constexpr float kMostRatio =
    16;  // of its scale to the result's, for which a 128th of it does not show
constexpr double kMostBias = 1 << 30;

std::vector<uint8_t> bytes_of(const std::vector<int32_t>& values) {
  std::vector<uint8_t> bytes(4 * values.size());
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

TensorId one_tap(RewritingBuilder& make, TensorId input, TensorId weights,
                 const std::vector<int32_t>& biases, TensorId output,
                 graph::Activation activation) {
  const TensorId bias =
      make.constant(DataType::Int32, {static_cast<int64_t>(biases.size())}, {}, bytes_of(biases));
  graph::DepthwiseConv2dAttrs attributes;
  attributes.activation = activation;
  make.node(OpKind::DepthwiseConv2d, attributes, {input, weights, bias}, {output});
  return output;
}

int64_t element(const graph::Tensor& tensor, const std::vector<uint8_t>& bytes, size_t i) {
  return tensor.type == DataType::Int8 ? static_cast<int8_t>(bytes[i]) : bytes[i];
}

// With operand `at` constant.
std::optional<Rewriting> with_constant(const graph::Module& module, const graph::Function& function,
                                       const graph::Node& node, size_t at) {
  const graph::Tensor& constant = function.tensor(node.inputs[at]);
  const graph::Tensor& input = function.tensor(node.inputs[1 - at]);
  const graph::Tensor& output = function.tensor(node.outputs[0]);
  if (constant.type != DataType::Int8 || constant.quantization.scale.size() != 1)
    return std::nullopt;
  const int64_t elements = element_count(output.shape), count = element_count(constant.shape);
  if (element_count(input.shape) != elements || elements == 0) return std::nullopt;
  // One for all, one for each channel, or one for each element.
  const int64_t last = output.shape.empty() ? 1 : output.shape.back();
  const bool is_of_channels =
      count == last && (constant.shape.empty() || constant.shape.back() == last);
  const int64_t channels = count == 1 || is_of_channels ? last : count;
  if (count != 1 && !is_of_channels && (count != elements || channels > kMostChannels))
    return std::nullopt;
  const bool is_image = output.shape.size() == 4 && output.shape[0] == 1 && channels == last;
  const Shape shape = is_image ? output.shape : Shape{1, elements / channels, 1, channels};

  const std::vector<uint8_t>& bytes = module.constant(constant.constant).bytes;
  const auto zero_point = constant.quantization.zero_point[0];
  const double scale = static_cast<double>(constant.quantization.scale[0]);
  const double input_scale = static_cast<double>(input.quantization.scale[0]);
  std::vector<uint8_t> weights;
  std::vector<int32_t> biases;
  graph::Quantization quantization = {{1.0f / kUnit}, {0}};
  const bool multiplies = node.kind == OpKind::Mul;
  if (multiplies) quantization = {{}, {}, 3};
  if (!multiplies && input.quantization.scale[0] > kMostRatio * output.quantization.scale[0])
    return std::nullopt;
  for (int64_t c = 0; c < channels; ++c) {
    const auto i = static_cast<size_t>(count == 1 ? 0 : c);
    const bool turns_operand = node.kind == OpKind::Sub && at == 0,
               turns_constant = node.kind == OpKind::Sub && at == 1;
    const double real = scale * static_cast<double>(element(constant, bytes, i) - zero_point) *
                        (turns_constant ? -1 : 1);
    const double bias = multiplies ? 0 : std::round(real * kUnit / input_scale);
    if (std::abs(bias) > kMostBias) return std::nullopt;
    biases.push_back(static_cast<int32_t>(bias));
    const bool is_negative = multiplies ? real < 0 : turns_operand;
    weights.push_back(static_cast<uint8_t>(multiplies && real == 0 ? 0
                                           : is_negative           ? -kUnit
                                                                   : kUnit));
    if (!multiplies) continue;
    // The size of the factor is in the channel's scale.
    quantization.scale.push_back(static_cast<float>((real == 0 ? scale : std::abs(real)) / kUnit));
    quantization.zero_point.push_back(0);
  }
  RewritingBuilder make(function, node);
  const TensorId from = make.operand(1 - at, shape);
  const TensorId taps =
      make.constant(DataType::Int8, {1, 1, 1, channels}, quantization, std::move(weights));
  one_tap(make, from, taps, biases, make.result(0, shape),
          node.attrs<graph::BinaryAttrs>().activation);
  return make.finish();
}

// a - b = a + (-b): -1 - q with the zero point -1 - zero point is exactly that.
std::optional<Rewriting> difference(const graph::Function& function, const graph::Node& node) {
  const graph::Tensor& second = function.tensor(node.inputs[1]);
  const graph::Tensor& output = function.tensor(node.outputs[0]);
  if (function.tensor(node.inputs[0]).shape != output.shape || second.shape != output.shape ||
      second.type != DataType::Int8)
    return std::nullopt;
  const Shape shape = as_image(output.shape);
  const int64_t channels = shape[3];
  RewritingBuilder make(function, node);
  const TensorId a = make.operand(0, shape), b = make.operand(1, shape);
  graph::Tensor turned = second;
  turned.quantization.zero_point[0] = -1 - second.quantization.zero_point[0];
  const TensorId negative = make.between(turned, shape);
  constexpr int8_t kMinusTwo = -2;
  const TensorId taps = make.constant(
      DataType::Int8, {1, 1, 1, channels}, {{0.5f}, {0}},
      std::vector<uint8_t>(static_cast<size_t>(channels), static_cast<uint8_t>(kMinusTwo)));
  one_tap(make, b, taps, std::vector<int32_t>(static_cast<size_t>(channels), 0), negative,
          graph::Activation::None);
  make.node(OpKind::Add, node.attributes, {a, negative}, {make.result(0, shape)});
  return make.finish();
}

}  // namespace

std::optional<Rewriting> rewrite_arithmetic(const graph::Module& module,
                                            const graph::Function& function,
                                            const graph::Node& node) {
  if (node.kind != OpKind::Add && node.kind != OpKind::Sub && node.kind != OpKind::Mul)
    return std::nullopt;
  for (const size_t at : {size_t{0}, size_t{1}})
    if (function.tensor(node.inputs[at]).constant.valid())
      return with_constant(module, function, node, at);
  return node.kind == OpKind::Sub ? difference(function, node) : std::nullopt;
}

}  // namespace intarsia::targets::ethos_n
