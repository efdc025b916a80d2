#include "support/support.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace intarsia::targets::ethos_n {
namespace {

using Reason = std::optional<std::string>;

QueryTensor tensor_of(const graph::Tensor& tensor) {
  QueryTensor result;
  result.type = tensor.type;
  if (tensor.shape.size() == 4)
    std::copy(tensor.shape.begin(), tensor.shape.end(), result.shape.begin());
  else
    result.shape = {1, 1, 1, element_count(tensor.shape)};
  result.scales = tensor.quantization.scale;
  if (tensor.quantization.per_channel()) result.axis = tensor.quantization.axis;
  result.zero_point =
      tensor.quantization.zero_point.empty() ? 0 : tensor.quantization.zero_point[0];
  return result;
}

// Our weights have the output first; a bias is in units of the accumulator whatever the file says.
void set_weights(Query& query, const graph::Function& function, const graph::Node& node,
                 const std::array<int64_t, 4>& shape, int64_t axis) {
  query.weights = tensor_of(function.tensor(node.inputs.at(1)));
  query.weights.shape = shape;
  if (query.weights.axis) query.weights.axis = axis;
  query.inputs.resize(1);
  query.bias.type = DataType::Int32;
  query.bias.shape = {1, 1, 1, query.output_shape[3]};
  query.bias.scales.clear();
  for (const float scale : query.weights.scales)
    query.bias.scales.push_back(query.input().scales.at(0) * scale);
}

template <typename Attributes>
void set_window(Query& query, const Attributes& attributes) {
  query.stride_y = attributes.stride_h, query.stride_x = attributes.stride_w;
  query.top = attributes.padding.top, query.bottom = attributes.padding.bottom;
  query.left = attributes.padding.left, query.right = attributes.padding.right;
}

// Rows or columns behind the image that no window reaches are no padding.
int64_t seen_padding(int64_t size, int64_t before, int64_t kernel, int64_t stride, int64_t out) {
  return std::max<int64_t>(0, (out - 1) * stride + kernel - size - before);
}

bool is_image_reduction(const graph::Node& node, const graph::Tensor& input) {
  return input.shape.size() == 4 &&
         node.attrs<graph::ReduceAttrs>().axes == std::vector<int64_t>{1, 2};
}

}  // namespace

int64_t image_axis(const Shape& shape, int64_t axis) {
  constexpr int64_t kImages = 0, kChannels = 3;
  if (shape.size() == 4) return axis;
  return axis + 1 == static_cast<int64_t>(shape.size()) ? kChannels : kImages;
}

std::optional<Query> query_of(const graph::Function& function, const graph::Node& node) {
  Query query;
  const graph::Tensor& output = function.tensor(node.outputs.at(0));
  for (const graph::TensorId id : node.inputs)
    if (id.valid()) query.inputs.push_back(tensor_of(function.tensor(id)));
  const QueryTensor result = tensor_of(output);
  query.output_shape = result.shape;
  query.output_type = output.type;
  if (!result.scales.empty()) query.output_scale = result.scales[0];
  query.output_zero_point = result.zero_point;
  const auto weights = [&] { return tensor_of(function.tensor(node.inputs.at(1))).shape; };
  const auto trim = [&](int64_t) {
    query.bottom = seen_padding(query.input().shape[1], query.top, query.kernel_h, query.stride_y,
                                query.output_shape[1]);
    query.right = seen_padding(query.input().shape[2], query.left, query.kernel_w, query.stride_x,
                               query.output_shape[2]);
  };
  switch (node.kind) {
    case graph::OpKind::Conv2d: {
      query.kind = QueryKind::Convolution;
      const auto shape = weights();
      query.kernel_h = shape[1], query.kernel_w = shape[2];
      set_window(query, node.attrs<graph::Conv2dAttrs>());
      set_weights(query, function, node, {shape[1], shape[2], shape[3], shape[0]}, 3);
      break;
    }
    case graph::OpKind::DepthwiseConv2d: {
      query.kind = QueryKind::Depthwise;
      const auto& attributes = node.attrs<graph::DepthwiseConv2dAttrs>();
      const auto shape = weights();
      query.kernel_h = shape[1], query.kernel_w = shape[2];
      set_window(query, attributes);
      const int64_t multiplier = attributes.multiplier;
      set_weights(query, function, node, {shape[1], shape[2], shape[3] / multiplier, multiplier},
                  2);
      // Of one channel it is asked as the convolution that it becomes.
      if (multiplier > 1 && query.input().shape[3] == 1) {
        query.kind = QueryKind::Convolution;
        query.weights.shape = {shape[1], shape[2], 1, shape[3]};
        if (query.weights.axis) query.weights.axis = 3;
      }
      break;
    }
    case graph::OpKind::TransposeConv2d: {
      query.kind = QueryKind::TransposeConvolution;
      const auto& attributes = node.attrs<graph::TransposeConv2dAttrs>();
      const auto shape = weights();
      query.kernel_h = shape[1], query.kernel_w = shape[2];
      query.stride_y = attributes.stride_h, query.stride_x = attributes.stride_w;
      query.top = attributes.pad_top, query.left = attributes.pad_left;
      const auto behind = [](int64_t in, int64_t out, int64_t kernel, int64_t stride,
                             int64_t before) { return (in - 1) * stride + kernel - before - out; };
      query.bottom = behind(query.input().shape[1], query.output_shape[1], query.kernel_h,
                            query.stride_y, query.top);
      query.right = behind(query.input().shape[2], query.output_shape[2], query.kernel_w,
                           query.stride_x, query.left);
      set_weights(query, function, node, {shape[1], shape[2], shape[3], shape[0]}, 3);
      break;
    }
    case graph::OpKind::FullyConnected: {
      query.kind = QueryKind::FullyConnected;
      // Which axes the elements were in does not matter: a reshape in front of it costs nothing.
      const graph::Tensor& input = function.tensor(node.inputs[0]);
      const graph::Tensor& matrix = function.tensor(node.inputs.at(1));
      const int64_t depth = matrix.shape.back();
      query.inputs[0].shape = {element_count(input.shape) / depth, 1, 1, depth};
      query.output_shape = {1, 1, 1, matrix.shape[0]};
      set_weights(query, function, node, {1, 1, depth, matrix.shape[0]}, 3);
      break;
    }
    case graph::OpKind::MaxPool2d:
    case graph::OpKind::AveragePool2d: {
      query.kind =
          node.kind == graph::OpKind::MaxPool2d ? QueryKind::MaxPooling : QueryKind::AveragePooling;
      const auto& attributes = node.attrs<graph::Pool2dAttrs>();
      query.kernel_h = attributes.filter_h, query.kernel_w = attributes.filter_w;
      set_window(query, attributes);
      trim(0);
      break;
    }
    case graph::OpKind::Mean:
      if (!is_image_reduction(node, function.tensor(node.inputs[0]))) return std::nullopt;
      query.kind = QueryKind::MeanXy;
      break;
    case graph::OpKind::Add:
      query.kind = QueryKind::Addition;
      break;
    case graph::OpKind::Mul:
      query.kind = QueryKind::Multiplication;
      break;
    case graph::OpKind::Logistic:
      query.kind = QueryKind::Sigmoid;
      break;
    case graph::OpKind::Tanh:
      query.kind = QueryKind::Tanh;
      break;
    case graph::OpKind::LeakyRelu:
      query.kind = QueryKind::LeakyRelu;
      query.alpha = node.attrs<graph::LeakyReluAttrs>().alpha;
      break;
    case graph::OpKind::Relu:
      query.kind = QueryKind::Relu;
      break;
    case graph::OpKind::Quantize:
      query.kind = QueryKind::Requantize;
      break;
    case graph::OpKind::Pad: {
      query.kind = QueryKind::StandalonePadding;
      const auto& attributes = node.attrs<graph::PadAttrs>();
      if (attributes.before.size() != 4) return std::nullopt;
      query.top = attributes.before[1], query.bottom = attributes.after[1];
      query.left = attributes.before[2], query.right = attributes.after[2];
      break;
    }
    case graph::OpKind::ResizeNearest:
    case graph::OpKind::ResizeBilinear:
      query.kind = QueryKind::Resize;
      break;
    case graph::OpKind::Reshape:
      query.kind = QueryKind::Reshape;
      break;
    case graph::OpKind::Concat:
      query.kind = QueryKind::Concatenation;
      query.axis = image_axis(output.shape, node.attrs<graph::AxisAttrs>().axis);
      break;
    case graph::OpKind::Split:
      query.kind = QueryKind::Split;
      query.axis = image_axis(output.shape, node.attrs<graph::SplitAttrs>().axis);
      query.sizes = node.attrs<graph::SplitAttrs>().sizes;
      break;
    case graph::OpKind::DepthToSpace:
    case graph::OpKind::SpaceToDepth:
      query.kind = node.kind == graph::OpKind::DepthToSpace ? QueryKind::DepthToSpace
                                                            : QueryKind::SpaceToDepth;
      query.block = node.attrs<graph::BlockAttrs>().block;
      break;
    default:
      return std::nullopt;
  }
  return query;
}

namespace {

bool has_operation(graph::OpKind kind) {
  using enum graph::OpKind;
  static constexpr graph::OpKind kKinds[] = {Conv2d,
                                             DepthwiseConv2d,
                                             TransposeConv2d,
                                             FullyConnected,
                                             MaxPool2d,
                                             AveragePool2d,
                                             Mean,
                                             Add,
                                             Mul,
                                             Logistic,
                                             Tanh,
                                             LeakyRelu,
                                             Relu,
                                             Quantize,
                                             Pad,
                                             ResizeNearest,
                                             ResizeBilinear,
                                             Reshape,
                                             Concat,
                                             Split,
                                             DepthToSpace,
                                             SpaceToDepth};
  return std::find(std::begin(kKinds), std::end(kKinds), kind) != std::end(kKinds);
}

// What the queries presuppose, and what of TFLite's operators they have no room for.
Reason refuses_form(const graph::Function& function, const graph::Node& node) {
  const auto is_weighted = [&] {
    return node.kind == graph::OpKind::Conv2d || node.kind == graph::OpKind::DepthwiseConv2d ||
           node.kind == graph::OpKind::TransposeConv2d ||
           node.kind == graph::OpKind::FullyConnected;
  }();
  const auto check = [&](graph::TensorId id) -> Reason {
    const graph::Tensor& tensor = function.tensor(id);
    if (tensor.type != DataType::Int8 && tensor.type != DataType::UInt8)
      return fmt::format("'{}' is {}, the device computes i8 and u8", tensor.name,
                         to_string(tensor.type));
    if (!tensor.quantization.present()) return fmt::format("'{}' is not quantised", tensor.name);
    if (tensor.variable)
      return fmt::format("'{}' is state that lasts, which a network does not have", tensor.name);
    return std::nullopt;
  };
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!node.inputs[i].valid() || (is_weighted && i == 2)) continue;
    if (Reason reason = check(node.inputs[i])) return reason;
  }
  for (const graph::TensorId id : node.outputs)
    if (Reason reason = check(id)) return reason;
  const graph::Tensor& input = function.tensor(node.inputs.at(0));
  const graph::Tensor& output = function.tensor(node.outputs.at(0));
  if (input.type != output.type && node.kind != graph::OpKind::Quantize)
    return fmt::format("the result is {}, the operand {}", to_string(output.type),
                       to_string(input.type));
  const bool any_shape =
      node.kind == graph::OpKind::FullyConnected || node.kind == graph::OpKind::Reshape;
  for (const graph::Tensor* tensor : {&input, &output}) {
    const bool is_vector =
        tensor->shape.empty() || element_count(tensor->shape) == tensor->shape.back();
    const bool is_result_of_mean = node.kind == graph::OpKind::Mean && tensor == &output;
    if (!any_shape && !is_vector && !is_result_of_mean && tensor->shape.size() != 4)
      return fmt::format("'{}' of shape [{}] is neither an image nor a vector", tensor->name,
                         fmt::join(tensor->shape, ","));
  }
  if (is_weighted) {
    if (!function.tensor(node.inputs.at(1)).constant.valid()) return "the weights are not constant";
    if (node.inputs.size() > 2 && node.inputs[2].valid() &&
        !function.tensor(node.inputs[2]).constant.valid())
      return "the bias is not constant";
  }
  const auto check_window = [&](const auto& attributes) -> Reason {
    if (attributes.dilation_h == 1 && attributes.dilation_w == 1) return std::nullopt;
    return fmt::format("the stack has no dilation ({} x {})", attributes.dilation_h,
                       attributes.dilation_w);
  };
  if (node.kind == graph::OpKind::Conv2d) {
    if (function.tensor(node.inputs[1]).shape[3] != input.shape[3])
      return "the stack has no convolution in groups";
    return check_window(node.attrs<graph::Conv2dAttrs>());
  }
  if (node.kind == graph::OpKind::DepthwiseConv2d)
    return check_window(node.attrs<graph::DepthwiseConv2dAttrs>());
  if (node.kind == graph::OpKind::Pad) {
    const auto& attributes = node.attrs<graph::PadAttrs>();
    if (attributes.before.size() == 4 &&
        attributes.before[0] + attributes.after[0] + attributes.before[3] + attributes.after[3] !=
            0)
      return "padding of batch or channels";
  }
  return std::nullopt;
}

// Quantisations that the operation itself prescribes.
Reason refuses_quantisation(const graph::Function& function, const graph::Node& node) {
  const graph::Quantization& in = function.tensor(node.inputs[0]).quantization;
  const graph::Tensor& output = function.tensor(node.outputs[0]);
  const graph::Quantization& out = output.quantization;
  const bool is_int8 = output.type == DataType::Int8;
  const auto is = [&](float scale, int64_t zero_point) {
    return out.scale[0] == scale && out.zero_point[0] == zero_point;
  };
  if (node.kind == graph::OpKind::Logistic && !is(1.0f / 256, is_int8 ? -128 : 0))
    return fmt::format("the result of a sigmoid has the scale 1/256 and the zero point {}",
                       is_int8 ? -128 : 0);
  if (node.kind == graph::OpKind::Tanh && !is(1.0f / 128, is_int8 ? 0 : 128))
    return fmt::format("the result of a tanh has the scale 1/128 and the zero point {}",
                       is_int8 ? 0 : 128);
  const bool keeps = node.kind == graph::OpKind::Reshape || node.kind == graph::OpKind::MaxPool2d ||
                     node.kind == graph::OpKind::Split || node.kind == graph::OpKind::DepthToSpace;
  if (keeps && (in.scale != out.scale || in.zero_point != out.zero_point))
    return "operand and result differ in quantisation";
  return std::nullopt;
}

}  // namespace

Reason refuses_by_support(const Variant& variant, const graph::Module&,
                          const graph::Function& function, const graph::Node& node) {
  if (!has_operation(node.kind))
    return fmt::format("the stack has no operation for {}", graph::to_string(node.kind));
  if (Reason reason = refuses_form(function, node)) return reason;
  const std::optional<Query> query = query_of(function, node);
  if (!query) return fmt::format("the stack has no operation for {}", graph::to_string(node.kind));
  const Answer answer = ask(variant, *query);
  if (answer.support == Support::Supported) return refuses_quantisation(function, node);
  return fmt::format("{}: {} [{}]",
                     answer.support == Support::EstimateOnly ? "only estimated" : "unsupported",
                     answer.words, answer.name);
}

}  // namespace intarsia::targets::ethos_n
