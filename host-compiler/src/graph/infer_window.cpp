// Rules of the operators that slide a window over an image or take dot products.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "graph/op_check.h"
#include "graph/scales.h"

namespace intarsia::graph {
namespace {

using enum DataType;

struct Window {
  int64_t filter, stride, dilation, before, after;
};

void check_padding(OpCheck& check, const Padding2d& padding) {
  check.in_range("padding top", padding.top, 0);
  check.in_range("padding left", padding.left, 0);
  check.in_range("padding bottom", padding.bottom, 0);
  check.in_range("padding right", padding.right, 0);
}

// Places of the window along one axis. Attributes are in range already.
int64_t window_places(OpCheck& check, std::string_view axis, int64_t extent, const Window& w) {
  const int64_t covered = (w.filter - 1) * w.dilation + 1;
  const int64_t padded = extent + w.before + w.after;
  if (!check.require(padded >= covered,
                     fmt::format("the window of {} does not fit into the padded {} of {}", covered,
                                 axis, padded)))
    return 1;
  return (padded - covered) / w.stride + 1;
}

template <typename Attrs>
bool check_convolution_attributes(OpCheck& check, const Attrs& a) {
  check.in_range("stride_h", a.stride_h, 1);
  check.in_range("stride_w", a.stride_w, 1);
  check.in_range("dilation_h", a.dilation_h, 1);
  check.in_range("dilation_w", a.dilation_w, 1);
  check_padding(check, a.padding);
  return check.ok();
}

// [N,H,W,C] x window -> [N,OH,OW,channels]; the input is operand 0, the weights [_,KH,KW,_] 1.
template <typename Attrs>
Shapes convolution_shape(OpCheck& check, const Attrs& a, int64_t channels) {
  const Shape& input = check.in(0).shape;
  const Shape& weights = check.in(1).shape;
  const int64_t height =
      window_places(check, "height", input[1],
                    {weights[1], a.stride_h, a.dilation_h, a.padding.top, a.padding.bottom});
  const int64_t width =
      window_places(check, "width", input[2],
                    {weights[2], a.stride_w, a.dilation_w, a.padding.left, a.padding.right});
  return {{input[0], height, width, channels}};
}

void check_bias(OpCheck& check, int64_t channels) {
  if (!check.has(2)) return;
  const Shape& bias = check.in(2).shape;
  check.require(bias == Shape{channels},
                fmt::format("the bias has to have the shape [{}]", channels));
}

// An int16 operator without a bias accumulates in 64 bits, as one with an i64 bias does.
bool weighted_types(OpCheck& check) {
  if (check.node.kind == OpKind::DepthwiseConv2d)
    return check.types({{Int8, Int8, Int32, Int8},
                        {Int8, Int4, Int32, Int8},
                        {Int16, Int8, Int64, Int16},
                        {Float32, Float32, Float32, Float32}});
  return check.types({{Int8, Int8, Int32, Int8},
                      {Int8, Int4, Int32, Int8},
                      {Int16, Int8, Int64, Int16},
                      {Int16, Int8, Int32, Int16},
                      {Float32, Float32, Float32, Float32}});
}

// Quantisation of input, weights (per channel along `axis`, or one scale) and output.
void check_weighted_quantization(OpCheck& check, int32_t axis, int64_t channels,
                                 double (*factor)(const Tensor&, const Tensor&, const Tensor&,
                                                  size_t)) {
  const Tensor &input = check.in(0), &weights = check.in(1), &output = check.out();
  if (input.type == Float32) return;
  const bool symmetric = input.type == Int16;
  check.per_tensor(input, "input", symmetric);
  check.per_tensor(output, "output", symmetric);
  const Quantization& q = weights.quantization;
  if (!check.require(q.present() && q.scale.size() == q.zero_point.size(),
                     "the weights are not quantised"))
    return;
  if (q.per_channel())
    check.require(q.axis == axis && static_cast<int64_t>(q.scale.size()) == channels,
                  fmt::format("the weights have {} scales along axis {}, needs {} along axis {}",
                              q.scale.size(), q.axis, channels, axis));
  check.require(
      std::all_of(q.zero_point.begin(), q.zero_point.end(), [](int64_t z) { return z == 0; }),
      "the zero points of the weights have to be 0");
  if (!check.ok()) return;
  const bool wide = input.type == Int16 && !(check.has(2) && check.in(2).type == Int32);
  for (size_t channel = 0; channel < q.scale.size() && check.ok(); ++channel)
    check.factor(factor(input, weights, output, channel), wide ? kMostExponent64 : kMostExponent32);
}

}  // namespace

Shapes infer_conv2d(OpCheck& check) {
  const auto& a = check.node.attrs<Conv2dAttrs>();
  weighted_types(check);
  check.rank(0, 4, "input"), check.rank(1, 4, "weights");
  if (!check_convolution_attributes(check, a)) return {};
  const int64_t channels = check.in(0).shape[3], depth = check.in(1).shape[3];
  const int64_t filters = check.in(1).shape[0];
  if (check.require(channels % depth == 0,
                    fmt::format("the input's {} channels are no multiple of the weights' {}",
                                channels, depth)))
    check.require(filters % (channels / depth) == 0,
                  fmt::format("{} output channels cannot be divided among {} groups", filters,
                              channels / depth));
  check_bias(check, filters);
  check_weighted_quantization(check, 0, filters, convolution_factor);
  return convolution_shape(check, a, filters);
}

Shapes infer_transpose_conv2d(OpCheck& check) {
  const auto& a = check.node.attrs<TransposeConv2dAttrs>();
  weighted_types(check);
  check.rank(0, 4, "input"), check.rank(1, 4, "weights");
  check.in_range("stride_h", a.stride_h, 1), check.in_range("stride_w", a.stride_w, 1);
  check.in_range("pad_top", a.pad_top, 0), check.in_range("pad_left", a.pad_left, 0);
  check.in_range("out_h", a.out_h, 1), check.in_range("out_w", a.out_w, 1);
  if (!check.ok()) return {};
  const Shape &input = check.in(0).shape, &weights = check.in(1).shape;
  check.require(weights[3] == input[3],
                fmt::format("the weights have {} channels, the input {}", weights[3], input[3]));
  check_bias(check, weights[0]);
  check_weighted_quantization(check, 0, weights[0], convolution_factor);
  return {{input[0], a.out_h, a.out_w, weights[0]}};
}

Shapes infer_depthwise_conv2d(OpCheck& check) {
  const auto& a = check.node.attrs<DepthwiseConv2dAttrs>();
  weighted_types(check);
  check.rank(0, 4, "input"), check.rank(1, 4, "weights");
  check.in_range("multiplier", a.multiplier, 1);
  if (!check_convolution_attributes(check, a)) return {};
  const int64_t channels = check.in(1).shape[3];
  check.require(check.in(1).shape[0] == 1, "the first extent of the weights has to be 1");
  check.require(channels == check.in(0).shape[3] * a.multiplier,
                fmt::format("the weights have {} channels, needs {} (the input's) times {} (the "
                            "multiplier)",
                            channels, check.in(0).shape[3], a.multiplier));
  check_bias(check, channels);
  check_weighted_quantization(check, 3, channels, convolution_factor);
  return convolution_shape(check, a, channels);
}

Shapes infer_fully_connected(OpCheck& check) {
  const auto& a = check.node.attrs<FullyConnectedAttrs>();
  weighted_types(check);
  check.rank(1, 2, "weights");
  check.require(!check.in(0).shape.empty(), "the input is a scalar");
  if (!check.ok()) return {};
  const Shape& input = check.in(0).shape;
  const int64_t filters = check.in(1).shape[0], depth = check.in(1).shape[1];
  check_bias(check, filters);
  check_weighted_quantization(check, 0, filters, fully_connected_factor);
  if (a.keep_dims) {
    check.require(input.back() == depth,
                  fmt::format("the input's last extent is {}, needs {}", input.back(), depth));
    Shape output = input;
    output.back() = filters;
    return {output};
  }
  // TFLite flattens the input into as many rows of the weights' length as there are.
  const int64_t elements = element_count(input);
  check.require(elements % depth == 0,
                fmt::format("the input's {} elements are no multiple of {}", elements, depth));
  return {{elements / depth, filters}};
}

Shapes infer_pool2d(OpCheck& check) {
  const auto& a = check.node.attrs<Pool2dAttrs>();
  if (check.node.kind == OpKind::L2Pool2d)
    check.types({{Float32, Float32}});
  else
    check.types({{Int8, Int8}, {Int16, Int16}, {Float32, Float32}});
  check.rank(0, 4, "input");
  check.in_range("filter_h", a.filter_h, 1), check.in_range("filter_w", a.filter_w, 1);
  check.in_range("stride_h", a.stride_h, 1), check.in_range("stride_w", a.stride_w, 1);
  check_padding(check, a.padding);
  if (!check.ok()) return {};
  const Tensor &input = check.in(0), &output = check.out();
  if (input.type != Float32 && check.per_tensor(input, "input") &&
      check.per_tensor(output, "output")) {
    const bool equal = input.quantization.zero_point == output.quantization.zero_point &&
                       std::abs(scale_of(input) - scale_of(output)) <= 1e-6;
    check.require(equal, "input and output have to have the same quantisation");
  }
  const int64_t height =
      window_places(check, "height", input.shape[1],
                    {a.filter_h, a.stride_h, 1, a.padding.top, a.padding.bottom});
  const int64_t width = window_places(check, "width", input.shape[2],
                                      {a.filter_w, a.stride_w, 1, a.padding.left, a.padding.right});
  const bool inside = a.padding.top < a.filter_h && a.padding.left < a.filter_w &&
                      (height - 1) * a.stride_h - a.padding.top < input.shape[1] &&
                      (width - 1) * a.stride_w - a.padding.left < input.shape[2];
  check.require(inside, "a window lies entirely in the padding");
  return {{input.shape[0], height, width, input.shape[3]}};
}

}  // namespace intarsia::graph
