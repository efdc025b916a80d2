// Operators on int16 activations that the kernels are tested with.
#include <algorithm>
#include <array>
#include <cmath>

#include "kernel_cases.h"
#include "wide_modules.h"

namespace intarsia::test::cortex_m {
using graph::Activation;
using graph::OpKind;

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

std::vector<graph::Module> wide_depthwise_of_three_columns() {
  std::vector<graph::Module> modules;
  Random random(43);
  for (int i = 0; i < 60; ++i) {
    WideCase c{OpKind::DepthwiseConv2d, random.range(1, 14), random.range(1, 14)};
    c.batches = i % 7 == 0 ? 2 : 1;
    c.channels = c.out_channels = random.range(4, i % 5 == 0 ? 40 : 9);
    c.stride = random.range(1, 2);
    c.kernel_w = 3, c.kernel_h = c.stride + random.range(1, 2);
    if (i % 3 == 2) c.stride = 1, c.kernel_h = random.range(2, 3), c.dilation = random.range(2, 4);
    if (i % 4 == 3) std::swap(c.kernel_h, c.kernel_w);
    c.padding = any_padding(random, c);
    c.activation = any_activation(random);
    modules.push_back(wide_module(random, c));
  }
  return modules;
}

std::vector<graph::Module> wide_depthwise_with_multipliers() {
  std::vector<graph::Module> modules;
  Random random(58);
  for (int i = 0; i < 40; ++i) {
    WideCase c{OpKind::DepthwiseConv2d, random.range(1, 12), random.range(1, 12)};
    c.batches = i % 7 == 0 ? 2 : 1;
    c.channels = random.range(2, 9), c.out_channels = c.channels * random.range(2, 5);
    c.kernel_h = random.range(1, 5), c.kernel_w = random.range(1, 5);
    (i % 4 == 3 ? c.dilation : c.stride) = random.range(1, 2);
    if (i % 2 == 0) c.kernel_w = 3, c.kernel_h = c.stride + random.range(1, 2);
    c.padding = any_padding(random, c);
    c.activation = any_activation(random);
    modules.push_back(wide_module(random, c));
  }
  return modules;
}

// Windows of any size, fewer channels than four, several results a channel, and columns of pixels.
std::vector<graph::Module> wide_depthwise_of_any_window() {
  std::vector<graph::Module> modules;
  Random random(44);
  for (int i = 0; i < 40; ++i) {
    WideCase c{OpKind::DepthwiseConv2d, random.range(9, 14), random.range(9, 14)};
    c.batches = i % 7 == 0 ? 2 : 1;
    c.channels = random.range(2, i % 5 == 0 ? 14 : 6);
    c.out_channels = c.channels * (i % 3 == 0 ? 2 : 1);
    c.kernel_h = random.range(1, 7), c.kernel_w = random.range(4, 7);
    if (i % 4 == 1) c.height = c.kernel_h = 1, c.width = 90;
    if (i % 4 == 3) std::swap(c.kernel_h, c.kernel_w);
    if (i % 8 == 3) c.width = c.kernel_w = 1, c.height = 90;
    (i % 2 == 0 ? c.stride : c.dilation) = random.range(1, 2);
    c.padding = any_padding(random, c);
    c.activation = any_activation(random);
    modules.push_back(wide_module(random, c));
  }
  return modules;
}

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
  // Windows that reach over every edge of the image, and more runs of them than a kernel works out at a time.
  for (const auto& [side, channels] : {std::pair{1, 9}, {2, 5}, {3, 17}, {5, 8}, {11, 12}}) {
    WideCase c{OpKind::DepthwiseConv2d, side, side, channels, channels, 5, 5, 1, 1, {2, 2, 2, 2}};
    modules.push_back(wide_module(random, c));
    c.batches = 2, c.padding = {4, 4, 4, 4};
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
               {4, 1, 2, 0}, {6, 2, 2, 0}, {5, 3, 2, 1}, {15, 15, 1, 0}, {60, 5, 1, 2}})
        modules.push_back(
            wide_pool_module(random, kind,
                             {size < 10 ? 1 + 12000 / (size * size * channels) : random.range(1, 2),
                              size, size, channels},
                             {filter,
                              filter,
                              stride,
                              stride,
                              {padding, padding, padding, padding},
                              any_activation(random)}));
  return modules;
}

std::vector<graph::Module> wide_products_and_curves() {
  std::vector<graph::Module> modules;
  Random random(34);
  // From where most results saturate to where few differ from zero.
  for (const float steps : {200000.0f, 40000.0f, 32768.0f, 9000.0f, 30.0f, 0.7f})
    for (const int64_t count : {1, 2, 7, 8, 9, 40})
      modules.push_back(
          wide_product_module(random, {1, count}, {1, count}, steps, Activation::None));
  for (const Shape& part : {Shape{19}, {3, 19}, {1}, {2, 4, 1, 19}, {2, 4, 3, 1}}) {
    const Shape whole{2, 4, 3, 19};
    modules.push_back(wide_product_module(random, whole, part, 30000, any_activation(random)));
    modules.push_back(wide_product_module(random, part, whole, 50000, any_activation(random)));
  }
  modules.push_back(wide_product_module(random, {2, 3, 1}, {19}, 30000, any_activation(random)));
  modules.push_back(wide_product_module(random, {3, 19}, {2, 1, 1}, 30000, any_activation(random)));
  for (const OpKind kind : {OpKind::Logistic, OpKind::Tanh})
    for (const float scale : {0.00001f, 0.0001f, 0.0003f, 0.001f, 0.01f, 1.0f / 4096})
      for (const int64_t count : {1, 3, 4, 5, 200})
        modules.push_back(wide_curve_module(random, kind, count, scale));
  for (const OpKind kind : {OpKind::HardSwish, OpKind::Quantize})
    for (const float ratio : {0.0004f, 0.03f, 0.999f, 1.0f, 2.7f, 900.0f})
      for (const int64_t count : {1, 3, 8, 9, 200})
        modules.push_back(wide_curve_module(random, kind, count, 0.0003f, 0.0003f * ratio));
  for (const DataType from : {DataType::Int8, DataType::Int16})
    for (const DataType to : {DataType::Int16, DataType::Int8})
      for (const float ratio : {0.004f, 0.999f, 3.7f, 900.0f})
        for (const int64_t count : {1, 8, 9, 200})
          if (from != to || from == DataType::Int16)
            modules.push_back(requantize_module(random, from,
                                                {{0.02f * ratio}, {random.range(-128, 127)}, 0}, to,
                                                {{0.02f}, {random.range(-128, 127)}, 0}, count));
  for (const int64_t count : {1, 9, 200})
    modules.push_back(square_module(random, count, 0.0003f, 0.003f));
  for (const OpKind kind : {OpKind::Add, OpKind::Sub, OpKind::Mul})
    for (const bool first : {false, true})
      for (const Shape& constant : {Shape{1}, {17}, {3, 17}, {3, 1}})
        modules.push_back(
            constant_operand_module(random, kind, DataType::Int16, {3, 17}, constant, first));
  return modules;
}

std::vector<graph::Module> squared_differences() {
  std::vector<graph::Module> modules;
  Random random(38);
  for (const DataType type : {DataType::Int8, DataType::Int16})
    for (const float other : {0.02f, 0.0199f, 0.009f, 0.0003f, 0.05f}) {
      for (const int64_t count : {1, 3, 4, 13, 100})
        modules.push_back(
            squared_difference_module(random, type, {1, count}, {1, count}, 0.02f, other));
      for (const Shape& part : {Shape{19}, {1}, {2, 4, 3, 1}, {2, 4, 1, 19}}) {
        modules.push_back(
            squared_difference_module(random, type, {2, 4, 3, 19}, part, 0.02f, other));
        modules.push_back(
            squared_difference_module(random, type, part, {2, 4, 3, 19}, other, 0.02f));
      }
    }
  return modules;
}

std::vector<graph::Module> extremes() {
  std::vector<graph::Module> modules;
  Random random(42);
  for (const DataType type : {DataType::Int8, DataType::Int16})
    for (const OpKind kind : {OpKind::Maximum, OpKind::Minimum}) {
      for (const int64_t count : {1, 15, 16, 17, 23, 100})
        for (const bool constant : {false, true})
          modules.push_back(extreme_module(random, kind, type, {1, count}, {1, count}, constant));
      for (const Shape& part : {Shape{19}, {1}, {2, 4, 3, 1}, {2, 4, 1, 19}})
        for (const bool constant : {false, true})
          modules.push_back(extreme_module(random, kind, type, {2, 4, 3, 19}, part, constant));
    }
  return modules;
}

std::vector<graph::Module> wide_matrix_products() {
  std::vector<graph::Module> modules;
  Random random(36);
  for (const int64_t depth : {1, 2, 3, 7, 8, 9, 16, 33})
    for (const auto& [rows, columns] : {std::pair{1, 1}, {3, 4}, {2, 7}, {9, 16}}) {
      modules.push_back(wide_matmul_module(random, {rows, depth}, {depth, columns}, false));
      modules.push_back(wide_matmul_module(random, {2, rows, depth}, {2, columns, depth}, true));
    }
  // Batches that repeat, and more columns than are laid out at a time.
  modules.push_back(wide_matmul_module(random, {2, 3, 5, 8}, {3, 8, 6}, false));
  modules.push_back(wide_matmul_module(random, {3, 70}, {70, 91}, false));
  modules.push_back(wide_matmul_module(random, {2, 300}, {21, 300}, true));
  // The first matrix transposed, at once or by parts.
  for (const auto& [depth, rows] : {std::pair{1, 3}, {5, 2}, {16, 9}, {300, 10}, {40, 70}}) {
    modules.push_back(wide_matmul_module(random, {2, depth, rows}, {depth, 7}, false, true));
    modules.push_back(wide_matmul_module(random, {depth, rows}, {2, 5, depth}, true, true));
  }
  return modules;
}

std::vector<graph::Module> wide_staged_convolutions() {
  std::vector<graph::Module> modules;
  Random random(37);
  for (int i = 0; i < 110; ++i) {
    WideCase c;
    const bool transposed = i % 2 == 0;
    c.kind = transposed ? OpKind::TransposeConv2d : OpKind::Conv2d;
    c.batches = i % 7 == 0 ? 2 : 1;
    c.height = random.range(1, 8), c.width = random.range(1, i % 9 == 0 ? 60 : 11);
    c.kernel_h = random.range(1, 4), c.kernel_w = random.range(1, 5);
    c.stride = random.range(1, 3);
    const int64_t groups = transposed ? 1 : random.range(1, 4);
    c.channels = groups * random.range(1, 9), c.out_channels = groups * random.range(1, 6);
    if (transposed) {
      c.padding = {random.range(0, c.kernel_h - 1), random.range(0, c.kernel_w - 1), 0, 0};
    } else {
      c.dilation = random.range(1, 3);
      c.padding = any_padding(random, c);
    }
    c.activation = any_activation(random);
    modules.push_back(staged_wide_module(random, c, groups));
  }
  return modules;
}

std::vector<graph::Module> hybrid_layers() {
  std::vector<graph::Module> modules;
  Random random(44);
  for (int i = 0; i < 100; ++i) {
    WideCase c;
    c.kind = i % 4 == 3 ? OpKind::HybridDepthwiseConv2d : OpKind::HybridConv2d;
    c.batches = i % 5 == 0 ? 3 : 1;
    c.height = random.range(1, 8), c.width = random.range(1, i % 9 == 0 ? 60 : 11);
    c.kernel_h = random.range(1, 4), c.kernel_w = random.range(1, 5);
    c.stride = random.range(1, 3), c.dilation = i % 3 == 1 ? random.range(1, 3) : 1;
    const int64_t groups = i % 6 == 1 ? random.range(2, 3) : 1;
    c.channels = groups * random.range(1, i % 7 == 0 ? 40 : 9);
    c.out_channels = i % 4 == 3 ? c.channels * (i % 8 == 3 ? random.range(1, 3) : 1)
                                : groups * random.range(1, 9);
    c.padding = any_padding(random, c);
    c.activation = any_activation(random);
    modules.push_back(hybrid_module(random, c, groups));
  }
  for (const int64_t rows : {1, 2, 3, 5, 9})
    for (const auto& [inputs, outputs] :
         {std::pair{1, 1}, {4, 3}, {7, 4}, {16, 5}, {33, 8}, {64, 10}, {300, 2}}) {
      WideCase c{OpKind::HybridFullyConnected, 1, 1, inputs, outputs};
      c.batches = rows, c.activation = any_activation(random);
      modules.push_back(hybrid_module(random, c));
    }
  return modules;
}

std::vector<graph::Module> shifted_layers() {
  std::vector<graph::Module> modules;
  Random random(48);
  for (int i = 0; i < 60; ++i) {
    WideCase c;
    c.kind = OpKind::Conv2d;
    c.batches = i % 5 == 0 ? 2 : 1;
    c.height = random.range(1, 8), c.width = random.range(1, i % 9 == 0 ? 60 : 11);
    c.kernel_h = random.range(1, 4), c.kernel_w = random.range(1, 5);
    c.stride = random.range(1, 3), c.dilation = i % 3 == 1 ? random.range(1, 3) : 1;
    const int64_t groups = i % 6 == 1 ? random.range(2, 3) : 1;
    c.channels = groups * random.range(1, i % 7 == 0 ? 40 : 9);
    c.out_channels = groups * random.range(1, i % 8 == 0 ? 70 : 9);
    c.padding = any_padding(random, c);
    c.activation = any_activation(random);
    modules.push_back(shifted_module(random, c, groups));
  }
  for (int i = 0; i < 40; ++i) {
    WideCase c;
    c.kind = OpKind::DepthwiseConv2d;
    c.batches = i % 5 == 0 ? 2 : 1;
    c.height = random.range(1, 9), c.width = random.range(1, 11);
    c.kernel_h = random.range(1, 5), c.kernel_w = random.range(1, 5);
    c.stride = random.range(1, 3), c.dilation = c.stride == 1 ? random.range(1, 2) : 1;
    c.channels = random.range(1, i % 4 == 0 ? 30 : 6);
    c.out_channels = c.channels * (i % 3 == 0 ? random.range(1, 3) : 1);
    c.padding = any_padding(random, c);
    c.activation = any_activation(random);
    modules.push_back(shifted_module(random, c));
  }
  for (const int64_t rows : {1, 2, 3, 5, 9})
    for (const auto& [inputs, outputs] :
         {std::pair{1, 1}, {4, 3}, {7, 4}, {16, 5}, {33, 8}, {64, 10}, {300, 35}}) {
      WideCase c{OpKind::FullyConnected, 1, 1, inputs, outputs};
      c.batches = rows, c.activation = any_activation(random);
      modules.push_back(shifted_module(random, c));
    }
  return modules;
}

std::vector<graph::Module> rows_to_steps() {
  std::vector<graph::Module> modules;
  Random random(45);
  for (const auto& [asymmetric, together] : {std::pair{false, false}, {true, false}, {true, true}})
    for (const auto& [rows, count] : {std::pair{1, 1}, {2, 3}, {1, 4}, {3, 7}, {1, 600}, {9, 33}})
      modules.push_back(row_steps_module(random, rows, count, asymmetric, together));
  return modules;
}

std::vector<graph::Module> float_elements() {
  std::vector<graph::Module> modules;
  Random random(46);
  for (const OpKind kind : {OpKind::Add, OpKind::Sub, OpKind::Mul}) {
    for (const int64_t count : {1, 15, 16, 17, 18, 19, 100})
      modules.push_back(
          float_binary_module(random, kind, {count}, {count}, any_activation(random)));
    for (const Shape& part : {Shape{19}, {3, 19}, {1}, {2, 4, 1, 19}, {2, 4, 3, 1}}) {
      modules.push_back(
          float_binary_module(random, kind, {2, 4, 3, 19}, part, any_activation(random)));
      modules.push_back(
          float_binary_module(random, kind, part, {2, 4, 3, 19}, any_activation(random)));
    }
  }
  return modules;
}

std::vector<graph::Module> moved_rows() {
  std::vector<graph::Module> modules;
  Random random(47);
  for (const DataType type : {DataType::Int8, DataType::Int16, DataType::Float32}) {
    for (const int64_t channels : {1, 3, 4, 6, 16, 17, 40})
      modules.push_back(concat_module(
          random, type, {{1, 5, 3, channels}, {1, 5, 3, 5}, {1, 5, 3, 2 * channels}}, 3));
    modules.push_back(concat_module(random, type, {{2, 5, 3, 4}, {2, 1, 3, 4}}, 1));
    for (const int64_t begin : {0, 1})
      for (const int64_t channels : {3, 9, 21}) {
        modules.push_back(moved_module(
            random, OpKind::Slice, type, {2, 6, 7, channels + 1},
            graph::SliceAttrs{{0, begin, 2, begin}, {2, 3, 4, channels}, {1, 2, 1, 1}, {}}));
        modules.push_back(moved_module(
            random, OpKind::Slice, type, {4, 6, 7, channels},
            graph::SliceAttrs{{2, begin, 0, 0}, {1, 4, 7, channels}, {1, 1, 1, 1}, {0}}));
      }
    for (const std::vector<int64_t>& order :
         std::vector<std::vector<int64_t>>{{1, 0, 2, 3}, {2, 1, 0, 3}, {0, 2, 1, 3}, {3, 1, 2, 0}})
      modules.push_back(moved_module(random, OpKind::Transpose, type, {2, 3, 5, 7},
                                     graph::TransposeAttrs{order}));
    // Groups of channels that are shuffled, and every second or third one.
    for (const Shape& shape : {Shape{1, 6, 6, 3, 8}, {1, 7, 5, 2, 24}, {2, 4, 3, 5, 2}})
      modules.push_back(moved_module(random, OpKind::Transpose, type, shape,
                                     graph::TransposeAttrs{{0, 1, 2, 4, 3}}));
    for (const int64_t stride : {2, 3})
      modules.push_back(
          moved_module(random, OpKind::Slice, type, {1, 5, 9, 19},
                       graph::SliceAttrs{{0, 1, 0, 1}, {1, 4, 9, 6}, {1, 1, 1, stride}, {}}));
    // Rows that are repeated, become depth, get padding or more neighbours.
    for (const int64_t channels : {1, 3, 4, 8, 19}) {
      const Shape image{2, 4, 6, channels};
      for (const int64_t block : {1, 2})
        modules.push_back(
            moved_module(random, OpKind::SpaceToDepth, type, image, graph::BlockAttrs{block}));
      modules.push_back(moved_module(random, OpKind::DepthToSpace, type, {2, 3, 5, 4 * channels},
                                     graph::BlockAttrs{2}));
      modules.push_back(
          moved_module(random, OpKind::Tile, type, image, graph::TileAttrs{{1, 3, 2, 1}}));
      modules.push_back(
          moved_module(random, OpKind::Tile, type, image, graph::TileAttrs{{2, 1, 1, 2}}));
      modules.push_back(moved_module(random, OpKind::BroadcastTo, type, {5, 1, channels},
                                     graph::ShapeAttrs{{2, 5, 6, channels}}));
      modules.push_back(moved_module(random, OpKind::Pad, type, image,
                                     graph::PadAttrs{{0, 1, 2, 0}, {0, 0, 1, 0}}));
      modules.push_back(moved_module(random, OpKind::Pad, type, image,
                                     graph::PadAttrs{{0, 0, 0, 1}, {1, 0, 0, 5}}));
      for (const graph::PadAttrs& pads : {graph::PadAttrs{{0, 1, 2, 0}, {0, 0, 1, 0}},
                                          {{0, 2, 0, 0}, {0, 1, 0, 0}},
                                          {{0, 0, 3, 0}, {0, 0, 4, 0}},
                                          {{0, 1, 0, 2}, {0, 1, 2, 70}},
                                          {{0, 1, 1, 150}, {0, 0, 0, 0}}})
        modules.push_back(moved_module(random, OpKind::Pad, type, {1, 5, 6, channels}, pads));
      for (const auto& [height, width] : {std::pair{4, 6}, {8, 12}, {4, 18}, {9, 13}})
        for (const bool centres : {false, true})
          modules.push_back(moved_module(random, OpKind::ResizeNearest, type, image,
                                         graph::ResizeAttrs{height, width, false, centres}));
    }
    // The innermost axis moves.
    for (const Shape& shape : {Shape{2, 3, 9, 11}, {1, 40, 5, 7}, {2, 6, 7, 3}, {3, 4, 4, 17}})
      for (const std::vector<int64_t>& order : std::vector<std::vector<int64_t>>{
               {0, 2, 3, 1}, {0, 3, 1, 2}, {3, 2, 1, 0}, {1, 3, 0, 2}})
        modules.push_back(
            moved_module(random, OpKind::Transpose, type, shape, graph::TransposeAttrs{order}));
  }
  return modules;
}

std::vector<graph::Module> constants_and_tables() {
  std::vector<graph::Module> modules;
  Random random(35);
  for (const OpKind kind : {OpKind::Add, OpKind::Sub, OpKind::Mul})
    for (const bool first : {false, true})
      for (const Shape& constant : {Shape{1}, {17}, {3, 17}, {3, 1}})
        modules.push_back(
            constant_operand_module(random, kind, DataType::Int8, {3, 17}, constant, first));
  for (const OpKind kind :
       {OpKind::Logistic, OpKind::HardSwish, OpKind::LeakyRelu, OpKind::Quantize})
    for (const int64_t count : {1, 5, 16, 100})
      modules.push_back(byte_function_module(random, kind, count));
  return modules;
}

std::vector<graph::Module> float_matrix_products() {
  std::vector<graph::Module> modules;
  Random random(39);
  for (const int64_t depth : {1, 2, 7, 16, 33})
    for (const auto& [rows, columns] : {std::pair{1, 1}, {3, 4}, {2, 7}, {9, 16}, {4, 150}}) {
      modules.push_back(float_matmul_module(random, {rows, depth}, {depth, columns}, false));
      modules.push_back(float_matmul_module(random, {2, rows, depth}, {columns, depth}, true));
    }
  modules.push_back(float_matmul_module(random, {2, 1, 5, 8}, {3, 8, 6}, false));
  modules.push_back(float_matmul_module(random, {6, 200}, {200, 9}, false));
  for (const auto& [depth, rows] : {std::pair{1, 3}, {5, 2}, {16, 9}, {150, 10}, {40, 70}})
    modules.push_back(float_matmul_module(random, {2, depth, rows}, {depth, 7}, false, true));
  return modules;
}

std::vector<graph::Module> float_curves() {
  std::vector<graph::Module> modules;
  Random random(43);
  for (const OpKind kind :
       {OpKind::Exp, OpKind::Logistic, OpKind::Tanh, OpKind::HardSwish, OpKind::Elu, OpKind::Gelu})
    for (const int64_t count : {1, 3, 4, 7, 400})
      modules.push_back(float_curve_module(random, kind, count));
  for (const int64_t count : {5, 400})
    modules.push_back(float_curve_module(random, OpKind::Gelu, count, true));
  for (const auto& [rows, count] : {std::pair{1, 1}, {3, 2}, {2, 4}, {5, 7}, {2, 131}})
    modules.push_back(float_softmax_module(random, rows, count, count == 7 ? 0.3f : 1.0f));
  return modules;
}

// Scales of which all differences count, and of which few do.
std::vector<graph::Module> normalized_rows() {
  std::vector<graph::Module> modules;
  Random random(52);
  for (const OpKind kind : {OpKind::LogSoftmax, OpKind::L2Normalization})
    for (const float scale : {0.0005f, 0.02f, 0.11f, 0.4f, 5.0f})
      for (const int64_t count : {1, 2, 5, 8, 39, 257})
        modules.push_back(
            normalized_module(random, kind, count < 40 ? random.range(1, 4) : 1, count, scale));
  return modules;
}

std::vector<graph::Module> resizings() {
  std::vector<graph::Module> modules;
  Random random(41);
  for (const DataType type : {DataType::Int8, DataType::Int16})
    for (const int64_t channels : {1, 3, 4, 5, 8, 11})
      for (int i = 0; i < 6; ++i) {
        const Shape in{i % 3 == 0 ? 2 : 1, random.range(1, 6), random.range(1, 6), channels};
        // By two sums are often halves.
        const int64_t height = i % 2 == 0 ? 2 * in[1] : random.range(1, 14),
                      width = i % 2 == 0 ? 2 * in[2] : random.range(1, 14);
        modules.push_back(resize_module(random, type, in, {height, width, i == 1, i % 3 == 0}));
      }
  return modules;
}

static std::vector<graph::Module> steps_of(OpKind kind) {
  std::vector<graph::Module> modules;
  Random random(40);
  for (const DataType type : {DataType::Int8, DataType::Int16})
    for (const float scale : {0.00012616425f, 0.0078125f, 0.3f, 77.7f})
      for (const int64_t count : {1, 3, 4, 5, 8, 15, 600})
        modules.push_back(float_steps_module(
            random, kind, type, count, scale,
            type == DataType::Int8 ? random.range(-128, 127) : random.range(-1000, 1000)));
  return modules;
}
std::vector<graph::Module> floats_to_steps() {
  return steps_of(OpKind::Quantize);
}
std::vector<graph::Module> steps_to_floats() {
  return steps_of(OpKind::Dequantize);
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

graph::Module prelu_of_almost_nothing(Random& random, DataType type, float alpha_scale) {
  graph::Module module = prelu_module(random, type, {2, 3, 4, 9}, {9}, true, 1.0f);
  graph::Function& function = module.functions[0];
  function.tensors[function.nodes[0].inputs[1].at()].quantization.scale = {alpha_scale};
  return module;
}

// Alphas by channel, for each element, of one pixel and one for all; results of the input's scale, of finer and coarser ones.
std::vector<graph::Module> prelus() {
  std::vector<graph::Module> modules;
  Random random(39);
  for (const float ratio : {1.0f, 0.02f, 0.4f, 0.9f, 1.3f, 2.0f, 50.0f})
    for (const int64_t channels : {1, 3, 8, 19, 70})
      for (const Shape& alpha :
           {Shape{channels}, {2, 3, 4, channels}, {2, 1, 1, channels}, {1}, {3, 4, 1}})
        for (const DataType type : {DataType::Int8, DataType::Int16})
          modules.push_back(prelu_module(random, type, {2, 3, 4, channels}, alpha,
                                         alpha.size() != 4 && random.chance(70), ratio));
  // About what leaves nothing below zero: 2^-18, and of int16 2^-26.
  for (const DataType type : {DataType::Int8, DataType::Int16})
    for (int exponent = -28; exponent <= -14; ++exponent)
      modules.push_back(prelu_of_almost_nothing(random, type, std::ldexp(0.99f, exponent)));
  for (const DataType type : {DataType::Int8, DataType::Int16})
    for (const int64_t count : {1, 15, 16, 17, 18, 19, 100, 257})
      modules.push_back(limited_module(random, type, count));
  for (const float ratio : {1.0f, 0.02f, 0.4f, 1.3f, 50.0f})
    for (const float alpha : {0.01f, 0.1f, 0.3f, 0.9f})
      for (const int64_t count : {1, 7, 8, 100})
        modules.push_back(leaky_relu_module(random, count, alpha, ratio));
  return modules;
}

}  // namespace intarsia::test::cortex_m
