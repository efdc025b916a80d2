#include "cost_samples.h"

#include <algorithm>

#include <fmt/format.h>

#include "cost_sample_kinds.h"
#include "intarsia/plugin/op_view.h"
#include "intarsia/plugin/standard_lowering.h"
#include "support/random_builder.h"
#include "wide_modules.h"

namespace intarsia::test::cortex_m {
namespace {

using graph::Activation;
using graph::OpKind;
using testing::families::Builder;

class Samples {
 public:
  Samples(uint32_t seed, int per_family) : r_(seed), count_(per_family) {}

  std::vector<CostSample> make() {
    for (int i = 0; i < count_; ++i) {
      add(pointwise()), add(convolution(3)), add(convolution(0)), add(first_layer());
      add(dense()), add(dense()), add(rows());
      add(depthwise(3, 1)), add(depthwise(3, 2)), add(depthwise(0, 1)), add(depthwise(3, 1));
      add(pool(OpKind::AveragePool2d)), add(pool(OpKind::MaxPool2d));
      add(binary(OpKind::Add)), add(binary(OpKind::Add)), add(binary(OpKind::Mul));
      add(softmax()), add(mean()), add(recurrent(i)), add(recurrent(i + 1));
      add(real_layer(i)), add(real_layer(i + 1)), add(real_layer(i + 2));
      if (i % 2 == 0) add(grouped()), add(transposed()), add(dilated());
      if (i % 2 == 1)
        add(matrices()), add(wide(OpKind::Conv2d)), add(wide(OpKind::DepthwiseConv2d));
      if (i % 2 == 1) add(repeated()), add(depthwise(5, 1)), add(multiplied());
    }
    // What is loops on every core.
    for (const OpKind kind : kRealLoops)
      for (int i = 0; i < (count_ + 5) / 6; ++i)
        add(testing::random_operator(r_, kind, DataType::Float32));
    for (const OpKind kind : kLoops)
      for (const DataType type : {DataType::Int8, DataType::Float32})
        for (int i = 0; i < (count_ + 5) / 6 && !(is_conversion(kind) && type == DataType::Float32);
             ++i)
          add(testing::random_operator(r_, kind, type));
    for (int i = 0; i < count_; ++i) add(function_of_long_row(r_, i));
    for (int i = 0; i < count_; i += 2) add(converted(i / 2)), add(wide_softmax());
    for (int i = 0; i < count_; ++i) {
      add(wide(OpKind::Conv2d)), add(wide_sum(i % 4 == 3 ? OpKind::Sub : OpKind::Add));
      add(wide_pool(i % 2 == 0 ? OpKind::AveragePool2d : OpKind::MaxPool2d));
      add(sum_with_ties());
      if (i % 2 == 0) add(wide(OpKind::DepthwiseConv2d)), add(real_depthwise());
      if (i % 2 == 0) add(row_mean()), add(wide_dense()), add(wide_otherwise(i / 2));
    }
    for (int i = 0; i < count_; i += 3) add(long_row());
    for (int i = 0; i < count_; ++i) add(wide_product()), add(wide_curve(i)), add(wide_function(i));
    for (int i = 0; i < count_; ++i) add(wide_matrices()), add(squared_difference(i));
    for (int i = 0; i < count_; ++i) add(float_steps(i)), add(resized(i));
    for (int i = 0; i < count_; ++i)
      add(float_curve_module(r_, kFloatCurves[i % 4], r_.range(1, 600)));
    for (int i = 0; i < count_; i += 2) add(wide_edges()), add(wide_staged(i % 4 == 2));
    for (int i = 0; i < count_; ++i)
      add(hybrid(i)), add(shifted(i)), add(elements(i)), add(rows_moved(i));
    for (int i = 0; i < count_; i += 2)
      add(row_steps_module(r_, r_.range(1, 4), r_.range(20, 1500), r_.chance(50)));
    for (int i = 0; i < count_; ++i) add(matrix_row()), add(lines_turned(i));
    for (int i = 0; i < count_; ++i)
      add(deep_convolution(i)), add(rectified_by_alphas(i)), add(wide_mean(i)), add(limited(i));
    for (int i = 0; i < count_; ++i) add(pair(i)), add(wide_depthwise_3x3());
    for (int i = 0; i < count_; i += 2)
      add(wide_softmax_module(r_, r_.range(1, 12), r_.range(2, 120), 1.0f / 2048, 1));
    for (int i = 0; i < count_; ++i) add(maxima(i)), add(mostly_padding(i)), add(few_pixels());
    for (int i = 0; i < count_; ++i)
      add(dilated_depthwise(i % 2 == 0)), add(wide_depthwise_of_any_window(i));
    for (int i = 0; i < count_; ++i)
      add(normalized_module(r_, i % 2 == 0 ? OpKind::LogSoftmax : OpKind::L2Normalization,
                            r_.range(1, 12), r_.range(2, 160), r_.real(0.01f, 0.3f)));
    for (int i = 0; i < count_; ++i)
      add(shuffled(i % 2 == 0 ? DataType::Int8 : DataType::Int16)), add(short_row_mean());
    for (int i = 0; i < count_; ++i) add(maxima_along(i % 2 == 0, i % 4 < 2));
    for (int i = 0; i < count_; ++i) add(curve_or_line(r_, i));
    for (int i = 0; i < count_; ++i) add(rectified_wide(r_));
    return std::move(all_);
  }

 private:
  static bool is_conversion(OpKind kind) {
    return kind == OpKind::Quantize || kind == OpKind::Dequantize;
  }

  void add(graph::Module module) {
    const graph::Function& function = module.entry_function();
    if (function.nodes.size() != 1 ||
        standard_lowering_refuses(module, function, function.nodes[0]))
      return;
    std::string what = operators::OpView{module, function, function.nodes[0]}.signature();
    all_.push_back({std::move(what), std::move(module)});
  }

  int64_t channels(int64_t most) {
    // Multiples of vectors are as common in networks as others are in pruned ones.
    const int64_t some = r_.range(1, most);
    return r_.chance(50) ? some : (some + 7) / 8 * 8;
  }
  Activation activation() {
    return r_.pick<Activation>(
        {Activation::None, Activation::None, Activation::Relu, Activation::Relu6});
  }
  int64_t size(int64_t least, int64_t most) { return r_.range(least, most); }

  graph::Module window(WindowCase c) {
    c.activation = activation();
    c.small_multipliers = r_.chance(75);
    // Most weights are small ones, of which some add up in halfwords.
    if (r_.chance(40)) c.most_weight = r_.pick<int64_t>({31, 63});
    if (c.kernel_h * c.kernel_w > 1 && r_.chance(75)) {
      const int64_t h = (c.kernel_h - 1) * c.dilation_h, w = (c.kernel_w - 1) * c.dilation_w;
      const int64_t left = c.stride == 1 ? w / 2 : 0, top = c.stride == 1 ? h / 2 : 0;
      c.padding = {top, left, h - top, w - left};
    }
    return rectified(window_module(r_, c));
  }
  // Results behind a ReLU have the least value as their zero point, in most networks.
  graph::Module rectified(graph::Module module) {
    graph::Function& function = module.functions[0];
    if (r_.chance(50)) function.tensors[function.outputs[0].at()].quantization.zero_point[0] = -128;
    return module;
  }
  graph::Module pointwise() {
    const int64_t side = size(1, 16);
    return window({OpKind::Conv2d, 1, side, r_.chance(70) ? side : size(1, 20), channels(96),
                   channels(side > 8 ? 32 : 96), 1, 1, 1});
  }
  graph::Module convolution(int64_t kernel) {
    const int64_t h = kernel != 0 ? kernel : r_.range(1, 5),
                  w = kernel != 0 ? kernel : r_.range(1, 7);
    const int64_t side = size(5, 14);
    return window({OpKind::Conv2d, 1, std::max(side, h),
                   std::max(r_.chance(60) ? side : size(5, 20), w), channels(side > 10 ? 16 : 40),
                   channels(side > 10 ? 16 : 40), h, w, r_.range(1, 2)});
  }
  graph::Module deep_convolution(int which) {
    const int64_t w = r_.pick<int64_t>({2, 3, 3, 4, 5}), h = which % 4 == 3 ? 1 : w;
    const int64_t stride = which % 3 == 2 ? 2 : 1, side = stride * size(4, 12);
    return window({OpKind::Conv2d, 1, h == 1 ? 1 : std::max(stride * size(3, 6), h),
                   std::max(side, w), 16 * r_.range(2, 8), channels(24), h, w, stride});
  }
  graph::Module first_layer() {
    const int64_t side = size(12, 40);
    return window({OpKind::Conv2d, 1, side, size(8, 40), r_.chance(40) ? 1 : 3, channels(24),
                   r_.range(3, 8), r_.range(3, 5), r_.range(1, 2)});
  }
  // Sums of which take more than 24 bits.
  graph::Module long_row() {
    return rectified(fully_connected_module(r_, 1, 4 * r_.range(300, 600), r_.range(1, 9)));
  }
  graph::Module dense() {
    graph::Module module =
        rectified(fully_connected_module(r_, 1, channels(600), channels(r_.chance(50) ? 16 : 160)));
    graph::Function& function = module.functions[0];
    // Multipliers of any size, as where results have a fine scale.
    if (r_.chance(25))
      function.tensors[function.outputs[0].at()].quantization.scale[0] = r_.real(0.0003f, 0.002f);
    return module;
  }
  graph::Module rows() {
    return rectified(fully_connected_module(r_, r_.range(2, 12), channels(100), channels(48)));
  }
  graph::Module depthwise(int64_t kernel, int64_t stride) {
    const int64_t h = kernel != 0 ? kernel : r_.range(1, 6),
                  w = kernel != 0 ? kernel : r_.range(1, 6);
    const int64_t side = r_.chance(20) ? size(24, 48) : size(3, 24),
                  c = 1 + channels(side > 24   ? 12
                                   : side > 12 ? 32
                                               : 100);
    return window({OpKind::DepthwiseConv2d, 1, std::max(side, h),
                   std::max(r_.chance(60) ? side : size(2, 24), w), c, c, h, w, stride});
  }
  graph::Module multiplied() {
    const int64_t c = r_.range(1, 6), side = size(8, 24);
    return window({OpKind::DepthwiseConv2d, 1, side, size(8, 40), c, c * r_.range(2, 8),
                   r_.range(3, 9), r_.range(3, 8), r_.range(1, 2)});
  }
  graph::Module dilated() {
    WindowCase c{OpKind::Conv2d, 1, size(6, 16), size(8, 20), channels(24), channels(24), 3, 3, 1};
    c.dilation_h = c.dilation_w = 2;
    return window(c);
  }
  graph::Module grouped() {
    const int64_t groups = r_.range(2, 4);
    WindowCase c{OpKind::Conv2d,
                 1,
                 size(4, 12),
                 size(4, 12),
                 groups * r_.range(2, 12),
                 groups * r_.range(2, 12),
                 3,
                 3,
                 1};
    c.groups = groups;
    return window(c);
  }
  graph::Module transposed() {
    WindowCase c{OpKind::TransposeConv2d,
                 1,
                 size(3, 9),
                 size(3, 9),
                 channels(24),
                 channels(24),
                 r_.range(2, 4),
                 r_.range(2, 4),
                 2};
    c.activation = activation();
    return rectified(window_module(r_, c));
  }
  graph::Module pool(OpKind kind) {
    const int64_t side = size(3, 12);
    const bool whole = r_.chance(50);
    const int64_t filter = whole ? side : r_.range(2, 3);
    return plain_module(
        r_, kind,
        graph::Pool2dAttrs{filter, filter, r_.range(1, 2), r_.range(1, 2), {}, Activation::None},
        {1, side, side, channels(100)});
  }
  graph::Module binary(OpKind kind) {
    const Shape shape{1, size(1, 24), size(1, 24), channels(24)};
    if (kind == OpKind::Mul || r_.chance(30))
      return binary_module(r_, kind, shape, shape, activation());
    // Of scales that are near each other, or not.
    Builder b(r_, kind, DataType::Int8);
    const float scale = r_.real(0.02f, 0.1f);
    const auto quantised = [&](float times) {
      return graph::Quantization{{scale * times}, {r_.range(-128, 127)}, 0};
    };
    b.tensor(b.input(shape)).quantization = quantised(r_.chance(50) ? 1.0f : r_.real(0.3f, 1.0f));
    b.tensor(b.input(shape)).quantization = quantised(r_.chance(50) ? 1.0f : r_.real(0.3f, 1.0f));
    b.node().attributes = graph::BinaryAttrs{activation()};
    return b.finish(DataType::Int8, quantised(r_.real(0.8f, 2.0f)));
  }
  // Scales whose sums lie half way between two results now and then, which no single rounding gets right.
  graph::Module sum_with_ties() {
    const Shape shape{1, size(1, 16), size(1, 16), channels(24)};
    Builder b(r_, OpKind::Add, DataType::Int8);
    const float ratio = r_.pick<float>({1.0f, 0.875f, 0.75f, 0.5f});
    const bool first = r_.chance(50);
    const auto quantised = [&](float scale) {
      return graph::Quantization{{scale}, {r_.range(-128, 127)}, 0};
    };
    b.tensor(b.input(shape)).quantization = quantised(first ? 0.0625f : 0.0625f * ratio);
    b.tensor(b.input(shape)).quantization = quantised(first ? 0.0625f * ratio : 0.0625f);
    b.node().attributes = graph::BinaryAttrs{activation()};
    return b.finish(DataType::Int8, quantised(0.0625f * r_.pick<float>({1.0f, 2.0f})));
  }
  graph::Module repeated() {
    const int64_t h = size(2, 16), w = size(2, 16), c = channels(24);
    return binary_module(r_, r_.chance(50) ? OpKind::Add : OpKind::Mul, {1, h, w, c},
                         r_.chance(50) ? Shape{1, 1, 1, c} : Shape{1, h, 1, c});
  }
  graph::Module softmax() {
    return plain_module(r_, OpKind::Softmax, graph::SoftmaxAttrs{},
                        {r_.chance(70) ? 1 : r_.range(2, 9), r_.range(2, 40)});
  }
  graph::Module mean() {
    return plain_module(r_, OpKind::Mean, graph::ReduceAttrs{{1, 2}, true},
                        {1, size(2, 12), size(2, 12), channels(100)});
  }
  graph::Module matrices() {
    const int64_t rows = r_.range(2, 20), depth = channels(48), columns = r_.range(2, 30);
    const bool turned = r_.chance(50);
    return matmul_module(r_, {r_.range(1, 2), rows, depth},
                         turned ? Shape{1, columns, depth} : Shape{1, depth, columns}, turned);
  }
  graph::Module matrix_row() {
    const int64_t depth = channels(160), columns = channels(120);
    const bool turned = r_.chance(50);
    return matmul_module(r_, {1, 1, depth},
                         turned ? Shape{1, columns, depth} : Shape{1, depth, columns}, turned);
  }
  graph::Module lines_turned(int which) {
    constexpr DataType kTypes[] = {DataType::Int8, DataType::Int16, DataType::Float32};
    return moved_module(r_, OpKind::Transpose, kTypes[which % 3],
                        {1, size(1, 24), size(2, 24), channels(40)},
                        graph::TransposeAttrs{{0, 3, 1, 2}});
  }
  // Maxima along one axis.
  graph::Module maxima_along(bool rows, bool wide) {
    const int64_t taps = r_.range(2, 5), stride = r_.range(1, taps), length = size(20, 120),
                  around = r_.range(0, taps - 1);
    const graph::Pool2dAttrs attrs =
        rows ? graph::Pool2dAttrs{1, taps, 1, stride, {0, around / 2, 0, around}, Activation::None}
             : graph::Pool2dAttrs{taps, 1, stride, 1, {around / 2, 0, around, 0}, Activation::None};
    const int64_t others = r_.range(1, 3);
    const Shape shape =
        rows ? Shape{1, others, length, channels(40)} : Shape{1, length, others, channels(40)};
    return wide ? wide_pool_module(r_, OpKind::MaxPool2d, shape, attrs)
                : plain_module(r_, OpKind::MaxPool2d, attrs, shape);
  }
  // Channels of some groups side by side.
  graph::Module shuffled(DataType type) {
    return moved_module(r_, OpKind::Transpose, type,
                        {1, size(2, 16), size(2, 16), r_.range(2, 6), channels(24)},
                        graph::TransposeAttrs{{0, 1, 2, 4, 3}});
  }
  graph::Module short_row_mean() {
    return plain_module(r_, OpKind::Mean, graph::ReduceAttrs{{3}, true},
                        {1, size(4, 12), size(4, 12), 8 + channels(56)});
  }
  graph::Module wide(OpKind kind) {
    WideCase c{kind, size(2, 10), size(4, 10), channels(24), 0, r_.range(1, 3), r_.range(1, 3)};
    c.out_channels = kind == OpKind::Conv2d ? channels(24) : c.channels;
    c.padding = {c.kernel_h / 2, c.kernel_w / 2, c.kernel_h / 2, c.kernel_w / 2};
    return wide_module(r_, c);
  }
  graph::Module wide_depthwise_3x3() {
    WideCase c{OpKind::DepthwiseConv2d, size(3, 14), size(3, 14), 3 + channels(24), 0, 3, 3};
    c.out_channels = c.channels;
    c.stride = r_.range(1, 2);
    c.padding = {1, 1, 1, 1};
    c.activation = activation();
    return wide_module(r_, c);
  }
  graph::Module dilated_depthwise(bool is_wide) {
    const int64_t c = 3 + channels(24), d = r_.range(2, 4), side = size(6, 20);
    if (is_wide)
      return wide_module(
          r_, {OpKind::DepthwiseConv2d, side, size(6, 20), c, c, 3, 3, 1, d, {d, d, d, d}});
    WindowCase w{OpKind::DepthwiseConv2d, 1, side, size(6, 20), c, c, 3, 3, 1};
    w.dilation_h = w.dilation_w = d, w.padding = {d, d, d, d};
    return window(w);
  }
  graph::Module wide_depthwise_of_any_window(int which) {
    WideCase c{OpKind::DepthwiseConv2d, size(8, 20), size(8, 20), r_.range(2, 12)};
    c.out_channels = c.channels * (which % 4 == 3 ? 2 : 1);
    c.kernel_h = r_.range(2, 7), c.kernel_w = r_.range(4, 7);
    if (which % 4 == 1) c.height = c.kernel_h = 1, c.width = r_.range(60, 160);
    (which % 2 == 0 ? c.stride : c.dilation) = r_.range(1, 2);
    c.padding = {c.kernel_h / 2 * c.dilation, c.kernel_w / 2 * c.dilation,
                 c.kernel_h / 2 * c.dilation, c.kernel_w / 2 * c.dilation};
    c.activation = activation();
    return wide_module(r_, c);
  }
  // Depthwise windows of which most is padding, or that are dilated and have a stride.
  graph::Module mostly_padding(int which) {
    const bool dilated = which % 3 == 2;
    const int64_t side = dilated ? size(6, 12) : size(1, 5), c = 8 * r_.range(8, 40),
                  kernel = dilated ? 3 : 2 * r_.range(1, 3) + 1, pad = kernel / 2;
    WindowCase w{OpKind::DepthwiseConv2d, 1, side, side, c, c, kernel, kernel, dilated ? 2 : 1};
    w.dilation_h = w.dilation_w = w.stride, w.padding = {pad, pad, pad, pad};
    w.small_multipliers = r_.chance(75);
    return rectified(window_module(r_, w));
  }
  graph::Module few_pixels() {
    WideCase c{OpKind::Conv2d, 1, size(1, 3), channels(60), channels(60), r_.range(1, 3), 3};
    c.padding = {c.kernel_h / 2, 1, c.kernel_h / 2, 1};
    return wide_module(r_, c);
  }
  // Windows that reach over all edges.
  graph::Module wide_edges() {
    const int64_t some = channels(64);
    return wide_module(
        r_,
        {OpKind::DepthwiseConv2d, size(1, 4), size(2, 4), some, some, 5, 5, 1, 1, {2, 2, 2, 2}});
  }
  graph::Module shifted(int which) {
    WideCase c{which % 3 == 2 ? OpKind::FullyConnected : OpKind::Conv2d, size(1, 10), size(1, 12),
               channels(24), channels(24)};
    if (c.kind == OpKind::FullyConnected)
      c.channels = channels(300), c.batches = r_.chance(50) ? 1 : r_.range(2, 9);
    else if (r_.chance(60))
      c.kernel_h = c.kernel_w = 3, c.padding = {1, 1, 1, 1};
    if (which % 6 == 1) c.kind = OpKind::DepthwiseConv2d, c.out_channels = c.channels;
    c.activation = activation();
    return shifted_module(r_, c);
  }
  graph::Module elements(int which) {
    constexpr OpKind kKinds[] = {OpKind::Add, OpKind::Sub, OpKind::Mul};
    const Shape whole{1, size(1, 12), size(1, 12), channels(40)};
    Shape part = whole;
    if (which % 4 == 3) part = {whole[3]};
    return float_binary_module(r_, kKinds[which % 3], whole, part, activation());
  }
  graph::Module rows_moved(int which) {
    constexpr DataType kTypes[] = {DataType::Int8, DataType::Int16, DataType::Float32};
    const DataType type = kTypes[which % 3];
    const int64_t height = size(2, 12), width = size(2, 12);
    if (which % 2 == 0) {
      std::vector<Shape> inputs;
      for (int64_t i = r_.range(2, 3); i > 0; --i)
        inputs.push_back({1, height, width, channels(40)});
      return concat_module(r_, type, inputs, 3);
    }
    const int64_t some = channels(40);
    return moved_module(
        r_, OpKind::Slice, type, {1, height, width, some},
        graph::SliceAttrs{{0, 1, 1, 0}, {1, height - 1, width - 1, some}, {1, 1, 1, 1}, {}});
  }
  graph::Module hybrid(int which) {
    constexpr OpKind kKinds[] = {OpKind::HybridConv2d, OpKind::HybridFullyConnected,
                                 OpKind::HybridDepthwiseConv2d};
    WideCase c{kKinds[which % 3], size(1, 10), size(1, 12), channels(24), channels(24)};
    if (c.kind == OpKind::HybridFullyConnected)
      c.channels = channels(300), c.batches = r_.chance(50) ? 1 : r_.range(2, 9);
    else if (r_.chance(60))
      c.kernel_h = c.kernel_w = 3, c.padding = {1, 1, 1, 1};
    if (c.kind == OpKind::HybridDepthwiseConv2d) c.channels = c.out_channels = 3 + channels(40);
    c.activation = activation();
    return hybrid_module(r_, c);
  }
  graph::Module resized(int which) {
    return resize_module(r_, which % 2 == 0 ? DataType::Int8 : DataType::Int16,
                         {1, size(2, 8), size(2, 8), channels(24)},
                         {r_.range(2, 12), r_.range(2, 12), false, which % 4 < 2});
  }
  graph::Module float_steps(int which) {
    return float_steps_module(r_, which % 2 == 0 ? OpKind::Quantize : OpKind::Dequantize,
                              which % 4 < 2 ? DataType::Int8 : DataType::Int16, r_.range(1, 600),
                              r_.real(0.001f, 0.1f), r_.range(-100, 100));
  }
  graph::Module real_depthwise() {
    WideCase c{OpKind::DepthwiseConv2d, size(3, 12), size(3, 14), channels(32), 0};
    c.out_channels = c.channels, c.kernel_h = c.kernel_w = r_.range(2, 3);
    c.stride = r_.range(1, 2), c.activation = activation();
    c.padding = {c.kernel_h / 2, c.kernel_w / 2, c.kernel_h / 2, c.kernel_w / 2};
    return float_depthwise_module(r_, c);
  }
  // Those that kernels with sums of 32 bits, or with one filter a channel, leave.
  graph::Module wide_otherwise(int which) {
    WideCase c{which % 2 == 0 ? OpKind::Conv2d : OpKind::DepthwiseConv2d,
               size(3, 10),
               size(4, 10),
               channels(16),
               0,
               r_.range(1, 3),
               r_.range(1, 3)};
    c.out_channels = which % 2 == 0 ? channels(16) : c.channels * r_.range(2, 3);
    if (which % 2 == 0) c.bias = DataType::Int32;
    return wide_module(r_, c);
  }
  graph::Module wide_dense() {
    return wide_module(r_, {OpKind::FullyConnected, 1, 1, channels(200), channels(60)});
  }
  graph::Module row_mean() {
    return plain_module(r_, OpKind::Mean, graph::ReduceAttrs{{3}, true},
                        {1, size(1, 10), size(1, 10), channels(100)});
  }
  graph::Module wide_sum(OpKind kind) {
    const Shape shape{1, size(1, 16), size(1, 16), channels(24)};
    return wide_sum_module(r_, kind, shape, shape, r_.real(0.0002f, 0.0008f),
                           r_.real(0.0002f, 0.0008f), activation());
  }
  graph::Module wide_product() {
    const Shape shape{1, size(1, 16), size(1, 16), channels(24)};
    return wide_product_module(r_, shape, shape, r_.real(10000, 60000), activation());
  }
  graph::Module squared_difference(int which) {
    const Shape shape{1, size(1, 16), size(1, 16), channels(24)};
    return squared_difference_module(r_, which % 4 == 3 ? DataType::Int16 : DataType::Int8, shape,
                                     shape, r_.real(0.01f, 0.1f), r_.real(0.01f, 0.1f));
  }
  graph::Module wide_matrices() {
    const int64_t rows = r_.range(2, 20), depth = channels(48), columns = r_.range(2, 30);
    const bool turned = r_.chance(50);
    return wide_matmul_module(r_, {rows, depth},
                              turned ? Shape{columns, depth} : Shape{depth, columns}, turned);
  }
  graph::Module wide_staged(bool dilated) {
    WideCase c{OpKind::TransposeConv2d, size(3, 9), size(3, 9), channels(24), channels(24)};
    const int64_t k = c.kernel_h = c.kernel_w = r_.range(2, 4);
    (dilated ? c.dilation : c.stride) = 2, c.activation = activation();
    if (dilated) c.kind = OpKind::Conv2d, c.padding = {k, k, k, k};
    return staged_wide_module(r_, c, 1);
  }
  graph::Module wide_curve(int which) {
    return wide_curve_module(r_, which % 2 == 0 ? OpKind::Logistic : OpKind::Tanh, r_.range(1, 400),
                             r_.real(0.0001f, 0.0008f));
  }
  graph::Module wide_function(int which) {
    const float scale = r_.real(0.0001f, 0.0008f);
    return wide_curve_module(r_, which % 2 == 0 ? OpKind::HardSwish : OpKind::Quantize,
                             r_.range(1, 400), scale, scale * r_.real(0.5f, 2.0f));
  }
  graph::Module wide_pool(OpKind kind) {
    const int64_t side = size(3, 12), filter = r_.chance(50) ? side : r_.range(2, 3);
    return wide_pool_module(
        r_, kind, {1, side, side, channels(48)},
        graph::Pool2dAttrs{filter, filter, r_.range(1, 2), r_.range(1, 2), {}, activation()});
  }
  // Maxima of every second column: of few channels, and of two by two.
  graph::Module maxima(int which) {
    const int64_t height = size(4, 16), width = size(8, 40), filter = which % 4 < 2 ? 2 : 3;
    const graph::Pool2dAttrs attrs{filter, filter, 2, 2, {}, Activation::None};
    const Shape shape{1, height, width, which % 4 == 0 ? channels(24) : r_.range(1, 4)};
    return which % 2 == 0 ? wide_pool_module(r_, OpKind::MaxPool2d, shape, attrs)
                          : plain_module(r_, OpKind::MaxPool2d, attrs, shape);
  }
  graph::Module rectified_by_alphas(int which) {
    const float ratio = r_.real(0.5f, 1.5f);
    if (which % 3 == 2) return leaky_relu_module(r_, r_.range(1, 500), r_.real(0.01f, 0.3f), ratio);
    const Shape shape{1, size(1, 16), size(1, 16), channels(32)};
    return prelu_module(r_, which % 3 == 0 ? DataType::Int8 : DataType::Int16, shape,
                        r_.chance(70) ? Shape{shape[3]} : shape, r_.chance(50), ratio);
  }
  graph::Module pair(int which) {
    constexpr OpKind kKinds[] = {OpKind::Less, OpKind::Div, OpKind::Equal};
    const Shape shape{r_.range(128, 900)};
    return pair_module(r_, kKinds[which % 3], shape, shape, false);
  }
  graph::Module limited(int which) {
    const DataType type = which % 2 == 0 ? DataType::Int8 : DataType::Int16;
    const Shape shape{r_.range(20, 900)};
    if (which % 4 < 2)
      return extreme_module(r_, which % 3 == 0 ? OpKind::Minimum : OpKind::Maximum, type, shape,
                            shape, false);
    return limited_module(r_, type, shape[0]);
  }
  graph::Module wide_mean(int which) {
    Builder b(r_, OpKind::Mean, DataType::Int16);
    b.input({1, size(2, 12), size(2, 12), channels(100)});
    b.node().attributes = graph::ReduceAttrs{
        which % 3 == 2 ? std::vector<int64_t>{3} : std::vector<int64_t>{1, 2}, true};
    return b.finish();
  }
  graph::Module recurrent(int which) {
    if (which % 2 == 0)
      return svdf_module(r_, which % 4 == 0 ? DataType::Int8 : DataType::Int16, channels(100),
                         channels(64), r_.range(4, 40));
    // Sums of so many products of int16 leave 32 bits.
    const int64_t inputs = channels(60) + (which % 8 == 7 ? 1200 : 0);
    return lstm_module(r_, which % 4 == 1 ? DataType::Int8 : DataType::Int16, inputs, channels(40));
  }
  graph::Module real_layer(int which) {
    Builder b(r_,
              which % 4 == 0   ? OpKind::FullyConnected
              : which % 4 == 1 ? OpKind::Conv2d
              : which % 4 == 2 ? OpKind::Add
                               : OpKind::AveragePool2d,
              DataType::Float32);
    if (which % 4 == 0) {
      const int64_t in = channels(80), out = channels(40);
      b.input({r_.chance(70) ? 1 : r_.range(2, 9), in});
      b.constant({out, in}, DataType::Float32, {}, 0, 0),
          b.constant({out}, DataType::Float32, {}, 0, 0);
      graph::FullyConnectedAttrs attrs;
      attrs.activation = activation();
      b.node().attributes = attrs;
    } else if (which % 4 == 1) {
      const int64_t in = channels(24), out = channels(24), kernel = r_.chance(30) ? 1 : 3;
      b.input({1, size(4, 12), size(4, 12), in});
      b.constant({out, kernel, kernel, in}, DataType::Float32, {}, 0, 0),
          b.constant({out}, DataType::Float32, {}, 0, 0);
      graph::Conv2dAttrs attrs;
      attrs.stride_h = attrs.stride_w = r_.range(1, 2);
      attrs.padding = {0, 0, kernel - 1, kernel - 1};
      attrs.activation = activation();
      b.node().attributes = attrs;
    } else if (which % 4 == 2) {
      const Shape shape{1, size(4, 12), size(4, 12), channels(24)};
      b.input(shape), b.input(shape);
      b.node().attributes = graph::BinaryAttrs{activation()};
    } else {
      const int64_t side = size(3, 10);
      b.input({1, side, side, channels(40)});
      const int64_t filter = r_.chance(60) ? side : 2;
      b.node().attributes = graph::Pool2dAttrs{filter, filter, 2, 2, {}, Activation::None};
    }
    return b.finish();
  }
  graph::Module converted(int which) {
    constexpr DataType kFrom[] = {DataType::Int16, DataType::Int8, DataType::Int16},
                       kTo[] = {DataType::Int8, DataType::Int8, DataType::Int32};
    Builder b(r_, OpKind::Quantize, kFrom[which % 3]);
    b.input({1, r_.range(1, 120)});
    return b.finish(kTo[which % 3], b.quantization(kTo[which % 3]));
  }
  graph::Module wide_softmax() {
    Builder b(r_, OpKind::Softmax, DataType::Int8);
    b.input({1, r_.range(2, 30)});
    b.node().attributes = graph::SoftmaxAttrs{};
    return b.finish(DataType::Int16, {{1.0f / 65536}, {-32768}, 0});
  }

  Random r_;
  int count_;
  std::vector<CostSample> all_;
};

}  // namespace

std::vector<CostSample> cost_samples(uint32_t seed, int per_family) {
  return Samples(seed, per_family).make();
}

}  // namespace intarsia::test::cortex_m
