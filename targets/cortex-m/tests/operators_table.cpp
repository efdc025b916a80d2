// Estimated cycles per element, or per product, of every integer operator that ordinary networks have, on a core without wait
// states: what is out of line with its neighbours shows here.  cortex_m_operators CORE BOARD [portable]
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "cost_samples.h"
#include "support/random_builder.h"
#include "wide_modules.h"

namespace intarsia::test::cortex_m {
namespace {

using graph::OpKind;
using testing::families::Builder;
using enum DataType;

graph::Quantization at(float scale, int64_t zero_point = 0) {
  return {{scale}, {zero_point}, 0};
}

class Operators {
 public:
  // One operand, a result of the same scale unless another is given.
  void one(DataType type, OpKind kind, const Shape& shape, const graph::Attributes& attributes,
           std::optional<graph::Quantization> out = std::nullopt) {
    Builder b(random_, kind, type);
    const graph::Quantization q = quantization(type);
    b.tensor(b.input(shape)).quantization = q;
    b.node().attributes = attributes;
    add(type, kind, shape, element_count(shape), b.finish(type, out.value_or(q)));
  }
  void two(DataType type, OpKind kind, const Shape& a, const Shape& b_shape,
           const graph::Attributes& attributes, DataType result) {
    Builder b(random_, kind, type);
    b.tensor(b.input(a)).quantization = type == Int16 ? at(0.0004f) : at(0.05f, 7);
    b.tensor(b.input(b_shape)).quantization = type == Int16 ? at(0.0003f) : at(0.04f, -9);
    b.node().attributes = attributes;
    const graph::Quantization out = type == Int16 ? at(0.0006f) : at(0.07f, 3);
    add(type, kind, a, element_count(a),
        b.finish(result, result == Bool ? graph::Quantization{} : out));
  }
  // Of operands and a result of one scale.
  void extreme(DataType type, const Shape& a, const Shape& b_shape) {
    Builder b(random_, OpKind::Maximum, type);
    const graph::Quantization q = type == Int16 ? at(0.0004f) : at(0.05f, 7);
    b.tensor(b.input(a)).quantization = q;
    b.tensor(b.input(b_shape)).quantization = q;
    add(type, OpKind::Maximum, a, element_count(a), b.finish(type, q));
  }
  void prelu(DataType type, const Shape& shape) {
    Builder b(random_, OpKind::Prelu, type);
    b.tensor(b.input(shape)).quantization = type == Int16 ? at(0.0004f) : at(0.05f, 7);
    b.constant({shape.back()}, Int8, at(0.003f), -127, 127);
    add(type, OpKind::Prelu, shape, element_count(shape),
        b.finish(type, type == Int16 ? at(0.0005f) : at(0.06f, -5)));
  }
  void with_constant(DataType type, OpKind kind, const Shape& shape, const Shape& constant,
                     const graph::Attributes& attributes, DataType result) {
    Builder b(random_, kind, type);
    b.tensor(b.input(shape)).quantization = type == Int16 ? at(0.0004f) : at(0.05f, 7);
    const bool wide = type == Int16;
    b.constant(constant, type, wide ? at(0.0003f) : at(0.04f, -9), wide ? 9000 : 30,
               wide ? 30000 : 127);
    b.node().attributes = attributes;
    add(type, kind, shape, element_count(shape),
        b.finish(result, result == Bool ? graph::Quantization{}
                         : wide         ? at(0.0005f)
                                        : at(0.05f, 3)));
    all_.back().what += " constant";
  }
  void window(const char* name, DataType type, const WindowCase& c) {
    WideCase w;
    w.kind = c.kind, w.height = c.height, w.width = c.width, w.channels = c.channels;
    w.out_channels = c.out_channels, w.kernel_h = c.kernel_h, w.kernel_w = c.kernel_w;
    w.stride = c.stride, w.dilation = c.dilation_h, w.padding = c.padding;
    const bool made = c.groups > 1 || c.kind == OpKind::TransposeConv2d;
    graph::Module module = type == Int8 ? window_module(random_, c)
                           : made       ? staged_wide_module(random_, w, c.groups)
                                        : wide_module(random_, w);
    const graph::Function& f = module.entry_function();
    const bool transposed = c.kind == OpKind::TransposeConv2d;
    const Shape& pixels = f.tensor(transposed ? f.inputs[0] : f.outputs[0]).shape;
    const int64_t products =
        pixels[0] * pixels[1] * pixels[2] * c.kernel_h * c.kernel_w *
        (c.kind == OpKind::DepthwiseConv2d ? c.out_channels
                                           : c.channels / c.groups * c.out_channels);
    all_.push_back(
        {fmt::format("i{} {} {}x{}x{} -> {}, {}x{} by {}", bits(type), name, c.height, c.width,
                     c.channels, c.out_channels, c.kernel_h, c.kernel_w, c.stride),
         std::move(module)});
    work_.push_back(products);
  }
  void matmul(DataType type, const Shape& a, const Shape& b_shape, bool turn_a, bool turn_b) {
    Builder b(random_, OpKind::BatchMatmul, type);
    b.tensor(b.input(a)).quantization = type == Int16 ? at(0.0004f) : at(0.05f, 7);
    b.tensor(b.input(b_shape)).quantization = type == Int16 ? at(0.0003f) : at(0.04f, -9);
    b.node().attributes = graph::BatchMatmulAttrs{turn_a, turn_b};
    const int64_t columns = turn_b ? b_shape[b_shape.size() - 2] : b_shape.back();
    all_.push_back({fmt::format("i{} matmul {}{} by {}{}", bits(type), fmt::join(a, "x"),
                                turn_a ? "'" : "", fmt::join(b_shape, "x"), turn_b ? "'" : ""),
                    b.finish(type, type == Int16 ? at(0.01f) : at(0.3f, 3))});
    work_.push_back(element_count(a) * columns);
  }
  void dense(DataType type, int64_t rows, int64_t in, int64_t out) {
    WideCase c{OpKind::FullyConnected};
    c.channels = in, c.out_channels = out, c.batches = rows;
    all_.push_back(
        {fmt::format("i{} dense {} rows {} -> {}", bits(type), rows, in, out),
         type == Int8 ? fully_connected_module(random_, rows, in, out) : wide_module(random_, c)});
    work_.push_back((type == Int8 ? rows : 1) * in * out);
  }
  void module(const std::string& what, graph::Module module, int64_t work) {
    all_.push_back({what, std::move(module)}), work_.push_back(work);
  }
  Random& random() { return random_; }

  void print(const std::string& core, const char* board, bool portable) {
    const Result<std::vector<double>> cycles = count_samples(core, board, all_, {portable});
    if (!cycles.ok()) {
      std::fputs(cycles.error().to_string().c_str(), stderr);
      return;
    }
    for (size_t i = 0; i < all_.size(); ++i)
      fmt::print("{:56} {:9.0f} {:8.3f}\n", all_[i].what, (*cycles)[i],
                 (*cycles)[i] / static_cast<double>(work_[i]));
  }

 private:
  static graph::Quantization quantization(DataType type) {
    return type == Float32 ? graph::Quantization{} : type == Int16 ? at(0.0004f) : at(0.05f, 7);
  }
  void add(DataType type, OpKind kind, const Shape& shape, int64_t work, graph::Module module) {
    all_.push_back({fmt::format("{}{} {} {}", type == Float32 ? 'f' : 'i', bits(type),
                                to_string(kind), fmt::join(shape, "x")),
                    std::move(module)});
    work_.push_back(work);
  }

  Random random_{33};
  std::vector<CostSample> all_;
  std::vector<int64_t> work_;
};

void elements(Operators& t, DataType type) {
  const Shape image{1, 8, 8, 16};
  const bool wide = type == Int16;
  t.one(type, OpKind::Relu, image, graph::ReluAttrs{});
  t.one(type, OpKind::Relu, image, graph::ReluAttrs{graph::Activation::Relu6},
        wide ? at(0.0003f) : at(0.03f, -20));
  t.one(type, OpKind::LeakyRelu, image, graph::LeakyReluAttrs{0.1f});
  t.prelu(type, image);
  t.one(type, OpKind::Abs, image, graph::NoAttrs{});
  t.one(type, OpKind::Gelu, image, graph::GeluAttrs{});
  t.one(type, OpKind::HardSwish, image, graph::NoAttrs{});
  t.extreme(type, image, image), t.extreme(type, image, {1});
  for (const OpKind kind : {OpKind::Add, OpKind::Sub, OpKind::Mul, OpKind::Div}) {
    if (kind == OpKind::Div && wide) continue;
    t.two(type, kind, image, image, graph::BinaryAttrs{}, type);
    t.two(type, kind, image, {16}, graph::BinaryAttrs{}, type);
    t.with_constant(type, kind, image, {1}, graph::BinaryAttrs{}, type);
    t.with_constant(type, kind, image, {16}, graph::BinaryAttrs{}, type);
  }
  t.two(type, OpKind::SquaredDifference, image, image, graph::NoAttrs{}, type);
  if (!wide) {
    t.two(type, OpKind::Greater, image, image, graph::NoAttrs{}, Bool);
    t.two(type, OpKind::Equal, image, image, graph::NoAttrs{}, Bool);
    t.with_constant(type, OpKind::Greater, image, {1}, graph::NoAttrs{}, Bool);
  }
  t.one(type, OpKind::Softmax, {8, 40}, graph::SoftmaxAttrs{},
        wide ? at(1.0f / 32768) : at(1.0f / 256, -128));
  for (const OpKind kind : {OpKind::Mean, OpKind::Sum}) {
    t.one(type, kind, image, graph::ReduceAttrs{{1, 2}, true});
    t.one(type, kind, image, graph::ReduceAttrs{{1}, true});
    t.one(type, kind, image, graph::ReduceAttrs{{2}, true});
    t.one(type, kind, image, graph::ReduceAttrs{{3}, true});
  }
  for (const OpKind kind : {OpKind::ReduceMax}) {
    t.one(type, kind, image, graph::ReduceAttrs{{1, 2}, true});
    t.one(type, kind, image, graph::ReduceAttrs{{3}, true});
  }
  t.one(type, OpKind::Pad, image, graph::PadAttrs{{0, 1, 1, 0}, {0, 1, 1, 0}});
  t.one(type, OpKind::Pad, image, graph::PadAttrs{{0, 0, 0, 0}, {0, 0, 0, 16}});
  if (!wide) {
    t.one(type, OpKind::MirrorPad, image, graph::MirrorPadAttrs{{0, 1, 1, 0}, {0, 1, 1, 0}, false});
    t.one(type, OpKind::SpaceToDepth, image, graph::BlockAttrs{2});
    t.one(type, OpKind::DepthToSpace, image, graph::BlockAttrs{2});
    t.one(type, OpKind::ResizeNearest, image, graph::ResizeAttrs{16, 16, false, true});
    t.one(type, OpKind::LogSoftmax, {8, 40}, graph::NoAttrs{}, at(16.0f / 256, 127));
    t.one(type, OpKind::L2Normalization, {8, 40}, graph::NoAttrs{}, at(1.0f / 128, 0));
    t.one(type, OpKind::Cumsum, {8, 40}, graph::CumsumAttrs{});
  }
  t.one(type, OpKind::ResizeBilinear, image, graph::ResizeAttrs{16, 16, false, true});
  t.one(type, OpKind::Transpose, image, graph::TransposeAttrs{{0, 3, 1, 2}});
  t.one(type, OpKind::Transpose, image, graph::TransposeAttrs{{0, 2, 1, 3}});
  t.one(type, OpKind::Slice, image,
        graph::SliceAttrs{{0, 1, 1, 0}, {1, 6, 6, 16}, {1, 1, 1, 1}, {}});
  t.one(type, OpKind::Slice, image,
        graph::SliceAttrs{{0, 0, 0, 0}, {1, 4, 4, 16}, {1, 2, 2, 1}, {}});
  t.one(type, OpKind::Slice, image,
        graph::SliceAttrs{{0, 0, 0, 8}, {1, 8, 8, 8}, {1, 1, 1, 1}, {}});
  t.one(type, OpKind::Tile, image, graph::TileAttrs{{1, 1, 2, 2}});
  t.one(type, OpKind::BroadcastTo, {1, 1, 1, 16}, graph::ShapeAttrs{{1, 8, 8, 16}});
  graph::Pool2dAttrs pool{3, 3, 2, 2, {}, graph::Activation::None};
  t.one(type, OpKind::AveragePool2d, {1, 9, 9, 16}, pool);
  t.one(type, OpKind::MaxPool2d, {1, 9, 9, 16}, pool);
  t.one(type, OpKind::AveragePool2d, {1, 9, 9, 3}, pool);
  t.one(type, OpKind::MaxPool2d, {1, 9, 9, 3}, pool);
  t.one(type, OpKind::MaxPool2d, {1, 9, 9, 16},
        graph::Pool2dAttrs{2, 2, 1, 1, {0, 0, 1, 1}, graph::Activation::None});
}

void products(Operators& t, DataType type) {
  for (const auto& [in, out, kernel, stride] : {std::tuple{16, 16, 1, 1},
                                                {16, 16, 3, 1},
                                                {3, 8, 3, 2},
                                                {64, 64, 3, 1},
                                                {96, 32, 3, 1},
                                                {128, 16, 3, 1},
                                                {32, 64, 1, 1},
                                                {256, 64, 1, 1},
                                                {600, 32, 1, 1},
                                                {16, 2, 3, 1},
                                                {1, 8, 5, 1}}) {
    WindowCase c{OpKind::Conv2d, 1, 8, 8, in, out, kernel, kernel, stride};
    c.padding = {kernel / 2, kernel / 2, kernel / 2, kernel / 2};
    t.window("conv", type, c);
  }
  {
    WindowCase c{OpKind::Conv2d, 1, 1, 64, 16, 16, 1, 3, 1};
    c.padding = {0, 1, 0, 1};
    t.window("conv", type, c);
    WindowCase d{OpKind::Conv2d, 1, 12, 12, 16, 16, 3, 3, 1};
    d.dilation_h = d.dilation_w = 2, d.padding = {2, 2, 2, 2};
    t.window("dilated", type, d);
    WindowCase g{OpKind::Conv2d, 1, 8, 8, 32, 32, 3, 3, 1};
    g.groups = 4, g.padding = {1, 1, 1, 1};
    t.window("4 groups", type, g);
    t.window("transposed", type, {OpKind::TransposeConv2d, 1, 8, 8, 16, 16, 3, 3, 2});
    t.window("transposed", type, {OpKind::TransposeConv2d, 1, 8, 8, 16, 2, 3, 3, 2});
    t.window("transposed", type, {OpKind::TransposeConv2d, 1, 8, 8, 16, 16, 2, 2, 2});
  }
  for (const auto& [channels, out, kernel, stride, dilation] : {std::tuple{16, 16, 3, 1, 1},
                                                                {16, 16, 3, 2, 1},
                                                                {32, 32, 5, 1, 1},
                                                                {32, 32, 5, 2, 1},
                                                                {16, 16, 3, 1, 2},
                                                                {16, 16, 3, 2, 2},
                                                                {8, 16, 3, 1, 1},
                                                                {1, 8, 3, 1, 1},
                                                                {16, 16, 7, 1, 1},
                                                                {3, 3, 3, 1, 1}}) {
    if (type == Int16 && out != channels && channels != 1) continue;
    WindowCase c{OpKind::DepthwiseConv2d, 1, 12, 12, channels, out, kernel, kernel, stride};
    c.dilation_h = c.dilation_w = dilation;
    const int64_t pad = dilation * (kernel / 2);
    c.padding = {pad, pad, pad, pad};
    t.window(dilation > 1 ? "depthwise dilated" : "depthwise", type, c);
  }
  for (const auto& [rows, in, out] : {std::tuple{1, 8, 16},
                                      {1, 3, 8},
                                      {1, 16, 48},
                                      {1, 20, 60},
                                      {1, 64, 10},
                                      {1, 128, 128},
                                      {1, 700, 32}})
    t.dense(type, rows, in, out);
  t.matmul(type, {32, 32}, {32, 32}, false, false);
  t.matmul(type, {32, 32}, {32, 32}, false, true);
  t.matmul(type, {32, 32}, {32, 32}, true, false);
  t.matmul(type, {4, 32, 6}, {4, 6, 32}, false, false);
  t.matmul(type, {4, 32, 8}, {4, 32, 8}, false, true);
  t.matmul(type, {1, 4, 1, 16}, {1, 4, 16, 32}, false, false);
}

void others(Operators& t) {
  for (const int64_t kernel : {1, 3}) {
    WideCase c{OpKind::Conv2d, 8, 8, 16, 16, kernel, kernel};
    c.padding = {kernel / 2, kernel / 2, kernel / 2, kernel / 2};
    t.module(fmt::format("nine bits conv 8x8x16 -> 16, {0}x{0}", kernel),
             shifted_module(t.random(), c), 8 * 8 * 16 * 16 * kernel * kernel);
  }
  // As networks of sound have them: a row, dilated more from layer to layer.
  for (const int64_t dilation : {2, 8})
    for (const int64_t channels : {8, 32}) {
      WideCase c{OpKind::Conv2d, 1, 64, channels, channels, 1, 3, 1, dilation};
      c.padding = {0, 2 * dilation, 0, 0};
      t.module(fmt::format("i16 row of 64x{0} -> {0}, 1x3 dilated by {1}", channels, dilation),
               wide_module(t.random(), c), 64 * 3 * channels * channels);
    }
  WideCase d{OpKind::FullyConnected, 1, 1, 64, 32};
  t.module("nine bits dense 64 -> 32", shifted_module(t.random(), d), 64 * 32);
  Builder b(t.random(), OpKind::DepthwiseConv2d, Int8);
  b.tensor(b.input({1, 12, 12, 16})).quantization = at(0.05f, 7);
  graph::Quantization q{{}, {}, 3}, bias{{}, {}, 0};
  for (int i = 0; i < 16; ++i)
    q.scale.push_back(0.01f), q.zero_point.push_back(0), bias.scale.push_back(0.0005f),
        bias.zero_point.push_back(0);
  b.constant({1, 3, 3, 16}, Int16, q, -150, 105);
  b.constant({16}, Int32, bias, -9000, 9000);
  graph::DepthwiseConv2dAttrs a;
  a.multiplier = 1, a.padding = {1, 1, 1, 1};
  b.node().attributes = a;
  t.module("nine bits depthwise 12x12x16, 3x3", b.finish(Int8, at(0.1f, -4)), 12 * 12 * 16 * 9);
}

// Padding beside long rows, beside short ones, beside pixels, and in all directions.
void padded(Operators& t, DataType type) {
  for (const auto& [shape, pads] :
       {std::pair{Shape{1, 16, 16, 64}, graph::PadAttrs{{0, 1, 1, 0}, {0, 1, 1, 0}}},
        {{1, 16, 16, 192}, {{0, 0, 0, 0}, {0, 1, 1, 0}}},
        {{1, 32, 32, 3}, {{0, 3, 3, 0}, {0, 3, 3, 0}}},
        {{1, 8, 8, 24}, {{0, 0, 0, 1}, {0, 0, 0, 7}}},
        {{1, 8, 8, 24}, {{0, 1, 1, 4}, {0, 1, 1, 4}}},
        {{2, 8, 8, 24}, {{0, 1, 2, 0}, {0, 0, 1, 0}}},
        {{1, 40, 8}, {{0, 4, 0}, {0, 0, 0}}}})
    t.one(type, OpKind::Pad, shape, pads);
}

// Functions that int8 looks up.
void curves(Operators& t, DataType type) {
  const Shape image{1, 8, 8, 16};
  const std::optional<graph::Quantization> out =
      type == Int16 ? std::optional(at(1.0f / 32768)) : std::nullopt;
  t.one(type, OpKind::Logistic, image, graph::NoAttrs{}, out);
  t.one(type, OpKind::Tanh, image, graph::NoAttrs{}, out);
  if (type == Int16) return;
  t.one(type, OpKind::HardSwish, image, graph::NoAttrs{});
  t.one(type, OpKind::Exp, image, graph::NoAttrs{});
  t.one(type, OpKind::Softmax, {8, 40}, graph::SoftmaxAttrs{});
  t.one(type, OpKind::Softmax, {1, 10}, graph::SoftmaxAttrs{});
}

}  // namespace
}  // namespace intarsia::test::cortex_m

int main(int count, char** arguments) {
  using namespace intarsia::test::cortex_m;
  const bool portable = count == 4 && std::string_view(arguments[3]) == "portable";
  if (count != 3 && !portable) {
    std::fputs("usage: cortex_m_operators CORE BOARD [portable]\n", stderr);
    return 2;
  }
  Operators table;
  for (const intarsia::DataType type : {intarsia::DataType::Int8, intarsia::DataType::Int16}) {
    elements(table, type);
    products(table, type);
  }
  others(table);
  for (const intarsia::DataType type :
       {intarsia::DataType::Int8, intarsia::DataType::Int16, intarsia::DataType::Float32})
    padded(table, type);
  for (const intarsia::DataType type : {intarsia::DataType::Int16, intarsia::DataType::Float32})
    curves(table, type);
  table.print(arguments[1], arguments[2], portable);
}
