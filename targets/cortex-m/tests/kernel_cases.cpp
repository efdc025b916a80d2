#include "kernel_cases.h"

#include <algorithm>

#include "intarsia/plugin/standard_lowering.h"
#include "support/float_values.h"
#include "wide_modules.h"

namespace intarsia::test::cortex_m {
using graph::OpKind;

graph::Activation any_activation(Random& random) {
  return random.pick<graph::Activation>({graph::Activation::None, graph::Activation::Relu,
                                         graph::Activation::Relu6, graph::Activation::ReluN1To1});
}

std::vector<graph::Module> small_convolutions() {
  std::vector<graph::Module> modules;
  Random random(1);
  for (int64_t kernel = 1; kernel <= 3; ++kernel)
    for (int64_t size = 1; size <= 4; ++size)
      for (int64_t channels = 1; channels <= 5; ++channels)
        for (int64_t stride = 1; stride <= 2; ++stride) {
          WindowCase c{OpKind::Conv2d, 1,          size,
                       5 - size,       channels,   1 + (size + channels) % 6,
                       kernel,         4 - kernel, stride};
          c.padding = {random.range(0, kernel - 1), random.range(0, 3 - kernel), random.range(0, 2),
                       random.range(0, 3)};
          if (c.height + c.padding.top + c.padding.bottom < c.kernel_h)
            c.padding.bottom = c.kernel_h;
          if (c.width + c.padding.left + c.padding.right < c.kernel_w) c.padding.right = c.kernel_w;
          c.activation = any_activation(random);
          modules.push_back(window_module(random, c));
        }
  return modules;
}

namespace {

// Four or two products add up in 16 bits, or not even two do (device/thumb_pairs.h).
void add_convolutions_by_weights(std::vector<graph::Module>& modules, OpKind kind) {
  Random random(35);
  for (const int64_t most : {31, 63, 64, 100, 128})
    for (const int64_t kernel : {1, 2, 3})
      for (const int64_t channels : {4, 7, 24}) {
        WindowCase c{
            kind,   random.range(1, 2), random.range(2, 7), random.range(2, 7), channels, channels,
            kernel, random.range(1, 3), random.range(1, 2)};
        if (kind == OpKind::Conv2d) c.out_channels = random.range(1, 9);
        c.padding = {random.range(0, 1), random.range(0, 1), 3, 3};
        c.activation = any_activation(random);
        c.small_multipliers = !random.chance(15), c.most_weight = most;
        modules.push_back(window_module(random, c));
      }
}

// Windows whose rows go into scratch one or two at a time.
void add_convolutions_in_parts(std::vector<graph::Module>& modules) {
  Random random(36);
  for (const int64_t channels : {64, 100, 128}) {
    WindowCase c{OpKind::Conv2d, 1, 3, 4, channels, 5, 3, 3, 1};
    c.padding = {1, 1, 1, 1};
    c.activation = any_activation(random);
    c.most_weight = channels == 100 ? 31 : 127;
    modules.push_back(window_module(random, c));
  }
}

}  // namespace

std::vector<graph::Module> larger_convolutions() {
  std::vector<graph::Module> modules;
  Random random(2);
  for (int i = 0; i < 60; ++i) {
    WindowCase c{OpKind::Conv2d,      random.range(1, 2),  random.range(4, 12),
                 random.range(4, 12), random.range(1, 40), random.range(1, 20),
                 random.range(1, 4),  random.range(1, 4),  random.range(1, 3)};
    c.dilation_h = c.kernel_h == 2 ? random.range(1, 3) : 1;
    c.padding = {random.range(0, 2), random.range(0, 2), random.range(0, 2), random.range(0, 2)};
    c.activation = any_activation(random);
    c.small_multipliers = i % 5 != 0;
    modules.push_back(window_module(random, c));
  }
  add_convolutions_by_weights(modules, OpKind::Conv2d);
  add_convolutions_in_parts(modules);
  return modules;
}

// Windows of few channels beside all edges, whose rows are words or become some: high and low ones, rows of outputs that are no fours, rows
// apart, several images.
std::vector<graph::Module> convolutions_beside_edges() {
  std::vector<graph::Module> modules;
  Random random(61);
  for (const int64_t channels : {1, 2, 3, 4, 6, 8})
    for (const int64_t width : {2, 3, 5, 8, 10, 13})
      for (const int64_t kernel : {3, 4, 5}) {
        WindowCase c{OpKind::Conv2d,     random.range(1, 2),
                     random.range(5, 9), width,
                     channels,           random.range(1, 2) * 8 + random.range(0, 3),
                     random.range(1, 5), kernel,
                     random.range(1, 2)};
        c.dilation_h = c.kernel_h <= 3 ? random.range(1, 2) : 1;
        c.padding = {random.range(0, 2), random.range(0, 2), random.range(0, 3),
                     random.range(0, 3) + (width < kernel ? kernel - width : 0)};
        c.activation = any_activation(random);
        c.small_multipliers = true;
        modules.push_back(window_module(random, c));
      }
  return modules;
}

// Many channels, and weights that are many: eight pixels by one channel on Helium (device/mve_deep_conv.h). Rows of four to
// nine and more pixels, one four left over, taps by three, two and one, channels that fill no vector, rows apart.
std::vector<graph::Module> deep_convolutions() {
  std::vector<graph::Module> modules;
  Random random(37);
  struct Deep {
    int64_t batches, height, width, channels, kernel_h, kernel_w, stride, dilation_h = 1;
  };
  for (const Deep& deep : {Deep{1, 5, 4, 64, 3, 3, 1},
                           {2, 3, 5, 60, 3, 3, 1},
                           {1, 4, 6, 96, 3, 3, 1},
                           {1, 3, 7, 100, 3, 3, 1},
                           {1, 4, 8, 128, 3, 3, 1},
                           {1, 3, 9, 64, 3, 3, 1, 2},
                           {1, 2, 12, 80, 3, 3, 1},
                           {1, 2, 19, 48, 3, 3, 1},
                           {1, 8, 16, 64, 3, 3, 2},
                           {1, 1, 24, 112, 1, 5, 1},
                           {1, 6, 8, 40, 5, 5, 1},
                           {1, 2, 13, 64, 2, 7, 1},
                           {1, 1, 30, 64, 1, 9, 3},
                           {1, 4, 8, 96, 3, 2, 1},
                           {1, 4, 8, 64, 9, 1, 1},
                           {2, 1, 11, 128, 1, 4, 1}}) {
    WindowCase c{OpKind::Conv2d,     deep.batches,  deep.height,   deep.width, deep.channels,
                 random.range(2, 9), deep.kernel_h, deep.kernel_w, deep.stride};
    c.dilation_h = deep.dilation_h;
    const int64_t rows = (deep.kernel_h - 1) * deep.dilation_h, columns = deep.kernel_w - 1;
    c.padding = {rows / 2, columns / 2, rows - rows / 2, columns - columns / 2};
    c.activation = any_activation(random);
    c.small_multipliers = true;
    modules.push_back(window_module(random, c));
  }
  return modules;
}

std::vector<graph::Module> depthwise_convolutions() {
  std::vector<graph::Module> modules;
  Random random(3);
  for (int64_t kernel_h = 1; kernel_h <= 5; ++kernel_h)
    for (int64_t kernel_w = 1; kernel_w <= 5; ++kernel_w)
      for (const int64_t channels : {1, 2, 3, 4, 6, 8, 16, 21, 32}) {
        WindowCase c{OpKind::DepthwiseConv2d,
                     random.range(1, 2),
                     random.range(2, 9),
                     random.range(2, 9),
                     channels,
                     channels * (channels <= 2 ? random.range(1, 5) : 1),
                     kernel_h,
                     kernel_w,
                     random.range(1, 3)};
        c.padding = {random.range(0, kernel_h - 1), random.range(0, kernel_w - 1), kernel_h,
                     kernel_w};
        c.activation = any_activation(random);
        c.small_multipliers = !random.chance(15), c.has_bias = !random.chance(25);
        modules.push_back(window_module(random, c));
      }
  add_convolutions_by_weights(modules, OpKind::DepthwiseConv2d);
  return modules;
}

// Where most of each window is padding, and dilated windows that have a stride.
std::vector<graph::Module> depthwise_convolutions_of_few_pixels() {
  std::vector<graph::Module> modules;
  Random random(43);
  for (const int64_t size : {1, 2, 3, 4, 6, 11})
    for (const int64_t kernel : {3, 5, 7})
      for (const int64_t channels : {61, 96, 200}) {
        WindowCase c{OpKind::DepthwiseConv2d,
                     random.range(1, 2),
                     size,
                     random.range(1, 5),
                     channels,
                     channels,
                     kernel,
                     kernel,
                     random.range(1, 2)};
        c.dilation_h = c.dilation_w = size > 4 ? 2 : 1;
        const int64_t pad = c.dilation_h * (kernel / 2);
        c.padding = {pad, pad, pad, pad};
        c.activation = any_activation(random);
        c.small_multipliers = random.chance(70);
        modules.push_back(window_module(random, c));
      }
  return modules;
}

std::vector<graph::Module> dilated_depthwise_convolutions() {
  std::vector<graph::Module> modules;
  Random random(9);
  for (int i = 0; i < 60; ++i) {
    WindowCase c{OpKind::DepthwiseConv2d, random.range(1, 2),  random.range(7, 14),
                 random.range(7, 14),     random.range(2, 12), 0,
                 random.range(1, 4),      random.range(1, 4),  random.range(1, 3)};
    c.out_channels = c.channels * random.range(1, 3);
    c.dilation_h = random.range(1, 2), c.dilation_w = random.range(1, 2);
    c.padding = {random.range(0, 2), random.range(0, 2), random.range(0, 2), random.range(0, 2)};
    c.activation = any_activation(random);
    c.small_multipliers = i % 5 != 0;
    modules.push_back(window_module(random, c));
  }
  // Windows of three columns or rows, by stride 1, whose gaps may be wider than the image.
  for (int i = 0; i < 60; ++i) {
    WindowCase c{OpKind::DepthwiseConv2d, random.range(1, 2)};
    c.channels = c.out_channels = random.range(4, 11);
    c.kernel_h = c.kernel_w = 3, c.stride = 1;
    (i % 2 == 0 ? c.kernel_h : c.kernel_w) = random.range(2, 3);
    c.dilation_h = random.range(1, 5), c.dilation_w = random.range(1, 5);
    const int64_t rows = (c.kernel_h - 1) * c.dilation_h, columns = (c.kernel_w - 1) * c.dilation_w;
    c.padding = {random.range(0, rows), random.range(0, columns), random.range(0, rows),
                 random.range(0, columns)};
    c.height = std::max<int64_t>(1, rows + 1 - c.padding.top - c.padding.bottom) +
               random.range(0, i % 3 == 0 ? 3 : 12);
    c.width = std::max<int64_t>(1, columns + 1 - c.padding.left - c.padding.right) +
              random.range(0, i % 3 == 1 ? 3 : 12);
    c.activation = any_activation(random);
    c.small_multipliers = i % 7 != 0;
    modules.push_back(window_module(random, c));
    if (i % 4 == 1) {
      graph::Function& function = modules.back().functions[0];
      function.tensors[function.outputs[0].at()].quantization.zero_point[0] = -128;
    }
  }
  return modules;
}

// Several results of each channel: windows of three columns, any others, and high ones of one column on many pixels.
std::vector<graph::Module> multiplied_depthwise_convolutions() {
  std::vector<graph::Module> modules;
  Random random(57);
  for (int i = 0; i < 60; ++i) {
    WindowCase c{OpKind::DepthwiseConv2d, random.range(1, 2), random.range(5, 14),
                 random.range(5, 14)};
    c.channels = random.range(2, i % 4 == 0 ? 19 : 9);
    c.out_channels = c.channels * (i % 9 == 8 ? random.range(9, 20) : random.range(2, 5));
    c.kernel_h = random.range(1, 5), c.kernel_w = random.range(1, 5), c.stride = random.range(1, 2);
    if (i % 2 == 0) c.kernel_w = 3, c.kernel_h = c.stride + random.range(1, 2);
    if (i % 6 == 2) std::swap(c.kernel_h, c.kernel_w);
    c.padding = {random.range(0, c.kernel_h - 1), random.range(0, c.kernel_w - 1),
                 random.range(0, c.kernel_h - 1), random.range(0, c.kernel_w - 1)};
    if (i % 5 == 1) {
      c.height = random.range(20, 22), c.width = random.range(150, 200), c.batches = 1;
      c.kernel_h = 20, c.kernel_w = i % 2 == 0 ? 1 : 2, c.stride = 1;
      c.padding = {i % 3, 0, i % 3, 0};
      c.channels = random.range(5, 9), c.out_channels = 2 * c.channels;
    }
    c.activation = any_activation(random);
    c.small_multipliers = i % 8 != 7;
    modules.push_back(window_module(random, c));
    if (i % 4 == 0) {
      graph::Function& function = modules.back().functions[0];
      function.tensors[function.outputs[0].at()].quantization.zero_point[0] = -128;
    }
  }
  return modules;
}

std::vector<graph::Module> fully_connected_layers() {
  std::vector<graph::Module> modules;
  Random random(4);
  for (int64_t inputs = 1; inputs <= 40; ++inputs)
    modules.push_back(
        fully_connected_module(random, inputs % 7 == 0 ? 5 : 1, inputs, 1 + inputs % 9));
  modules.push_back(fully_connected_module(random, 1, 640, 128));
  // Sums of more than 24 bits.
  modules.push_back(fully_connected_module(random, 1, 1500, 6));
  modules.push_back(fully_connected_module(random, 1, 2100, 3));
  modules.push_back(fully_connected_module(random, 3, 129, 33));
  return modules;
}

// Windows of one row or column, strides that differ, channels that fill no block.
std::vector<graph::Module> long_and_thin() {
  std::vector<graph::Module> modules;
  Random random(12);
  for (const OpKind kind : {OpKind::Conv2d, OpKind::DepthwiseConv2d})
    for (const int64_t channels : {1, 3, 5, 10, 20, 33})
      for (const auto& [kernel_h, kernel_w] :
           {std::pair{1, 1}, {1, 5}, {7, 1}, {10, 4}, {5, 5}, {3, 3}, {3, 2}})
        for (int64_t stride = 1; stride <= 3; ++stride) {
          WindowCase c{kind,
                       random.range(1, 2),
                       random.range(10, 16),
                       random.range(5, 17),
                       channels,
                       kind == OpKind::Conv2d ? random.range(1, 11) : channels,
                       kernel_h,
                       kernel_w,
                       stride};
          c.stride_w = random.range(1, 3);
          if (random.chance(50))
            c.padding = {kernel_h / 2, kernel_w / 2, kernel_h / 2, kernel_w / 2};
          c.activation = any_activation(random);
          modules.push_back(window_module(random, c));
        }
  return modules;
}

// Groups of channels, columns apart, and both.
std::vector<graph::Module> grouped_and_dilated_convolutions() {
  std::vector<graph::Module> modules;
  Random random(31);
  for (const int64_t groups : {1, 2, 3, 4})
    for (const auto& [in, out] : {std::pair{1, 1}, {1, 4}, {3, 2}, {4, 4}, {5, 3}, {8, 9}, {17, 5}})
      for (const auto& [kernel_h, kernel_w] : {std::pair{1, 1}, {3, 3}, {1, 4}, {2, 1}, {2, 5}}) {
        WindowCase c{OpKind::Conv2d,
                     random.range(1, 2),
                     random.range(1, 12),
                     random.range(1, 19),
                     groups * in,
                     groups * out,
                     kernel_h,
                     kernel_w,
                     random.range(1, 3)};
        c.groups = groups, c.stride_w = random.range(1, 4);
        c.dilation_h = random.range(1, 3);
        c.dilation_w = groups == 1 ? random.range(2, 4) : random.range(1, 4);
        c.padding = {random.range(0, 3), random.range(0, 3), random.range(0, 3),
                     random.range(0, 3)};
        const int64_t reach_h = (kernel_h - 1) * c.dilation_h + 1,
                      reach_w = (kernel_w - 1) * c.dilation_w + 1;
        c.padding.bottom +=
            std::max<int64_t>(reach_h - c.height - c.padding.top - c.padding.bottom, 0);
        c.padding.right +=
            std::max<int64_t>(reach_w - c.width - c.padding.left - c.padding.right, 0);
        c.activation = any_activation(random);
        c.small_multipliers = !random.chance(15), c.has_bias = !random.chance(25);
        modules.push_back(window_module(random, c));
      }
  // Rows longer than are computed at a time, and one row as audio has it.
  for (const auto& [height, width, groups, dilation, stride] :
       {std::tuple{1, 200, 1, 8, 1}, {2, 90, 2, 1, 1}, {1, 130, 4, 1, 2}, {1, 61, 1, 6, 4}}) {
    WindowCase c{OpKind::Conv2d, 1, height, width, 16, 12, 1, 3, 1};
    c.groups = groups, c.dilation_w = dilation, c.stride_w = stride;
    c.padding = {0, dilation * 2, 0, 0};
    modules.push_back(window_module(random, c));
  }
  return modules;
}

std::vector<graph::Module> transposed_convolutions() {
  std::vector<graph::Module> modules;
  Random random(32);
  for (int64_t stride = 1; stride <= 4; ++stride)
    for (const int64_t channels : {1, 2, 4, 7, 16, 20})
      for (const auto& [kernel_h, kernel_w] :
           {std::pair{1, 1}, {2, 2}, {3, 3}, {4, 4}, {1, 5}, {5, 2}}) {
        WindowCase c{OpKind::TransposeConv2d,
                     random.range(1, 2),
                     random.range(1, 7),
                     random.range(1, 9),
                     channels,
                     random.range(1, 9),
                     kernel_h,
                     kernel_w,
                     stride};
        c.stride_w = random.chance(30) ? random.range(1, 3) : stride;
        c.padding = {random.range(0, kernel_h - 1), random.range(0, kernel_w - 1),
                     random.range(-2, 2), random.range(-2, 2)};
        c.activation = any_activation(random);
        c.small_multipliers = !random.chance(15), c.has_bias = !random.chance(25);
        modules.push_back(window_module(random, c));
      }
  WindowCase wide{OpKind::TransposeConv2d, 1, 2, 70, 16, 12, 2, 4, 2};
  modules.push_back(window_module(random, wide));
  return modules;
}

std::vector<graph::Module> matrix_products() {
  std::vector<graph::Module> modules;
  Random random(33);
  for (const int64_t depth : {1, 3, 4, 8, 15, 16, 17, 33})
    for (const auto& [rows, columns] : {std::pair{1, 1}, {3, 4}, {2, 7}, {9, 16}}) {
      modules.push_back(matmul_module(random, {rows, depth}, {depth, columns}));
      modules.push_back(matmul_module(random, {2, rows, depth}, {2, columns, depth}, true));
    }
  // Batches that repeat, and more columns than are laid out at a time.
  modules.push_back(matmul_module(random, {2, 3, 5, 8}, {3, 8, 6}));
  modules.push_back(matmul_module(random, {2, 1, 5, 8}, {1, 3, 6, 8}, true));
  modules.push_back(matmul_module(random, {3, 70}, {70, 90}));
  modules.push_back(matmul_module(random, {2, 300}, {21, 300}, true));
  // The first matrix transposed, at once or by parts.
  for (const auto& [depth, rows] : {std::pair{1, 3}, {5, 2}, {16, 9}, {300, 10}, {40, 70}}) {
    modules.push_back(matmul_module(random, {2, depth, rows}, {depth, 7}, false, true));
    modules.push_back(matmul_module(random, {depth, rows}, {2, 5, depth}, true, true));
  }
  return modules;
}

// And fully connected layers, in single precision.
std::vector<graph::Module> float_convolutions() {
  std::vector<graph::Module> modules;
  Random random(34);
  for (const OpKind kind : {OpKind::Conv2d, OpKind::FullyConnected, OpKind::TransposeConv2d})
    for (int i = 0; i < 60; ++i) {
      graph::Module module = testing::random_operator(random, kind, DataType::Float32);
      const graph::Function& function = module.entry_function();
      const graph::Node& node = function.nodes[0];
      if (!standard_lowering_refuses(module, function, node) &&
          function.tensor(node.inputs[1]).constant.valid())
        modules.push_back(std::move(module));
    }
  return modules;
}

std::string difference(const graph::Module& module, std::span<const uint8_t> actual,
                       std::span<const uint8_t> expected) {
  const graph::Function& function = module.entry_function();
  // Sums of integers have no order.
  const OpKind kind = function.nodes[0].kind;
  const bool hybrid = kind == OpKind::HybridConv2d || kind == OpKind::HybridDepthwiseConv2d ||
                      kind == OpKind::HybridFullyConnected;
  if (function.tensor(function.outputs[0]).type == DataType::Float32) {
    FloatTolerance tolerance = kOtherOrder;
    if (hybrid) tolerance = {0, FloatTolerance::Of::Value};
    // Both operands are drawn: terms of some sums cancel, whose roundings are those of their larger neighbours.
    if (kind == OpKind::BatchMatmul) tolerance.of = FloatTolerance::Of::LargestValue;
    return float_difference(actual.first(expected.size()), expected, tolerance);
  }
  const auto [a, e] =
      std::mismatch(actual.begin(), actual.begin() + static_cast<std::ptrdiff_t>(expected.size()),
                    expected.begin());
  return e == expected.end() ? "" : "element " + std::to_string(e - expected.begin());
}

// What works channel by channel or row by row.
std::vector<graph::Module> poolings_and_rows() {
  std::vector<graph::Module> modules;
  Random random(13);
  for (const OpKind kind :
       {OpKind::AveragePool2d, OpKind::MaxPool2d, OpKind::Mean, OpKind::Softmax, OpKind::Mul})
    for (int i = 0; i < 30; ++i)
      modules.push_back(testing::random_operator(random, kind, DataType::Int8));
  // Shapes that networks have: padded windows, global ones, channels beyond a vector.
  for (const OpKind kind : {OpKind::AveragePool2d, OpKind::MaxPool2d})
    for (const int64_t channels : {1, 3, 4, 7, 8, 15, 16, 20, 33})
      for (const auto& [size, filter, stride, padding] : {std::tuple{6, 2, 2, 0},
                                                          {7, 3, 2, 1},
                                                          {5, 3, 1, 1},
                                                          {7, 7, 7, 0},
                                                          {15, 15, 1, 0},
                                                          {17, 17, 1, 0}}) {
        const graph::Pool2dAttrs attrs{filter,
                                       filter,
                                       stride,
                                       stride,
                                       {padding, padding, padding, padding},
                                       any_activation(random)};
        // And so many images that rows pay.
        for (const int64_t batches : {random.range(1, 2), 1 + 24000 / (size * size * channels)})
          modules.push_back(plain_module(random, kind, attrs, {batches, size, size, channels}));
      }
  // Images so wide that they are taken in strips, of one, few and many channels.
  for (const auto& [width, channels, filter, stride] :
       {std::tuple{90, 40, 3, 2}, {90, 40, 5, 1}, {130, 33, 2, 2}, {700, 2, 3, 2}, {2100, 1, 4, 3}})
    modules.push_back(plain_module(
        random, OpKind::MaxPool2d,
        graph::Pool2dAttrs{filter, filter, stride, stride, {1, 1, 1, 1}, any_activation(random)},
        {1, 4, width, channels}));
  for (const int64_t count : {1, 2, 10, 100, 1001})
    modules.push_back(plain_module(random, OpKind::Softmax,
                                   graph::SoftmaxAttrs{random.real(0.1f, 3.0f)}, {3, count}));
  for (const Shape& rows : {Shape{9, 3}, {6, 25}, {5, 64}, {2, 33}, {4, 1}})
    modules.push_back(
        plain_module(random, OpKind::Softmax, graph::SoftmaxAttrs{random.real(0.1f, 3.0f)}, rows));
  std::erase_if(modules, [](const graph::Module& module) {
    const graph::Function& function = module.entry_function();
    return standard_lowering_refuses(module, function, function.nodes[0]).has_value();
  });
  return modules;
}

std::vector<graph::Module> additions() {
  std::vector<graph::Module> modules;
  Random random(8);
  for (int i = 0; i < 150; ++i) {
    const graph::Module module = testing::random_operator(random, OpKind::Add, DataType::Int8);
    const graph::Function& function = module.entry_function();
    if (!standard_lowering_refuses(module, function, function.nodes[0])) modules.push_back(module);
  }
  return modules;
}

std::vector<graph::Module> differences_and_products() {
  std::vector<graph::Module> modules;
  Random random(16);
  for (const OpKind kind : {OpKind::Sub, OpKind::Mul}) {
    for (int i = 0; i < 60; ++i) {
      graph::Module module = testing::random_operator(random, kind, DataType::Int8);
      const graph::Function& function = module.entry_function();
      if (!standard_lowering_refuses(module, function, function.nodes[0]))
        modules.push_back(std::move(module));
    }
    for (int64_t count = 1; count <= 34; ++count)
      modules.push_back(
          binary_module(random, kind, {1, count}, {1, count}, any_activation(random)));
  }
  // Both operands repeat.
  for (const OpKind kind : {OpKind::Mul, OpKind::Add, OpKind::Sub})
    for (const int64_t channels : {3, 16, 150})
      for (const auto& [a, b] : {std::pair{Shape{2, 4, 3, 1}, Shape{channels}},
                                 {Shape{4, 1, 1}, Shape{2, 1, 3, channels}},
                                 {Shape{2, 4, 1, 1}, Shape{1, 1, 3, channels}},
                                 {Shape{2, 1, 1, channels}, Shape{4, 3, 1}},
                                 {Shape{2, 1, 1, channels}, Shape{4, 3, channels}}}) {
        modules.push_back(binary_module(random, kind, a, b, any_activation(random)));
        modules.push_back(binary_module(random, kind, b, a, any_activation(random)));
      }
  // An operand by channel, by row of an image, by column, by pixel, and one for all; either operand repeats.
  for (const OpKind kind : {OpKind::Mul, OpKind::Add, OpKind::Sub})
    for (const int64_t channels : {1, 3, 8, 19, 70})
      for (const Shape& part : {Shape{channels},
                                {1, 1, 1, channels},
                                {3, channels},
                                {1},
                                {2, 4, 1, channels},
                                {2, 1, 3, channels},
                                {2, 4, 3, 1},
                                {2, 1, 3, 1},
                                {4, 1, 1},
                                {1, 4, 1, channels}}) {
        const Shape whole{2, 4, 3, channels};
        modules.push_back(binary_module(random, kind, whole, part, any_activation(random)));
        modules.push_back(binary_module(random, kind, part, whole, any_activation(random)));
      }
  modules.push_back(binary_module(random, OpKind::Add, {1, 3, 300}, {1, 3, 1}));
  modules.push_back(binary_module(random, OpKind::Mul, {1, 1, 5}, {1, 301, 5}));
  return modules;
}

std::vector<graph::Module> comparisons_and_quotients() {
  constexpr OpKind kKinds[] = {OpKind::Less,         OpKind::LessEqual, OpKind::Greater,
                               OpKind::GreaterEqual, OpKind::Equal,     OpKind::NotEqual,
                               OpKind::Div,          OpKind::Div};
  std::vector<graph::Module> modules;
  Random random(40);
  for (const OpKind kind : kKinds) {
    for (const int64_t count : {128, 131, 300})
      modules.push_back(pair_module(random, kind, {count}, {count}, false));
    for (const Shape& other : {Shape{19}, {2, 9, 1, 19}, {9, 4, 1}, {1}, {9, 1, 19}})
      modules.push_back(pair_module(random, kind, {2, 9, 4, 19}, other, random.chance(40)));
    modules.push_back(pair_module(random, kind, {7, 1, 19}, {1, 5, 19}, false));
  }
  return modules;
}

std::vector<graph::Module> means_and_sums() {
  std::vector<graph::Module> modules;
  Random random(19);
  for (const OpKind kind : {OpKind::Mean, OpKind::Sum}) {
    for (int64_t channels = 1; channels <= 18; ++channels)
      for (const auto& [height, width] : {std::pair{1, 2}, {3, 3}, {5, 4}, {16, 17}})
        modules.push_back(plain_module(random, kind, graph::ReduceAttrs{{1, 2}, channels % 2 == 0},
                                       {2, height, width, channels}));
    for (const int64_t count : {2, 3, 4, 5, 15, 16, 17, 33, 255, 1021, 1300})
      modules.push_back(plain_module(random, kind, graph::ReduceAttrs{{2}, false}, {1, 3, count}));
    for (int64_t channels = 1; channels <= 18; ++channels)
      modules.push_back(wide_mean_module(random, kind, {2, 1 + channels % 4, 5, channels}, {1, 2}));
    for (const int64_t count : {2, 3, 8, 9, 17, 64, 67, 1021})
      modules.push_back(wide_mean_module(random, kind, {3, count}, {1}));
    modules.push_back(plain_module(random, kind, graph::ReduceAttrs{{0, 1}, false}, {20, 30, 8}));
    modules.push_back(plain_module(random, kind, graph::ReduceAttrs{{0, 2}, false},
                                   {2, 3, 4}));  // not neighbours
  }
  // Steps of the result that are no larger than the operand's.
  for (const float step : {1.9f, 1.0f, 0.4f, 0.13f})
    for (const bool wide : {false, true})
      for (const Shape& shape : {Shape{2, 9, 13}, {2, 70, 1}}) {
        modules.push_back(
            wide ? wide_mean_module(random, OpKind::Sum, shape, {1})
                 : plain_module(random, OpKind::Sum, graph::ReduceAttrs{{1}, true}, shape));
        graph::Function& function = modules.back().functions[0];
        function.tensors[function.outputs[0].at()].quantization.scale = {
            step * function.tensor(function.inputs[0]).quantization.scale[0]};
      }
  // The largest of some rows and columns.
  for (const DataType type : {DataType::Int8, DataType::Int16})
    for (const int64_t channels : {1, 3, 4, 5, 16, 19})
      for (const auto& [height, width] : {std::pair{1, 1}, {1, 3}, {2, 2}, {5, 7}, {17, 16}})
        modules.push_back(largest_module(random, type, {2, height, width, channels}));
  return modules;
}

}  // namespace intarsia::test::cortex_m
