// Operators on int16 activations that the kernels are tested with.
#include <algorithm>
#include <array>

#include "kernel_cases.h"
#include "wide_modules.h"

namespace intarsia::test::cortex_m {
namespace {

using graph::Activation;
using graph::OpKind;

Activation any_activation(Random& random) {
  return random.pick<Activation>(
      {Activation::None, Activation::Relu, Activation::Relu6, Activation::ReluN1To1});
}

// What a window may reach over the edges of an image, and still see some of it.
graph::Padding2d any_padding(Random& random, const WideCase& c) {
  const auto most = [&](int64_t kernel, int64_t extent) {
    return std::min((kernel - 1) * c.dilation, extent);
  };
  const int64_t rows = most(c.kernel_h, c.height), columns = most(c.kernel_w, c.width);
  graph::Padding2d padding{random.range(0, rows), random.range(0, columns), random.range(0, rows),
                           random.range(0, columns)};
  padding.bottom = std::max(padding.bottom, (c.kernel_h - 1) * c.dilation + 1 - c.height);
  padding.right = std::max(padding.right, (c.kernel_w - 1) * c.dilation + 1 - c.width);
  return padding;
}

}  // namespace

std::vector<graph::Module> wide_convolutions() {
  std::vector<graph::Module> modules;
  Random random(31);
  for (int i = 0; i < 160; ++i) {
    WideCase c;
    c.kind = i % 3 == 2 ? OpKind::DepthwiseConv2d : OpKind::Conv2d;
    c.batches = i % 7 == 0 ? 2 : 1;
    c.height = i % 4 == 0 ? 1 : random.range(1, 9);
    c.width = random.range(1, 13);
    c.channels = random.range(1, i % 5 == 0 ? 40 : 12);
    c.out_channels = c.kind == OpKind::Conv2d ? random.range(1, 14)
                                              : c.channels * (i % 6 == 2 ? random.range(1, 3) : 1);
    c.kernel_h = i % 4 == 0 ? 1 : random.range(1, 4);
    c.kernel_w = random.range(1, 5);
    c.stride = random.range(1, 3);
    c.dilation = i % 6 == 1 ? 2 : 1;
    c.padding = any_padding(random, c);
    c.activation = any_activation(random);
    if (i % 10 == 9 && c.kind == OpKind::Conv2d) c.bias = DataType::Int32;
    modules.push_back(wide_module(random, c));
  }
  // As wide as the image, and one pixel.
  for (const int64_t width : {1, 5, 16}) {
    WideCase c;
    c.height = 7, c.width = c.kernel_w = width, c.kernel_h = 3, c.channels = 6, c.out_channels = 9;
    modules.push_back(wide_module(random, c));
    c.kernel_h = c.height;
    modules.push_back(wide_module(random, c));
  }
  // Sums that need more than 32 bits.
  WideCase c;
  c.height = c.width = 4, c.kernel_h = c.kernel_w = 3, c.channels = 61, c.out_channels = 5;
  c.extreme = true;
  modules.push_back(wide_module(random, c));
  for (const int64_t inputs : {1, 7, 8, 9, 64, 160})
    for (const int64_t outputs : {1, 4, 6, 33})
      modules.push_back(wide_module(random, {OpKind::FullyConnected, 1, 1, inputs, outputs}));
  return modules;
}

std::vector<graph::Module> wide_sums_and_poolings() {
  std::vector<graph::Module> modules;
  Random random(32);
  for (const OpKind kind : {OpKind::Add, OpKind::Sub})
    for (int64_t count = 1; count <= 34; count += count < 10 ? 1 : 4)
      for (const float other : {0.0003f, 0.0002f, 0.0007f})
        modules.push_back(wide_sum_module(random, kind, {1, count}, {1, count}, 0.0003f, other,
                                          any_activation(random)));
  for (const Shape& part : {Shape{19}, {3, 19}, {1}, {2, 4, 1, 19}, {2, 4, 3, 1}}) {
    const Shape whole{2, 4, 3, 19};
    for (const OpKind kind : {OpKind::Add, OpKind::Sub}) {
      modules.push_back(
          wide_sum_module(random, kind, whole, part, 0.0003f, 0.0011f, any_activation(random)));
      modules.push_back(
          wide_sum_module(random, kind, part, whole, 0.0003f, 0.0001f, any_activation(random)));
    }
  }
  for (const OpKind kind : {OpKind::AveragePool2d, OpKind::MaxPool2d})
    for (const int64_t channels : {1, 2, 3, 4, 7, 8, 9, 21})
      for (const auto& [size, filter, stride, padding] : std::vector<std::array<int64_t, 4>>{
               {4, 1, 2, 0}, {6, 2, 2, 0}, {5, 3, 2, 1}, {15, 15, 1, 0}})
        modules.push_back(wide_pool_module(random, kind, {random.range(1, 2), size, size, channels},
                                           {filter,
                                            filter,
                                            stride,
                                            stride,
                                            {padding, padding, padding, padding},
                                            any_activation(random)}));
  return modules;
}

std::vector<graph::Module> float_depthwise_convolutions() {
  std::vector<graph::Module> modules;
  Random random(33);
  for (int i = 0; i < 60; ++i) {
    WideCase c;
    c.kind = OpKind::DepthwiseConv2d;
    c.batches = i % 7 == 0 ? 2 : 1;
    c.height = i % 4 == 0 ? 1 : random.range(1, 8);
    c.width = random.range(1, 15);
    c.channels = c.out_channels = random.range(4, 19);
    c.kernel_h = i % 4 == 0 ? 1 : random.range(1, 4);
    c.kernel_w = random.range(1, 5);
    c.stride = random.range(1, 3);
    c.dilation = i % 5 == 1 ? 2 : 1;
    c.padding = any_padding(random, c);
    c.activation = any_activation(random);
    modules.push_back(float_depthwise_module(random, c));
  }
  return modules;
}

}  // namespace intarsia::test::cortex_m
