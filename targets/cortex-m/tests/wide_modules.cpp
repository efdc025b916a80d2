#include "wide_modules.h"

#include <bit>
#include <cmath>
#include <iterator>
#include <limits>

#include "support/random_builder.h"

namespace intarsia::test::cortex_m {
namespace {

using namespace graph;
using testing::families::Builder;

Quantization scales(std::vector<float> values, int32_t axis = 0) {
  const size_t count = values.size();
  return {std::move(values), std::vector<int64_t>(count, 0), axis};
}

// Weights of `channels` along `axis` and a bias.
void constants(Builder& b, Shape shape, int64_t channels, int32_t axis, const WideCase& c) {
  Random& r = b.random();
  std::vector<float> weight_scales, bias_scales;
  const float input_scale = b.tensor(b.node().inputs[0]).quantization.scale[0];
  for (int64_t i = 0; i < channels; ++i) {
    weight_scales.push_back(r.real(0.001f, 0.01f));
    bias_scales.push_back(input_scale * weight_scales.back());
  }
  const int64_t low = c.extreme && r.chance(50) ? 127 : -128;
  b.constant(std::move(shape), DataType::Int8, scales(std::move(weight_scales), axis), low,
             c.extreme ? low : 127);
  b.constant({channels}, c.bias, scales(std::move(bias_scales)), -90000, 90000);
}

}  // namespace

Module wide_module(Random& random, const WideCase& c) {
  Builder b(random, c.kind, DataType::Int16);
  const int64_t taps =
      c.kernel_h * c.kernel_w * (c.kind == OpKind::DepthwiseConv2d ? 1 : c.channels);
  switch (c.kind) {
    case OpKind::Conv2d: {
      b.input({c.batches, c.height, c.width, c.channels});
      constants(b, {c.out_channels, c.kernel_h, c.kernel_w, c.channels}, c.out_channels, 0, c);
      Conv2dAttrs attrs;
      attrs.stride_h = attrs.stride_w = c.stride;
      attrs.dilation_h = attrs.dilation_w = c.dilation;
      attrs.padding = c.padding;
      attrs.activation = c.activation;
      b.node().attributes = attrs;
      break;
    }
    case OpKind::DepthwiseConv2d: {
      b.input({c.batches, c.height, c.width, c.channels});
      constants(b, {1, c.kernel_h, c.kernel_w, c.out_channels}, c.out_channels, 3, c);
      DepthwiseConv2dAttrs attrs;
      attrs.stride_h = attrs.stride_w = c.stride;
      attrs.dilation_h = attrs.dilation_w = c.dilation;
      attrs.multiplier = c.out_channels / c.channels;
      attrs.padding = c.padding;
      attrs.activation = c.activation;
      b.node().attributes = attrs;
      break;
    }
    default:
      b.input({1, c.channels});
      constants(b, {c.out_channels, c.channels}, c.out_channels, 0, c);
      b.node().attributes = FullyConnectedAttrs{};
  }
  // So that results fill the range without all being at its ends.
  const float input_scale = b.tensor(b.node().inputs[0]).quantization.scale[0];
  return b.finish(DataType::Int16,
                  scales({input_scale * 0.01f * 60 * std::sqrt(static_cast<float>(taps))}));
}

Module float_depthwise_module(Random& random, const WideCase& c) {
  Builder b(random, OpKind::DepthwiseConv2d, DataType::Float32);
  b.input({c.batches, c.height, c.width, c.channels});
  b.constant({1, c.kernel_h, c.kernel_w, c.channels}, DataType::Float32, {}, 0, 0);
  if (random.chance(80)) b.constant({c.channels}, DataType::Float32, {}, 0, 0);
  DepthwiseConv2dAttrs attrs;
  attrs.stride_h = attrs.stride_w = c.stride;
  attrs.dilation_h = attrs.dilation_w = c.dilation;
  attrs.multiplier = 1;
  attrs.padding = c.padding;
  attrs.activation = c.activation;
  b.node().attributes = attrs;
  return b.finish(DataType::Float32, {});
}

Module hybrid_module(Random& random, const WideCase& c, int64_t groups) {
  Builder b(random, c.kind, DataType::Int8);
  if (c.kind == OpKind::HybridFullyConnected) {
    b.input({c.batches, c.channels});
    b.hybrid_weights({c.out_channels, c.channels}, c.out_channels, 0, c.batches);
    b.node().attributes = FullyConnectedAttrs{false, c.activation};
    return b.finish(DataType::Float32, {});
  }
  b.input({c.batches, c.height, c.width, c.channels});
  if (c.kind == OpKind::HybridDepthwiseConv2d) {
    b.hybrid_weights({1, c.kernel_h, c.kernel_w, c.out_channels}, c.out_channels, 3, c.batches);
    b.node().attributes = DepthwiseConv2dAttrs{
        c.stride,  c.stride,    c.dilation, c.dilation, c.out_channels / c.channels,
        c.padding, c.activation};
    return b.finish(DataType::Float32, {});
  }
  b.hybrid_weights({c.out_channels, c.kernel_h, c.kernel_w, c.channels / groups}, c.out_channels, 0,
                   c.batches);
  b.node().attributes =
      Conv2dAttrs{c.stride, c.stride, c.dilation, c.dilation, c.padding, c.activation};
  return b.finish(DataType::Float32, {});
}

Module shifted_module(Random& random, const WideCase& c, int64_t groups) {
  Builder b(random, c.kind, DataType::Int8);
  const bool rows = c.kind == OpKind::FullyConnected, depthwise = c.kind == OpKind::DepthwiseConv2d;
  b.input(rows ? Shape{c.batches, c.channels} : Shape{c.batches, c.height, c.width, c.channels});
  const float input_scale = b.tensor(b.node().inputs[0]).quantization.scale[0];
  std::vector<float> weight_scales, bias_scales;
  for (int64_t i = 0; i < c.out_channels; ++i) {
    weight_scales.push_back(random.real(0.001f, 0.01f));
    bias_scales.push_back(input_scale * weight_scales.back());
  }
  const int64_t zero = random.range(-128, 127);
  Quantization weight_quantization = scales(std::move(weight_scales));
  if (depthwise) weight_quantization.axis = 3;
  b.constant(rows        ? Shape{c.out_channels, c.channels}
             : depthwise ? Shape{1, c.kernel_h, c.kernel_w, c.out_channels}
                         : Shape{c.out_channels, c.kernel_h, c.kernel_w, c.channels / groups},
             DataType::Int16, std::move(weight_quantization), -128 - zero, 127 - zero);
  if (random.chance(80))
    b.constant({c.out_channels}, DataType::Int32, scales(std::move(bias_scales)), -9000, 9000);
  if (rows)
    b.node().attributes = FullyConnectedAttrs{false, c.activation};
  else if (depthwise)
    b.node().attributes = DepthwiseConv2dAttrs{
        c.stride,  c.stride,    c.dilation, c.dilation, c.out_channels / c.channels,
        c.padding, c.activation};
  else
    b.node().attributes =
        Conv2dAttrs{c.stride, c.stride, c.dilation, c.dilation, c.padding, c.activation};
  const int64_t taps = (depthwise ? 1 : c.channels / groups) * (rows ? 1 : c.kernel_h * c.kernel_w);
  const float scale = input_scale * 0.01f * 70 * std::sqrt(static_cast<float>(taps));
  // Now and then results of a scale that the quick arithmetic does not cover.
  return b.finish(
      DataType::Int8,
      {{random.chance(15) ? input_scale * 0.0005f : scale}, {random.range(-128, 127)}, 0});
}

Module normalized_module(Random& random, OpKind kind, int64_t rows, int64_t count, float scale) {
  Builder b(random, kind, DataType::Int8);
  b.tensor(b.input({rows, count})).quantization = {{scale}, {random.range(-128, 127)}, 0};
  return b.finish(DataType::Int8, kind == OpKind::LogSoftmax ? Quantization{{1.0f / 16}, {127}, 0}
                                                             : Quantization{{1.0f / 128}, {0}, 0});
}

Module row_steps_module(Random& random, int64_t rows, int64_t count, bool asymmetric,
                        bool together) {
  Builder b(random, OpKind::QuantizeRows, DataType::Float32);
  b.input({rows, count});
  b.node().attributes = QuantizeRowsAttrs{rows, asymmetric, together};
  b.output({}, DataType::Float32), b.output({}, DataType::Int32);
  return b.finish(DataType::Int8, {});
}

Module float_binary_module(Random& random, OpKind kind, const Shape& a, const Shape& b,
                           Activation activation) {
  Builder builder(random, kind, DataType::Float32);
  builder.input(a), builder.input(b);
  builder.node().attributes = BinaryAttrs{activation};
  return builder.finish(DataType::Float32, {});
}

Module concat_module(Random& random, DataType type, const std::vector<Shape>& inputs,
                     int64_t axis) {
  Builder b(random, OpKind::Concat, type);
  Quantization q;
  for (const Shape& shape : inputs) {
    Tensor& tensor = b.tensor(b.input(shape));
    if (!q.present()) q = tensor.quantization;
    tensor.quantization = q;
  }
  b.node().attributes = AxisAttrs{axis};
  return b.finish(type, q);
}

Module moved_module(Random& random, OpKind kind, DataType type, const Shape& input,
                    const graph::Attributes& attributes) {
  Builder b(random, kind, type);
  const Quantization q = b.tensor(b.input(input)).quantization;
  b.node().attributes = attributes;
  return b.finish(type, q);
}

Module float_matmul_module(Random& random, const Shape& a, const Shape& b, bool transpose_b,
                           bool transpose_a) {
  Builder builder(random, OpKind::BatchMatmul, DataType::Float32);
  builder.input(a), builder.input(b);
  builder.node().attributes = BatchMatmulAttrs{transpose_a, transpose_b};
  return builder.finish(DataType::Float32, {});
}

Module wide_sum_module(Random& random, OpKind kind, const Shape& a, const Shape& b, float a_scale,
                       float b_scale, Activation activation) {
  Builder builder(random, kind, DataType::Int16);
  builder.tensor(builder.input(a)).quantization = scales({a_scale});
  builder.tensor(builder.input(b)).quantization = scales({b_scale});
  builder.node().attributes = BinaryAttrs{activation};
  return builder.finish(DataType::Int16, scales({(a_scale + b_scale) * random.real(0.3f, 1.1f)}));
}

Module wide_product_module(Random& random, const Shape& a, const Shape& b, float steps,
                           Activation activation) {
  Builder builder(random, OpKind::Mul, DataType::Int16);
  const float a_scale = random.real(0.0001f, 0.001f), b_scale = random.real(0.0001f, 0.001f);
  builder.tensor(builder.input(a)).quantization = scales({a_scale});
  builder.tensor(builder.input(b)).quantization = scales({b_scale});
  builder.node().attributes = BinaryAttrs{activation};
  return builder.finish(DataType::Int16,
                        scales({a_scale * b_scale * std::ldexp(1.0f, 30) / steps}));
}

Module squared_difference_module(Random& random, DataType type, const Shape& a, const Shape& b,
                                 float a_scale, float b_scale) {
  Builder builder(random, OpKind::SquaredDifference, type);
  const bool wide = type == DataType::Int16;
  const auto quantised = [&](float scale) {
    return Quantization{{scale}, {wide ? 0 : random.range(-128, 127)}, 0};
  };
  builder.tensor(builder.input(a)).quantization = quantised(a_scale);
  builder.tensor(builder.input(b)).quantization = quantised(b_scale);
  const float most = (a_scale + b_scale) * (wide ? 32768 : 128);
  return builder.finish(type,
                        quantised(most * most * random.real(0.1f, 1.0f) / (wide ? 32768 : 256)));
}

Module wide_curve_module(Random& random, OpKind kind, int64_t count, float scale, float out_scale) {
  Builder builder(random, kind, DataType::Int16);
  builder.tensor(builder.input({1, count})).quantization = scales({scale});
  if (kind == OpKind::Relu) builder.node().attributes = graph::ReluAttrs{graph::Activation::Relu6};
  return builder.finish(DataType::Int16, scales({out_scale}));
}

Module wide_softmax_module(Random& random, int64_t rows, int64_t count, float scale, float beta) {
  Builder builder(random, OpKind::Softmax, DataType::Int16);
  builder.tensor(builder.input({rows, count})).quantization = scales({scale});
  builder.node().attributes = graph::SoftmaxAttrs{beta};
  return builder.finish(DataType::Int16, scales({1.0f / 32768}));
}

Module requantize_module(Random& random, DataType from, Quantization in, DataType to,
                         Quantization out, int64_t count) {
  Builder builder(random, OpKind::Quantize, from);
  builder.tensor(builder.input({1, count})).quantization = std::move(in);
  return builder.finish(to, std::move(out));
}

Module prelu_module(Random& random, DataType type, const Shape& shape, const Shape& alpha,
                    bool constant, float ratio) {
  Builder builder(random, OpKind::Prelu, type);
  const bool wide = type == DataType::Int16;
  const float scale = random.real(0.01f, 0.1f);
  const auto quantised = [&](float of) {
    return Quantization{{of}, {wide ? 0 : random.range(-128, 127)}, 0};
  };
  builder.tensor(builder.input(shape)).quantization = quantised(scale);
  const Quantization alphas{{random.real(0.001f, 0.01f)}, {random.range(-128, 127)}, 0};
  if (constant)
    builder.constant(alpha, DataType::Int8, alphas, -128, 127);
  else
    builder.tensor(builder.input(alpha, DataType::Int8)).quantization = alphas;
  return builder.finish(type, quantised(scale / ratio));
}

Module wide_mean_module(Random& random, OpKind kind, const Shape& shape,
                        const std::vector<int64_t>& axes) {
  Builder builder(random, kind, DataType::Int16);
  const float scale = random.real(0.0001f, 0.001f);
  builder.tensor(builder.input(shape)).quantization = scales({scale});
  builder.node().attributes = ReduceAttrs{axes, random.chance(50)};
  return builder.finish(DataType::Int16,
                        scales({scale * random.real(0.1f, 2.0f) * (kind == OpKind::Sum ? 20 : 1)}));
}

Module largest_module(Random& random, DataType type, const Shape& shape) {
  Builder builder(random, OpKind::ReduceMax, type);
  const Quantization q = builder.tensor(builder.input(shape)).quantization;
  builder.node().attributes = ReduceAttrs{{1, 2}, random.chance(50)};
  return builder.finish(type, q);
}

Module looked_up_module(Random& random, OpKind kind, int64_t count, bool constant_first) {
  Builder builder(random, kind, DataType::Int8);
  const bool extreme = kind == OpKind::Maximum || kind == OpKind::Minimum;
  const Quantization q{{random.real(0.02f, 0.1f)}, {random.range(-60, 60)}, 0};
  const Quantization other =
      extreme ? q : Quantization{{random.real(0.02f, 0.1f)}, {random.range(-60, 60)}, 0};
  if (constant_first) builder.constant({1}, DataType::Int8, other, -128, 127);
  builder.tensor(builder.input({1, count})).quantization = q;
  if (!constant_first) builder.constant({1}, DataType::Int8, other, -128, 127);
  if (kind == OpKind::Mul) builder.node().attributes = BinaryAttrs{};
  const bool compares =
      kind == OpKind::Greater || kind == OpKind::LessEqual || kind == OpKind::Equal;
  return compares ? builder.finish(DataType::Bool, {})
                  : builder.finish(DataType::Int8,
                                   extreme ? q : Quantization{{0.3f}, {random.range(-60, 60)}, 0});
}

Module pair_module(Random& random, OpKind kind, const Shape& a, const Shape& b, bool constant) {
  Builder made(random, kind, DataType::Int8);
  made.input(a);
  if (constant)
    made.constant(b, DataType::Int8, made.quantization(DataType::Int8), -127, 127);
  else
    made.input(b);
  if (kind == OpKind::Div) {
    made.node().attributes = BinaryAttrs{};
    return made.finish();
  }
  return made.finish(DataType::Bool, {});
}

Module extreme_module(Random& random, OpKind kind, DataType type, const Shape& a, const Shape& b,
                      bool constant) {
  Builder made(random, kind, type);
  const Quantization q = made.tensor(made.input(a)).quantization;
  const int64_t most = type == DataType::Int16 ? 32767 : 127;
  if (constant)
    made.constant(b, type, q, -most - 1, most);
  else
    made.tensor(made.input(b)).quantization = q;
  return made.finish(type, q);
}

Module limited_module(Random& random, DataType type, int64_t count) {
  Builder builder(random, OpKind::Relu, type);
  const Quantization q = builder.tensor(builder.input({1, count})).quantization;
  builder.node().attributes = ReluAttrs{builder.random().pick<Activation>(
      {Activation::Relu, Activation::Relu6, Activation::ReluN1To1})};
  return builder.finish(type, q);
}

Module leaky_relu_module(Random& random, int64_t count, float alpha, float ratio) {
  Builder builder(random, OpKind::LeakyRelu, DataType::Int16);
  const float scale = random.real(0.0001f, 0.001f);
  builder.tensor(builder.input({1, count})).quantization = scales({scale});
  builder.node().attributes = LeakyReluAttrs{alpha};
  return builder.finish(DataType::Int16, scales({scale / ratio}));
}

Module square_module(Random& random, int64_t count, float scale, float out_scale) {
  Builder builder(random, OpKind::Mul, DataType::Int16);
  builder.tensor(builder.input({1, count})).quantization = scales({scale});
  builder.node().inputs.push_back(builder.node().inputs[0]);
  builder.node().attributes = BinaryAttrs{};
  return builder.finish(DataType::Int16, scales({out_scale}));
}

Module float_curve_module(Random& random, OpKind kind, int64_t count, bool by_tanh) {
  Builder builder(random, kind, DataType::Float32);
  if (kind == OpKind::Gelu) builder.node().attributes = graph::GeluAttrs{by_tanh};
  builder.tensor(builder.input({1, count})).quantization = {};
  return builder.finish(DataType::Float32, {});
}

Module float_softmax_module(Random& random, int64_t rows, int64_t count, float beta) {
  Builder builder(random, OpKind::Softmax, DataType::Float32);
  builder.tensor(builder.input({rows, count})).quantization = {};
  builder.node().attributes = graph::SoftmaxAttrs{beta};
  return builder.finish(DataType::Float32, {});
}

graph::TensorValue floats_of_curves(Random& random, const Module& module) {
  const float far[] = {0.0f,  -0.0f, 87.5f,    -86.9f, -87.1f, 87.9f, 85.0f,
                       88.1f, 88.7f, 88.7228f, -1e30f, 0.25f,  -10.0f};
  graph::TensorValue bytes;
  const graph::Function& function = module.entry_function();
  for (int64_t i = 0; i < element_count(function.tensor(function.outputs[0]).shape); ++i) {
    float value = random.real(-12.0f, 12.0f);
    if (random.chance(30)) value = random.real(-0.3f, 0.3f);
    if (random.chance(15)) value = far[random.range(0, std::ssize(far) - 1)];
    // Six times some of them is infinite.
    if (function.nodes[0].kind == OpKind::HardSwish && random.chance(10))
      value = random.pick<float>({3e38f, -3e38f, 6e37f, 5.6e37f});
    // Of those of the other curves the sign is not the same on every machine.
    if (function.nodes[0].kind == OpKind::Exp && random.chance(5))
      value = std::numeric_limits<float>::quiet_NaN();
    const auto bits = std::bit_cast<uint32_t>(value);
    for (int byte = 0; byte < 4; ++byte) bytes.push_back(static_cast<uint8_t>(bits >> (8 * byte)));
  }
  return bytes;
}

Module resize_module(Random& random, DataType type, const Shape& in,
                     const ResizeAttrs& attributes) {
  Builder builder(random, OpKind::ResizeBilinear, type);
  const Quantization steps = scales({0.05f});
  builder.tensor(builder.input(in)).quantization = steps;
  builder.node().attributes = attributes;
  return builder.finish(type, steps);
}

Module float_steps_module(Random& random, OpKind kind, DataType type, int64_t count, float scale,
                          int64_t zero_point) {
  const bool to_steps = kind == OpKind::Quantize;
  const Quantization steps{{scale}, {zero_point}, 0};
  Builder builder(random, kind, to_steps ? DataType::Float32 : type);
  builder.tensor(builder.input({1, count})).quantization = to_steps ? Quantization{} : steps;
  return builder.finish(to_steps ? type : DataType::Float32, to_steps ? steps : Quantization{});
}

graph::TensorValue floats_between_steps(Random& random, const Module& module) {
  const graph::Function& function = module.entry_function();
  const graph::Tensor& result = function.tensor(function.outputs[0]);
  const float scale = result.quantization.scale[0];
  const int64_t zero = result.quantization.zero_point[0],
                reach = result.type == DataType::Int8 ? 140 : 33000;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float far[] = {kInfinity, -kInfinity, std::nanf(""), 3e38f, -3e38f,
                       1e-42f,    -1e-42f,    0.0f,          -0.0f, 1e-20f};
  graph::TensorValue bytes;
  for (int64_t i = 0; i < element_count(result.shape); ++i) {
    const double middle =
        static_cast<double>(random.range(-reach, reach) - zero) + (random.chance(80) ? 0.5 : 0);
    auto value = static_cast<float>(middle * static_cast<double>(scale));
    for (int64_t step = random.range(0, 3); step > 0; --step)
      value = std::nextafter(value, i % 2 == 0 ? kInfinity : -kInfinity);
    if (random.chance(5)) value = far[random.range(0, std::ssize(far) - 1)];
    const auto bits = std::bit_cast<uint32_t>(value);
    for (int byte = 0; byte < 4; ++byte) bytes.push_back(static_cast<uint8_t>(bits >> (8 * byte)));
  }
  return bytes;
}

Module byte_function_module(Random& random, OpKind kind, int64_t count) {
  Builder builder(random, kind, DataType::Int8);
  builder.input({1, count});
  if (kind == OpKind::LeakyRelu) builder.node().attributes = LeakyReluAttrs{0.2f};
  return builder.finish(DataType::Int8,
                        kind == OpKind::Logistic ? Quantization{{1.0f / 256}, {-128}, 0}
                        : kind == OpKind::Tanh   ? scales({1.0f / 128})
                                                 : builder.quantization(DataType::Int8));
}

Module constant_operand_module(Random& random, OpKind kind, DataType type, const Shape& activation,
                               const Shape& constant, bool constant_first) {
  Builder builder(random, kind, type);
  const bool wide = type == DataType::Int16;
  const float unit = wide ? 0.0003f : 0.05f;
  const auto quantised = [&](float scale) {
    return Quantization{{scale}, {wide ? 0 : random.range(-128, 127)}, 0};
  };
  const auto add_input = [&] {
    builder.tensor(builder.input(activation)).quantization = quantised(unit);
  };
  if (!constant_first) add_input();
  const int64_t most = wide ? 32767 : 127;
  builder.constant(constant, type, quantised(unit * random.real(0.1f, 0.9f)), -most, most);
  if (constant_first) add_input();
  builder.node().attributes = BinaryAttrs{Activation::None};
  const float product = unit * static_cast<float>(most) * 0.2f;
  return builder.finish(type, quantised(unit * (kind == OpKind::Mul ? product : 1.2f)));
}

Module wide_matmul_module(Random& random, const Shape& a, const Shape& b, bool transpose_b,
                          bool transpose_a) {
  Builder builder(random, OpKind::BatchMatmul, DataType::Int16);
  builder.tensor(builder.input(a)).quantization = scales({0.0003f});
  builder.tensor(builder.input(b)).quantization = scales({0.0002f});
  builder.node().attributes = BatchMatmulAttrs{transpose_a, transpose_b};
  const auto depth = static_cast<float>(a.back());
  return builder.finish(DataType::Int16, scales({0.0003f * 0.0002f * 9000 * std::sqrt(depth)}));
}

Module staged_wide_module(Random& random, const WideCase& c, int64_t groups) {
  Builder b(random, c.kind, DataType::Int16);
  b.input({c.batches, c.height, c.width, c.channels});
  constants(b, {c.out_channels, c.kernel_h, c.kernel_w, c.channels / groups}, c.out_channels, 0, c);
  if (c.kind == OpKind::TransposeConv2d) {
    TransposeConv2dAttrs attrs;
    attrs.stride_h = attrs.stride_w = c.stride;
    attrs.pad_top = c.padding.top, attrs.pad_left = c.padding.left;
    attrs.out_h = (c.height - 1) * c.stride + c.kernel_h - c.padding.top - c.padding.bottom;
    attrs.out_w = (c.width - 1) * c.stride + c.kernel_w - c.padding.left - c.padding.right;
    attrs.activation = c.activation;
    b.node().attributes = attrs;
  } else {
    Conv2dAttrs attrs;
    attrs.stride_h = attrs.stride_w = c.stride;
    attrs.dilation_h = attrs.dilation_w = c.dilation;
    attrs.padding = c.padding;
    attrs.activation = c.activation;
    b.node().attributes = attrs;
  }
  const float input_scale = b.tensor(b.node().inputs[0]).quantization.scale[0];
  const auto taps = static_cast<float>(c.kernel_h * c.kernel_w * c.channels / groups);
  return b.finish(DataType::Int16, scales({input_scale * 0.01f * 60 * std::sqrt(taps)}));
}

Module wide_pool_module(Random& random, OpKind kind, const Shape& shape,
                        const Pool2dAttrs& attributes) {
  Builder builder(random, kind, DataType::Int16);
  const Quantization q = scales({random.real(0.0001f, 0.001f)});
  builder.tensor(builder.input(shape)).quantization = q;
  builder.node().attributes = attributes;
  return builder.finish(DataType::Int16, q);
}

Module lstm_module(Random& random, DataType type, int64_t inputs, int64_t units, float input_scale,
                   int64_t steps) {
  Builder b(random, OpKind::Lstm, type);
  const bool wide = type == DataType::Int16;
  const auto with_zero = [&](float scale) {
    Quantization q = scales({scale});
    if (!wide) q.zero_point = {random.range(-128, 127)};
    return q;
  };
  b.tensor(b.input({1, steps, inputs})).quantization = with_zero(input_scale > 0 ? input_scale
                                                                 : wide          ? 0.0002f
                                                                                 : 0.01f);
  const auto scale = [&] { return scales({random.real(0.002f, 0.02f)}); };
  for (int i = 0; i < 4; ++i) b.constant({units, inputs}, DataType::Int8, scale(), -127, 127);
  for (int i = 0; i < 4; ++i) b.constant({units, units}, DataType::Int8, scale(), -127, 127);
  for (int i = 0; i < 4; ++i)
    b.constant({units}, wide ? DataType::Int64 : DataType::Int32, scale(), -900, 900);
  const Quantization hidden = with_zero(wide ? 1.0f / 32768 : 1.0f / 128);
  b.state({1, units}, type, hidden);
  // Of a tanh whose arguments are shifted to the left, to the right, or not at all.
  b.state({1, units}, DataType::Int16,
          scales({std::ldexp(1.0f, -static_cast<int>(random.range(11, 14)))}));
  b.node().attributes = LstmAttrs{};
  return b.finish(type, hidden);
}

Module svdf_module(Random& random, DataType state, int64_t inputs, int64_t units, int64_t memory) {
  Builder b(random, OpKind::Svdf, DataType::Int8);
  b.input({1, inputs});
  const auto scale = [&] { return scales({random.real(0.002f, 0.02f)}); };
  b.constant({units, inputs}, DataType::Int8, scale(), -127, 127);
  b.constant({units, memory}, state, scale(), -127, 127);
  b.constant({units}, DataType::Int32, scale(), -900, 900);
  b.state({1, units * memory}, state, scales({0.05f}));
  b.node().attributes = SvdfAttrs{1, Activation::None};
  return b.finish();
}

}  // namespace intarsia::test::cortex_m
