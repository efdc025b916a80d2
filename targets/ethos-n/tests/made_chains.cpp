#include "made_chains.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace intarsia::test::ethos_n {

using graph::OpKind;
using intarsia::testing::Random;

Chain::Chain(Random& random, int64_t height, int64_t width, int64_t channels) : random_(random) {
  last_ = made_.tensor("in", {1, height, width, channels}, 0.05f, random.range(-20, 20));
  made_.main().inputs = {last_};
}

graph::TensorId Chain::result(Shape shape, float scale) {
  return made_.tensor(fmt::format("t{}", ++count_).c_str(), std::move(shape), scale,
                      random_.range(-20, 20));
}

void Chain::push(OpKind kind, std::vector<graph::TensorId> inputs, graph::TensorId out) {
  made_.main().nodes.push_back(
      {kind, fmt::format("n{}", count_), {}, std::move(inputs), {out}, ""});
  last_ = out;
}

Chain& Chain::windowed(OpKind kind, int64_t ofms, int64_t kernel, int64_t stride, bool same) {
  const Shape in = shape();
  graph::Padding2d padding;
  const auto along = [&](int64_t size, int64_t& before, int64_t& behind) {
    const int64_t out = same ? (size + stride - 1) / stride : (size - kernel) / stride + 1;
    const int64_t all = same ? std::max<int64_t>(0, (out - 1) * stride + kernel - size) : 0;
    before = all / 2, behind = all - all / 2;
    return out;
  };
  const int64_t height = along(in[1], padding.top, padding.bottom),
                width = along(in[2], padding.left, padding.right);
  const bool is_conv = kind == OpKind::Conv2d;
  const auto channels = static_cast<size_t>(ofms);
  const graph::TensorId weights =
      is_conv ? made_.weights(random_, {ofms, kernel, kernel, in[3]}, channels, 0)
              : made_.weights(random_, {1, kernel, kernel, ofms}, channels, 3);
  const graph::TensorId bias = made_.bias(random_, channels);
  const auto taps = static_cast<float>(kernel * kernel * (is_conv ? in[3] : 1));
  const float scale = scale_of(last_) * 0.01f * 60 * std::sqrt(taps);
  const graph::TensorId from = last_, out = result({1, height, width, ofms}, scale);
  push(kind, {from, weights, bias}, out);
  const auto set = [&](auto attributes) {
    attributes.stride_h = attributes.stride_w = stride;
    attributes.padding = padding;
    node().attributes = attributes;
  };
  if (is_conv)
    set(graph::Conv2dAttrs{});
  else
    set(graph::DepthwiseConv2dAttrs{});
  return *this;
}

Chain& Chain::conv(int64_t ofms, int64_t kernel, int64_t stride, bool same) {
  return windowed(OpKind::Conv2d, ofms, kernel, stride, same);
}
Chain& Chain::depthwise(int64_t kernel, int64_t stride, bool same) {
  return windowed(OpKind::DepthwiseConv2d, shape()[3], kernel, stride, same);
}

Chain& Chain::pool(int64_t kernel, int64_t stride, const graph::Padding2d& padding) {
  const Shape in = shape();
  const auto along = [&](int64_t size, int64_t pad) { return (size + pad - kernel) / stride + 1; };
  const graph::TensorId from = last_,
                        out = result({1, along(in[1], padding.top + padding.bottom),
                                      along(in[2], padding.left + padding.right), in[3]},
                                     scale_of(last_));
  made_.main().tensors[out.at()].quantization = made_.main().tensor(from).quantization;
  push(OpKind::MaxPool2d, {from}, out);
  graph::Pool2dAttrs attributes;
  attributes.filter_h = attributes.filter_w = kernel;
  attributes.stride_h = attributes.stride_w = stride;
  attributes.padding = padding;
  node().attributes = attributes;
  return *this;
}
Chain& Chain::max_pool() {
  return pool(2, 2, {});
}
Chain& Chain::wide_max_pool() {
  graph::Padding2d padding;
  padding.bottom = padding.right = shape()[1] % 2 == 0 ? 1 : 0;
  return pool(3, 2, padding);
}
Chain& Chain::dense_max_pool(int64_t kernel, bool same) {
  graph::Padding2d padding;
  if (same) padding.top = padding.bottom = padding.left = padding.right = kernel / 2;
  return pool(kernel, 1, padding);
}

Chain& Chain::relu() {
  const graph::TensorId from = last_, out = result(shape(), scale_of(last_) * 0.8f);
  push(OpKind::Relu, {from}, out);
  node().attributes = graph::ReluAttrs{};
  return *this;
}

Chain& Chain::leaky_relu() {
  const graph::TensorId from = last_, out = result(shape(), scale_of(last_) * 0.9f);
  push(OpKind::LeakyRelu, {from}, out);
  graph::LeakyReluAttrs attributes;
  attributes.alpha = 0.2f;
  node().attributes = attributes;
  return *this;
}

Chain& Chain::up() {
  const Shape in = shape();
  const graph::TensorId from = last_,
                        out = result({1, 2 * in[1], 2 * in[2], in[3]}, scale_of(last_));
  made_.main().tensors[out.at()].quantization = made_.main().tensor(from).quantization;
  push(OpKind::ResizeNearest, {from}, out);
  node().attributes = graph::ResizeAttrs{2 * in[1], 2 * in[2], false, false};
  return *this;
}

Chain& Chain::add(graph::TensorId earlier) {
  if (made_.main().tensor(earlier).shape != shape() || earlier == last_) return *this;
  const graph::TensorId from = last_, out = result(shape(), scale_of(last_) + scale_of(earlier));
  push(OpKind::Add, {from, earlier}, out);
  node().attributes = graph::BinaryAttrs{};
  return *this;
}

Chain& Chain::output() {
  const std::vector<graph::TensorId>& outputs = made_.main().outputs;
  if (last_ == made_.main().inputs[0] ||
      std::find(outputs.begin(), outputs.end(), last_) != outputs.end())
    return *this;
  made_.main().outputs.push_back(last_);
  return *this;
}

graph::Module Chain::finish() {
  output();
  return made_.module;
}

graph::Module random_chain(Random& random) {
  Chain chain(random, random.range(24, 70), random.range(9, 30),
              random.pick<int64_t>({1, 3, 8, 16, 20, 33}));
  std::vector<graph::TensorId> results;
  const int64_t layers = random.range(2, 7);
  for (int64_t i = 0; i < layers; ++i) {
    const int64_t height = chain.shape()[1], width = chain.shape()[2], channels = chain.shape()[3];
    const int64_t least = std::min(height, width);
    const bool same = random.chance(70);
    switch (random.range(0, 9)) {
      case 0:
      case 1:
      case 2:
        chain.conv(random.pick<int64_t>({4, 16, 17, 24}),
                   least > 8 ? random.pick<int64_t>({1, 1, 3, 3, 5, 7}) : 1, 1, same);
        break;
      case 3:
        if (least > 8)
          chain.conv(random.pick<int64_t>({8, 16, 24}), random.pick<int64_t>({2, 3, 5}), 2, same);
        break;
      case 4:
      case 5:
        if (least > 8 && channels > 1) chain.depthwise(random.pick<int64_t>({3, 5, 7}), 1, same);
        break;
      case 6:
        if (least > 8 && channels > 1) chain.depthwise(3, 2, same);
        break;
      case 7:
        if (height % 2 == 0 && width % 2 == 0 && random.chance(60))
          chain.max_pool();
        else if (height % 2 == width % 2 && least > 8 && random.chance(50))
          chain.wide_max_pool();
        else if (least > 8)
          chain.dense_max_pool(random.pick<int64_t>({3, 5}), same);
        break;
      case 8:
        if (!results.empty()) chain.add(random.pick(results));
        break;
      default:
        random.chance(50)                           ? chain.relu()
        : random.chance(60) || height* width > 1500 ? chain.leaky_relu()
                                                    : chain.up();
    }
    if (random.chance(10) && i > 0 && i + 1 < layers) chain.output();
    results.push_back(chain.last());
    // As often as not a residual: around one or two layers that keep the shape.
    if (random.chance(25) && least > 8 && channels > 1) {
      const graph::TensorId around = chain.last();
      const int64_t ofms = chain.shape()[3];
      chain.conv(ofms, 3);
      if (random.chance(50)) chain.depthwise(3);
      chain.add(around);
    }
  }
  if (chain.last() == results.front() && results.size() == 1) chain.relu();
  return chain.finish();
}

}  // namespace intarsia::test::ethos_n
