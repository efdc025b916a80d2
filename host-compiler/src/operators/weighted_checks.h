// What operators with weights share (types, rules, refusals), and the rules of windows that slide over an image.
#pragma once

#include "graph/op_check.h"
#include "operators/common_types.h"
#include "operators/lowering/refusals.h"

namespace intarsia::operators {

// Input, weights, bias -> output. An int16 operator without a bias accumulates in 64 bits, as one with an i64 bias does.
// Weights of 16 bits are what weights of 8 bits are less their zero point (-255..255).
inline constexpr graph::TypeRule kWeightedTypes[] = {
    {Int8, Int8, Int32, Int8},   {Int8, Int4, Int32, Int8},   {Int8, Int16, Int32, Int8},
    {Int16, Int8, Int64, Int16}, {Int16, Int8, Int32, Int16}, {Float32, Float32, Float32, Float32}};

void check_padding(graph::OpCheck& check, const graph::Padding2d& padding);
void check_bias(graph::OpCheck& check, int64_t channels);

// Quantisation of input, weights (per channel along `axis`, or one scale) and output.
using ScaleFactor = double(const graph::Tensor& input, const graph::Tensor& weights,
                           const graph::Tensor& output, size_t channel);
void check_weighted_quantization(graph::OpCheck& check, int32_t axis, int64_t channels,
                                 ScaleFactor* factor);

// One axis of a sliding window.
struct SlidingAxis {
  int64_t filter, stride, dilation, before, after;
};
// Places of the window along the axis. Attributes are in range already.
int64_t window_places(graph::OpCheck& check, std::string_view axis, int64_t extent,
                      const SlidingAxis& w);

template <typename Attrs>
bool check_convolution_attributes(graph::OpCheck& check, const Attrs& a) {
  check.in_range("stride_h", a.stride_h, 1);
  check.in_range("stride_w", a.stride_w, 1);
  check.in_range("dilation_h", a.dilation_h, 1);
  check.in_range("dilation_w", a.dilation_w, 1);
  check_padding(check, a.padding);
  return check.ok();
}

// [N,H,W,C] x window -> [N,OH,OW,channels]; the input is operand 0, the weights [_,KH,KW,_] 1.
template <typename Attrs>
graph::Shapes convolution_shape(graph::OpCheck& check, const Attrs& a, int64_t channels) {
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

// An integer operator whose input varies and whose weights and bias do not.
bool has_constant_weights(const graph::Function& function, const graph::Node& node);

// Weights of four bits are constants; scales per channel, zero points of 0.
Refusal refuses_weights(const OpView& view);

}  // namespace intarsia::operators
