#include "wide_modules.h"

#include <cmath>

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

Module wide_sum_module(Random& random, OpKind kind, const Shape& a, const Shape& b, float a_scale,
                       float b_scale, Activation activation) {
  Builder builder(random, kind, DataType::Int16);
  builder.tensor(builder.input(a)).quantization = scales({a_scale});
  builder.tensor(builder.input(b)).quantization = scales({b_scale});
  builder.node().attributes = BinaryAttrs{activation};
  return builder.finish(DataType::Int16, scales({(a_scale + b_scale) * random.real(0.3f, 1.1f)}));
}

Module wide_pool_module(Random& random, OpKind kind, const Shape& shape,
                        const Pool2dAttrs& attributes) {
  Builder builder(random, kind, DataType::Int16);
  const Quantization q = scales({random.real(0.0001f, 0.001f)});
  builder.tensor(builder.input(shape)).quantization = q;
  builder.node().attributes = attributes;
  return builder.finish(DataType::Int16, q);
}

Module lstm_module(Random& random, DataType type, int64_t inputs, int64_t units,
                   float input_scale) {
  Builder b(random, OpKind::Lstm, type);
  const bool wide = type == DataType::Int16;
  b.tensor(b.input({1, 1, inputs})).quantization = scales({input_scale > 0 ? input_scale
                                                           : wide          ? 0.0002f
                                                                           : 0.01f});
  const auto scale = [&] { return scales({random.real(0.002f, 0.02f)}); };
  for (int i = 0; i < 4; ++i) b.constant({units, inputs}, DataType::Int8, scale(), -127, 127);
  for (int i = 0; i < 4; ++i) b.constant({units, units}, DataType::Int8, scale(), -127, 127);
  for (int i = 0; i < 4; ++i)
    b.constant({units}, wide ? DataType::Int64 : DataType::Int32, scale(), -900, 900);
  const Quantization hidden = scales({wide ? 1.0f / 32768 : 1.0f / 128});
  b.state({1, units}, type, hidden);
  b.state({1, units}, DataType::Int16, scales({std::ldexp(1.0f, -11)}));
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
