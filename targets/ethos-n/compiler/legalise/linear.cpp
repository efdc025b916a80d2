#include "legalise/linear.h"

#include <algorithm>
#include <cstring>

namespace intarsia::targets::ethos_n {
namespace {

using graph::OpKind;

std::optional<std::vector<int8_t>> signed_weights(const graph::Module& module,
                                                  const graph::Tensor& tensor) {
  if (!tensor.constant.valid() || !tensor.quantization.present()) return std::nullopt;
  for (const int64_t zero_point : tensor.quantization.zero_point)
    if (zero_point != 0) return std::nullopt;
  const std::vector<uint8_t>& bytes = module.constant(tensor.constant).bytes;
  const auto count = static_cast<size_t>(element_count(tensor.shape));
  std::vector<int8_t> values(count);
  if (tensor.type == DataType::Int8) {
    std::memcpy(values.data(), bytes.data(), count);
  } else if (tensor.type == DataType::Int4) {
    for (size_t i = 0; i < count; ++i) {  // the first in the lower half of a byte
      const int nibble = bytes[i / 2] >> (i % 2 * 4) & 15;
      values[i] = static_cast<int8_t>(nibble < 8 ? nibble : nibble - 16);
    }
  } else {
    return std::nullopt;
  }
  return values;
}

bool set_weights(const graph::Module& module, const graph::Function& function,
                 const graph::Node& node, Linear& linear) {
  const graph::Tensor& tensor = function.tensor(node.inputs.at(1));
  std::optional<std::vector<int8_t>> values = signed_weights(module, tensor);
  if (!values) return false;
  linear.weights = std::move(*values);
  linear.scales = tensor.quantization.scale;
  linear.biases.assign(static_cast<size_t>(linear.outputs), 0);
  if (node.inputs.size() <= 2 || !node.inputs[2].valid()) return true;
  const graph::Tensor& bias = function.tensor(node.inputs[2]);
  if (!bias.constant.valid() || bias.type != DataType::Int32) return false;
  std::memcpy(linear.biases.data(), module.constant(bias.constant).bytes.data(),
              4 * linear.biases.size());
  return true;
}

template <typename Attributes>
void set_window(const Attributes& attributes, const Shape& in, const Shape& out, int64_t kernel_h,
                int64_t kernel_w, Linear& linear) {
  linear.y = {in[1], out[1], kernel_h, attributes.stride_h, 1, attributes.padding.top};
  linear.x = {in[2], out[2], kernel_w, attributes.stride_w, 1, attributes.padding.left};
  linear.activation = attributes.activation;
  // Images that no window leaves are one of as many rows.
  const bool is_pointwise = kernel_h == 1 && kernel_w == 1 && attributes.stride_h == 1 &&
                            attributes.padding == graph::Padding2d{};
  if (is_pointwise) linear.y.in = linear.y.out = in[0] * in[1];
}

// What both kinds of convolution have; weights are [..][tap y][tap x][..].
template <typename Attributes>
Linear of_taps(const graph::Function& function, const graph::Node& node) {
  const auto& attributes = node.attrs<Attributes>();
  const Shape &in = function.tensor(node.inputs[0]).shape,
              &out = function.tensor(node.outputs[0]).shape;
  const Shape& weights = function.tensor(node.inputs[1]).shape;
  Linear linear;
  set_window(attributes, in, out, weights[1], weights[2], linear);
  linear.y.dilation = attributes.dilation_h, linear.x.dilation = attributes.dilation_w;
  linear.channels = in[3], linear.outputs = out[3];
  return linear;
}

std::optional<Linear> convolution(const graph::Module& module, const graph::Function& function,
                                  const graph::Node& node) {
  Linear linear = of_taps<graph::Conv2dAttrs>(function, node);
  linear.channels_of_group = function.tensor(node.inputs[1]).shape[3];
  linear.outputs_of_group = linear.outputs / (linear.channels / linear.channels_of_group);
  if (!set_weights(module, function, node, linear)) return std::nullopt;
  return linear;
}

std::optional<Linear> depthwise(const graph::Module& module, const graph::Function& function,
                                const graph::Node& node) {
  Linear linear = of_taps<graph::DepthwiseConv2dAttrs>(function, node);
  linear.outputs_of_group = node.attrs<graph::DepthwiseConv2dAttrs>().multiplier;
  if (!set_weights(module, function, node, linear)) return std::nullopt;
  const std::vector<int8_t> from = linear.weights;  // [tap y][tap x][output]
  const auto outputs = static_cast<size_t>(linear.outputs), taps = from.size() / outputs;
  for (size_t tap = 0; tap < taps; ++tap)
    for (size_t o = 0; o < outputs; ++o) linear.weights[o * taps + tap] = from[tap * outputs + o];
  return linear;
}

std::optional<Linear> transpose_convolution(const graph::Module& module,
                                            const graph::Function& function,
                                            const graph::Node& node) {
  const auto& attributes = node.attrs<graph::TransposeConv2dAttrs>();
  const Shape &in = function.tensor(node.inputs[0]).shape,
              &out = function.tensor(node.outputs[0]).shape;
  const Shape& weights = function.tensor(node.inputs[1]).shape;
  Linear linear;
  linear.y = {in[1], out[1], weights[1], attributes.stride_h, 1, attributes.pad_top, true};
  linear.x = {in[2], out[2], weights[2], attributes.stride_w, 1, attributes.pad_left, true};
  linear.activation = attributes.activation;
  linear.channels = linear.channels_of_group = in[3];
  linear.outputs = linear.outputs_of_group = out[3];
  if (!set_weights(module, function, node, linear)) return std::nullopt;
  return linear;
}

// A row of the matrix of inputs is a row of an image of one column.
std::optional<Linear> fully_connected(const graph::Module& module, const graph::Function& function,
                                      const graph::Node& node) {
  const Shape& matrix = function.tensor(node.inputs[1]).shape;
  Linear linear;
  linear.channels = linear.channels_of_group = matrix.at(1);
  linear.outputs = linear.outputs_of_group = matrix.at(0);
  linear.y.in = linear.y.out =
      element_count(function.tensor(node.inputs[0]).shape) / linear.channels;
  linear.activation = node.attrs<graph::FullyConnectedAttrs>().activation;
  if (!set_weights(module, function, node, linear)) return std::nullopt;
  return linear;
}

// Each channel alone, by ones.
void set_average(int64_t channels, Linear& linear) {
  linear.channels = linear.outputs = channels;
  linear.is_average = true;
  linear.weights.assign(static_cast<size_t>(channels * linear.y.kernel * linear.x.kernel), 1);
  linear.biases.assign(static_cast<size_t>(channels), 0);
  linear.scales = {1};
}

// A pool is of the numbers that are stored, whatever they stand for. TFLite rounds their halves away from zero, the
// device up: of a tensor whose zero point is below zero, most of whose numbers are, they are nudged down.
void set_pool(const graph::Quantization& in, const graph::Quantization& out, Linear& linear) {
  linear.scales = {out.scale.at(0) / in.scale.at(0)};
  auto bias = static_cast<int32_t>(in.zero_point.at(0) - out.zero_point.at(0));
  if (in.zero_point[0] < 0) {
    constexpr int8_t kWeight = 2;
    std::fill(linear.weights.begin(), linear.weights.end(), kWeight);
    linear.scales[0] /= kWeight;
    bias *= kWeight;
    linear.nudge = -1;
  }
  std::fill(linear.biases.begin(), linear.biases.end(), bias);
}

std::optional<Linear> average_pool(const graph::Function& function, const graph::Node& node) {
  const auto& attributes = node.attrs<graph::Pool2dAttrs>();
  const Shape &in = function.tensor(node.inputs[0]).shape,
              &out = function.tensor(node.outputs[0]).shape;
  Linear linear;
  set_window(attributes, in, out, attributes.filter_h, attributes.filter_w, linear);
  set_average(in[3], linear);
  set_pool(function.tensor(node.inputs[0]).quantization,
           function.tensor(node.outputs[0]).quantization, linear);
  return linear;
}

// Over axes that are neighbours: two of them as the rows and columns of an image, more as rows. What is before them
// are images, which have to be one, or rows where columns are reduced.
std::optional<Linear> mean(const graph::Function& function, const graph::Node& node) {
  const auto& axes = node.attrs<graph::ReduceAttrs>().axes;
  const Shape& in = function.tensor(node.inputs[0]).shape;
  if (axes.empty()) return std::nullopt;
  for (size_t i = 1; i < axes.size(); ++i)
    if (axes[i] != axes[i - 1] + 1) return std::nullopt;
  const auto product = [&](int64_t begin, int64_t end) {
    int64_t elements = 1;
    for (int64_t axis = begin; axis < end; ++axis) elements *= in.at(static_cast<size_t>(axis));
    return elements;
  };
  const int64_t first = axes.front(), end = axes.back() + 1;
  const int64_t outer = product(0, first), reduced = product(first, end),
                inner = product(end, static_cast<int64_t>(in.size()));
  Linear linear;
  if (outer == 1) {
    const int64_t rows = in.at(static_cast<size_t>(first));
    linear.y = {rows, 1, rows};
    linear.x = {reduced / rows, 1, reduced / rows};
  } else {
    linear.y = {outer, outer, 1};
    linear.x = {reduced, 1, reduced};
  }
  set_average(inner, linear);
  return linear;
}

}  // namespace

std::optional<int64_t> Axis::source(int64_t output, int64_t tap) const {
  if (!transposed) return output * stride - before + tap * dilation;
  const int64_t place = output + before - tap;
  if (place % stride != 0) return std::nullopt;
  return place / stride;
}

int64_t Axis::taps_inside(int64_t output) const {
  int64_t count = 0;
  for (int64_t tap = 0; tap < kernel; ++tap)
    if (const auto at = source(output, tap); at && *at >= 0 && *at < in) ++count;
  return count;
}

std::optional<Linear> linear_of(const graph::Module& module, const graph::Function& function,
                                const graph::Node& node) {
  switch (node.kind) {
    case OpKind::Conv2d:
      return convolution(module, function, node);
    case OpKind::DepthwiseConv2d:
      return depthwise(module, function, node);
    case OpKind::TransposeConv2d:
      return transpose_convolution(module, function, node);
    case OpKind::FullyConnected:
      return fully_connected(module, function, node);
    case OpKind::AveragePool2d:
      return average_pool(function, node);
    case OpKind::Mean:
      return mean(function, node);
    default:
      return std::nullopt;
  }
}

}  // namespace intarsia::targets::ethos_n
