// Depthwise convolutions with windows of one row or one column; and layers of which the samples of costs have some more.
#include <algorithm>

#include "cost_sample_kinds.h"
#include "kernel_cases.h"
#include "operator_modules.h"
#include "support/random_builder.h"
#include "wide_modules.h"

namespace intarsia::test::cortex_m {

using graph::OpKind;
using testing::families::Builder;

// Windows of one row or one column, on signals or line by line on images.
std::vector<graph::Module> depthwise_convolutions_of_lines() {
  std::vector<graph::Module> modules;
  Random random(61);
  for (int i = 0; i < 72; ++i) {
    WindowCase c{OpKind::DepthwiseConv2d, random.range(1, 2), i % 3 == 0 ? random.range(2, 5) : 1};
    c.channels = random.range(i % 6 == 5 ? 2 : 4, 13);
    c.out_channels = c.channels * (i % 4 == 3 ? random.range(2, 3) : 1);
    c.kernel_w = random.range(2, i % 2 == 0 ? 17 : 6);
    (i % 5 < 3 ? c.stride_w : c.dilation_w) = random.range(1, 4);
    const int64_t reach = (c.kernel_w - 1) * c.dilation_w;
    c.padding = {0, random.range(0, reach), 0, random.range(0, reach)};
    c.width = std::max<int64_t>(1, reach + 1 - c.padding.left - c.padding.right) +
              random.range(0, i % 7 == 0 ? 2 : 40);
    if (i % 8 == 1) {
      std::swap(c.kernel_h, c.kernel_w), std::swap(c.height, c.width);
      std::swap(c.dilation_h, c.dilation_w);
      c.stride_w = 0, c.stride = random.range(1, 2), c.width = 1;
      c.padding = {c.padding.left, 0, c.padding.right, 0};
    }
    c.activation = any_activation(random);
    c.small_multipliers = i % 9 != 0;
    modules.push_back(window_module(random, c));
  }
  return modules;
}

std::vector<graph::Module> wide_depthwise_of_lines() {
  std::vector<graph::Module> modules;
  Random random(62);
  for (int i = 0; i < 40; ++i) {
    WideCase c{OpKind::DepthwiseConv2d, i % 3 == 0 ? random.range(2, 4) : 1, random.range(60, 90)};
    c.batches = i % 7 == 0 ? 2 : 1;
    c.channels = random.range(i % 6 == 5 ? 2 : 4, 13);
    c.out_channels = c.channels * (i % 4 == 3 ? 2 : 1);
    c.kernel_w = random.range(5, 15);
    (i % 5 < 3 && c.height == 1 ? c.stride : c.dilation) = random.range(1, 2);
    if (i % 8 == 1) std::swap(c.kernel_h, c.kernel_w), std::swap(c.height, c.width), c.width = 1;
    c.padding = any_padding(random, c);
    if (c.kernel_h == 1) c.padding.top = c.padding.bottom = 0;
    c.activation = any_activation(random);
    modules.push_back(wide_module(random, c));
  }
  return modules;
}

graph::Module curve_or_line(Random& random, int which) {
  constexpr int64_t kMost = 600;
  if (which % 2 == 0) {
    const OpKind kind = which % 6 == 0 ? OpKind::Elu : OpKind::Gelu;
    return float_curve_module(random, kind, random.range(1, kMost), which % 6 == 2);
  }
  const int64_t channels = random.range(4, 44);
  WindowCase line{OpKind::DepthwiseConv2d, 1, 1, random.range(30, 120), channels, channels, 1,
                  random.range(3, 17),     1};
  (which % 4 == 1 ? line.dilation_w : line.stride_w) = random.range(1, 2);
  const int64_t reach = (line.kernel_w - 1) * line.dilation_w;
  line.padding = {0, reach / 2, 0, reach - reach / 2};
  line.activation = any_activation(random);
  return window_module(random, line);
}

graph::Module function_of_long_row(Random& random, int which) {
  constexpr OpKind kKinds[] = {OpKind::Logistic, OpKind::Tanh, OpKind::HardSwish, OpKind::Relu};
  const OpKind kind = kKinds[which % 4];
  if (which % 8 < 4) {
    Builder b(random, kind, DataType::Int8);
    b.input({1, random.range(20, 400)});
    if (kind == OpKind::Relu) b.node().attributes = graph::ReluAttrs{};
    return b.finish(DataType::Int8,
                    kind == OpKind::Logistic ? graph::Quantization{{1.0f / 256}, {-128}, 0}
                    : kind == OpKind::Tanh   ? graph::Quantization{{1.0f / 128}, {0}, 0}
                                             : b.quantization(DataType::Int8));
  }
  Builder b(random, which % 8 == 4 ? OpKind::Softmax : kind, DataType::Float32);
  b.input({which % 8 == 4 ? random.range(1, 6) : 1, random.range(5, 60)});
  if (which % 8 != 4 && kind == OpKind::Relu) b.node().attributes = graph::ReluAttrs{};
  if (which % 8 == 4) b.node().attributes = graph::SoftmaxAttrs{};
  return b.finish();
}

graph::Module rectified_wide(Random& random) {
  const int64_t kernel = random.range(0, 1) * 2 + 1, pad = kernel / 2;
  WideCase c{OpKind::Conv2d, random.range(3, 16), random.range(4, 20), random.range(1, 24),
             random.range(1, 40)};
  c.kernel_h = c.kernel_w = kernel, c.padding = {pad, pad, pad, pad};
  c.activation = any_activation(random);
  return wide_module(random, c);
}

}  // namespace intarsia::test::cortex_m
