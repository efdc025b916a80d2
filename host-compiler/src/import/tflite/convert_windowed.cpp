// Convolutions, pooling, fully connected.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "import/tflite/operator_reader.h"
#include "import/tflite/window_padding.h"

namespace intarsia::tflite {

namespace {

constexpr int8_t kInt32 = 2, kInt64 = 4;  // types of biases, as the format numbers them

graph::Padding2d padding(OperatorReader& in, format::Padding kind, int64_t filter_h,
                         int64_t filter_w, int64_t stride_h, int64_t stride_w, int64_t dilation_h,
                         int64_t dilation_w) {
  if (kind == format::Padding::Valid) return {};
  if (kind != format::Padding::Same) {
    in.problem(
        fmt::format("has padding {}, which is neither SAME nor VALID", static_cast<int>(kind)));
    return {};
  }
  const Shape& shape = in.input(0).shape;
  const Extents h = same_padding(shape[1], filter_h, stride_h, dilation_h);
  const Extents w = same_padding(shape[2], filter_w, stride_w, dilation_w);
  return {h.begin, w.begin, h.end, w.end};
}

bool has_rank(OperatorReader& in, size_t operand, size_t rank) {
  const Shape& shape = in.input(operand).shape;
  if (shape.size() == rank) return true;
  in.problem(fmt::format("needs rank {} for its {}, but {} has shape [{}]", rank,
                         operand == 0 ? "input" : "weights", in.input_label(operand),
                         fmt::join(shape, ",")));
  return false;
}

// The rules of weights and bias shared by all three; `axis` is the one of the output channels.
void check_weights(OperatorReader& in, int32_t axis, int8_t stated_bias_type) {
  const graph::Quantization& scales = in.input(1).quantization;
  if (scales.per_channel() && scales.axis != axis) {
    in.problem(fmt::format("needs per channel scales along axis {}, but {} has them along axis {}",
                           axis, in.input_label(1), scales.axis));
  }
  // TFLite's arithmetic has a place for the weights' zero point in fully_connected per tensor only.
  const bool must_be_zero =
      scales.per_channel() || in.op().known->kind != graph::OpKind::FullyConnected;
  if (must_be_zero && in.is_constant(1) &&
      std::ranges::any_of(scales.zero_point, [](int64_t zero) { return zero != 0; })) {
    in.problem(
        fmt::format("needs weights with zero point 0, but {} has others", in.input_label(1)));
  }
  if (stated_bias_type == 0 || !in.has_input(2)) return;
  const DataType bias = in.input(2).type;
  if (!(stated_bias_type == kInt32 && bias == DataType::Int32) &&
      !(stated_bias_type == kInt64 && bias == DataType::Int64)) {
    in.problem(fmt::format("states a bias type ({}) other than that of {} ({})",
                           int{stated_bias_type}, in.input_label(2), to_string(bias)));
  }
}

// An int16 operator without a bias sums in 64 bits, unless it states the type of the bias it lacks.
std::optional<MadeConstant> zero_bias(OperatorReader& in, int64_t channels, int8_t stated_type) {
  if (in.has_input(2) || stated_type != kInt32 || in.input(0).type != DataType::Int16) return {};
  MadeConstant made;
  made.tensor.name = in.op().name + "_bias";
  made.tensor.type = DataType::Int32;
  made.tensor.shape = {channels};
  made.bytes.assign(static_cast<size_t>(4 * channels), 0);
  return made;
}

// Beside sums of 64 bits: old converters wrote biases of 16 bits, and newer ones that are asked for biases of 32 bits write
// these to all operators, of which depthwise and transposed ones have no 32-bit sums.
std::optional<MadeConstant> widened_bias(OperatorReader& in, size_t input, size_t bias) {
  if (!in.has_input(bias) || !in.is_constant(bias)) return {};
  const DataType type = in.input(bias).type;
  if (type != DataType::Int16 &&
      !(type == DataType::Int32 && in.input(input).type == DataType::Int16))
    return {};
  MadeConstant made{in.input(bias), {}};
  made.tensor.type = DataType::Int64;
  for (const int64_t value : in.constant_values(bias)) {
    for (int byte = 0; byte < 8; ++byte)
      made.bytes.push_back(static_cast<uint8_t>(static_cast<uint64_t>(value) >> (8 * byte)));
  }
  return made;
}

// What both convolutions carry: strides, dilations, activation, and the padding these make.
template <typename Options, typename Attrs>
void read_convolution(OperatorReader& in, const Options* options, Attrs& attrs) {
  attrs.stride_h = in.positive(options->stride_h(), "stride_h");
  attrs.stride_w = in.positive(options->stride_w(), "stride_w");
  attrs.dilation_h = in.positive(options->dilation_h(), "dilation_h");
  attrs.dilation_w = in.positive(options->dilation_w(), "dilation_w");
  attrs.activation = in.activation(options->activation());
  const Shape& weights = in.input(1).shape;
  attrs.padding = padding(in, options->padding(), weights[1], weights[2], attrs.stride_h,
                          attrs.stride_w, attrs.dilation_h, attrs.dilation_w);
}

}  // namespace

Converted convert_conv2d(OperatorReader& in) {
  graph::Conv2dAttrs attrs;
  const auto* options = in.required_options<format::Conv2dOptions>();
  if (options == nullptr || !has_rank(in, 0, 4) || !has_rank(in, 1, 4)) return {attrs};
  read_convolution(in, options, attrs);
  check_weights(in, 0, options->bias_type());
  Converted result{attrs};
  result.bias = zero_bias(in, in.input(1).shape[0], options->bias_type());
  const std::vector<float>& scales = in.input(1).quantization.scale;
  result.asymmetric = std::ranges::any_of(scales, [&](float s) { return s != scales[0]; });
  return result;
}

// The format's operands: shape of the output, weights, input, bias.
Converted convert_transpose_conv2d(OperatorReader& in) {
  graph::TransposeConv2dAttrs attrs;
  Converted result{attrs};
  const auto* options = in.required_options<format::TransposeConvOptions>();
  const Shape &weights = in.input(1).shape, &out = in.output().shape;
  if (options == nullptr) return result;
  if (weights.size() != 4 || in.input(2).shape.size() != 4 || out.size() != 4) {
    in.problem("needs rank 4 for its input, weights and output");
    return result;
  }
  attrs.stride_h = in.positive(options->stride_h(), "stride_h");
  attrs.stride_w = in.positive(options->stride_w(), "stride_w");
  attrs.activation = in.activation(options->activation());
  attrs.out_h = out[1], attrs.out_w = out[2];
  in.check_hybrid(1);
  if (options->padding() == format::Padding::Same) {
    attrs.pad_top = same_padding(out[1], weights[1], attrs.stride_h, 1).begin;
    attrs.pad_left = same_padding(out[2], weights[2], attrs.stride_w, 1).begin;
  }
  result.attributes = attrs;
  result.operands = {2, 1, in.has_input(3) ? size_t{3} : Converted::kAbsent};
  result.asymmetric = true;
  result.bias = widened_bias(in, 2, 3);
  return result;
}

// MediaPipe's own operator: floats, the input before the weights, and a bias. Its options are numbers of 32 bits: how it pads,
// and strides along rows and columns.
Converted convert_biased_transpose_conv2d(OperatorReader& in) {
  constexpr int64_t kSame = 1, kValid = 2;
  graph::TransposeConv2dAttrs attrs;
  const std::span<const uint8_t> options = values(in.op().raw->custom_options());
  if (options.size() < 12) {
    in.problem("has no options that can be read",
               "the file is incomplete; convert the model again");
    return {attrs};
  }
  const int64_t padding = number_at(options, 4, 0);
  attrs.stride_w = in.positive(static_cast<int32_t>(number_at(options, 4, 1)), "stride_w");
  attrs.stride_h = in.positive(static_cast<int32_t>(number_at(options, 4, 2)), "stride_h");
  if (padding != kSame && padding != kValid)
    in.problem(fmt::format("has padding {}, which is neither SAME nor VALID", padding));
  if (!has_rank(in, 0, 4) || !has_rank(in, 1, 4) || !in.clean()) return {attrs};
  if (in.input(0).type != DataType::Float32 || in.input(1).type != DataType::Float32)
    in.problem(fmt::format("computes on {} with weights of {}; floats are possible",
                           to_string(in.input(0).type), to_string(in.input(1).type)));
  const Shape &from = in.input(0).shape, &weights = in.input(1).shape;
  const auto extents = [&](size_t axis, int64_t stride) {
    const int64_t whole = stride * (from[axis] - 1) + weights[axis];
    // What reaches beyond as many places as a stride has for the last element is cut off at both ends.
    const int64_t cut = std::max<int64_t>(0, weights[axis] - (from[axis] - 1) % stride - 1);
    return padding == kSame ? std::pair(whole - cut, cut / 2) : std::pair(whole, int64_t{0});
  };
  std::tie(attrs.out_h, attrs.pad_top) = extents(1, attrs.stride_h);
  std::tie(attrs.out_w, attrs.pad_left) = extents(2, attrs.stride_w);
  in.decide_shape({from[0], attrs.out_h, attrs.out_w, weights[0]});
  return {attrs};
}

Converted convert_depthwise_conv2d(OperatorReader& in) {
  graph::DepthwiseConv2dAttrs attrs;
  const auto* options = in.required_options<format::DepthwiseConv2dOptions>();
  if (options == nullptr || !has_rank(in, 0, 4) || !has_rank(in, 1, 4)) return {attrs};
  read_convolution(in, options, attrs);
  const Shape& weights = in.input(1).shape;
  const int64_t channels = in.input(0).shape[3];
  attrs.multiplier = weights[3] / channels;
  if (weights[3] % channels != 0) {
    in.problem(
        fmt::format("has {} filters for {} channels; a multiple is needed", weights[3], channels));
  } else if (options->multiplier() != 0 && options->multiplier() != attrs.multiplier) {
    in.problem(
        fmt::format("states a depth multiplier of {}, but its weights have {} filters for "
                    "{} channels",
                    options->multiplier(), weights[3], channels));
  }
  check_weights(in, 3, 0);
  Converted result{attrs};
  result.bias = widened_bias(in, 0, 2);
  result.asymmetric = true;
  return result;
}

Converted convert_pool2d(OperatorReader& in) {
  graph::Pool2dAttrs attrs;
  const auto* options = in.required_options<format::Pool2dOptions>();
  if (options == nullptr || !has_rank(in, 0, 4)) return {attrs};
  attrs.filter_h = in.positive(options->filter_h(), "filter_height");
  attrs.filter_w = in.positive(options->filter_w(), "filter_width");
  attrs.stride_h = in.positive(options->stride_h(), "stride_h");
  attrs.stride_w = in.positive(options->stride_w(), "stride_w");
  attrs.activation = in.activation(options->activation());
  attrs.padding = padding(in, options->padding(), attrs.filter_h, attrs.filter_w, attrs.stride_h,
                          attrs.stride_w, 1, 1);
  return {attrs};
}

Converted convert_fully_connected(OperatorReader& in) {
  graph::FullyConnectedAttrs attrs;
  bool asymmetric = false;
  if (const auto* options = in.options<format::FullyConnectedOptions>()) {
    attrs.keep_dims = options->keep_dims();
    attrs.activation = in.activation(options->activation());
    if (options->weights_format() != 0) {
      in.problem("has shuffled weights, a layout for phones", "convert the model without it");
    }
    asymmetric = options->asymmetric_inputs();
    check_weights(in, 0, options->bias_type());
  } else {
    check_weights(in, 0, 0);
  }
  Converted result{attrs};
  result.asymmetric = asymmetric;
  return result;
}

}  // namespace intarsia::tflite
