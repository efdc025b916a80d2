// Estimated cycles per product (or per element) of common shapes on a core without wait states, to see which shapes are out of
// line with their neighbours:  cortex_m_shapes CORE BOARD [portable]
#include <cstdio>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "cost_samples.h"
#include "wide_modules.h"

namespace intarsia::test::cortex_m {
namespace {

using graph::OpKind;

struct Shaped {
  std::string what;
  graph::Module module;
  int64_t work;  // products, or elements read
};

class Table {
 public:
  void conv(int64_t size, int64_t in, int64_t out, int64_t kernel_h, int64_t kernel_w,
            int64_t stride, int64_t batches = 1) {
    window({OpKind::Conv2d, batches, size, kernel_w > kernel_h && kernel_h == 1 ? 4 * size : size,
            in, out, kernel_h, kernel_w, stride},
           in);
  }
  void depthwise(int64_t size, int64_t channels, int64_t kernel_h, int64_t kernel_w, int64_t stride,
                 int64_t multiplier = 1, int64_t dilation = 1) {
    WindowCase c{OpKind::DepthwiseConv2d, 1,        size,     size,  channels,
                 channels * multiplier,   kernel_h, kernel_w, stride};
    c.dilation_h = c.dilation_w = dilation;
    window(c, 1);
  }
  // What is made of plain convolutions: of groups, dilated columns, transposed.
  void made(const char* name, const WindowCase& c) {
    const int64_t taps = c.kernel_h * c.kernel_w;
    graph::Module module = window_module(random_, c);
    const graph::Function& function = module.entry_function();
    const bool transposed = c.kind == OpKind::TransposeConv2d;
    const Shape& pixels =
        function.tensor(transposed ? function.inputs[0] : function.outputs[0]).shape;
    all_.push_back(
        {fmt::format("{} {}x{}x{} -> {}, {}x{} by {}", name, c.height, c.width, c.channels,
                     c.out_channels, c.kernel_h, c.kernel_w, c.stride),
         std::move(module),
         pixels[0] * pixels[1] * pixels[2] * c.channels / c.groups * c.out_channels * taps});
  }
  void matmul(int64_t rows, int64_t depth, int64_t columns) {
    all_.push_back({fmt::format("matmul {}x{} by {}x{}", rows, depth, depth, columns),
                    matmul_module(random_, {rows, depth}, {depth, columns}),
                    rows * depth * columns});
  }
  void repeated(OpKind kind, const char* name, const Shape& a, const Shape& b) {
    all_.push_back({fmt::format("{} {} by {}", name, fmt::join(a, "x"), fmt::join(b, "x")),
                    binary_module(random_, kind, a, b), element_count(a)});
  }
  void lstm(DataType type, int64_t inputs, int64_t units) {
    all_.push_back({fmt::format("lstm of {} bits, {} inputs, {} units", bits(type), inputs, units),
                    lstm_module(random_, type, inputs, units), 4 * units * (inputs + units)});
  }
  void dense(int64_t rows, int64_t in, int64_t out) {
    all_.push_back({fmt::format("dense {} rows {} -> {}", rows, in, out),
                    fully_connected_module(random_, rows, in, out), rows * in * out});
  }
  void plain(OpKind kind, const char* name, graph::Attributes attributes, const Shape& shape,
             int operands = 1) {
    all_.push_back({fmt::format("{} {}", name, fmt::join(shape, "x")),
                    plain_module(random_, kind, std::move(attributes), shape, operands),
                    element_count(shape)});
  }
  void pool(int64_t size, int64_t channels, int64_t filter, int64_t stride) {
    graph::Pool2dAttrs attrs{filter, filter, stride, stride, {}, graph::Activation::None};
    plain(OpKind::AveragePool2d, fmt::format("average {0}x{0} by {1}", filter, stride).c_str(),
          attrs, {1, size, size, channels});
    plain(OpKind::MaxPool2d, fmt::format("max {0}x{0} by {1}", filter, stride).c_str(), attrs,
          {1, size, size, channels});
  }

  void print(const std::string& core, const char* board, bool portable) {
    std::vector<CostSample> samples;
    for (const Shaped& shaped : all_) samples.push_back({shaped.what, shaped.module});
    const Result<std::vector<double>> cycles = count_samples(core, board, samples, {portable});
    if (!cycles.ok()) {
      std::fputs(cycles.error().to_string().c_str(), stderr);
      return;
    }
    for (size_t i = 0; i < all_.size(); ++i)
      fmt::print("{:48} {:9.0f} {:8.3f}\n", all_[i].what, (*cycles)[i],
                 (*cycles)[i] / static_cast<double>(all_[i].work));
  }

 private:
  void window(WindowCase c, int64_t products) {
    c.padding = {(c.kernel_h - 1) * c.dilation_h / 2, (c.kernel_w - 1) * c.dilation_w / 2,
                 c.kernel_h * c.dilation_h / 2, c.kernel_w * c.dilation_w / 2};
    graph::Module module = window_module(random_, c);
    const graph::Function& function = module.entry_function();
    const int64_t outputs = element_count(function.tensor(function.outputs[0]).shape);
    all_.push_back({fmt::format("{} {}x{}x{}x{} -> {}, {}x{} by {}{}",
                                c.kind == OpKind::Conv2d ? "conv" : "depthwise", c.batches,
                                c.height, c.width, c.channels, c.out_channels, c.kernel_h,
                                c.kernel_w, c.stride, c.dilation_h > 1 ? " dilated" : ""),
                    std::move(module), outputs * c.kernel_h * c.kernel_w * products});
  }

  Random random_{21};
  std::vector<Shaped> all_;
};

}  // namespace
}  // namespace intarsia::test::cortex_m

int main(int count, char** arguments) {
  using namespace intarsia::test::cortex_m;
  const bool portable = count == 4 && std::string_view(arguments[3]) == "portable";
  if (count != 3 && !portable) {
    std::fputs("usage: cortex_m_shapes CORE BOARD [portable]\n", stderr);
    return 2;
  }
  Table table;
  for (const int64_t channels : {1, 3, 4, 5, 8, 10, 16, 20, 32, 33, 64}) {
    table.conv(8, channels, 16, 1, 1, 1);
    table.conv(8, channels, 16, 3, 3, 1);
  }
  for (const int64_t out : {1, 2, 3, 5, 10, 33})
    table.conv(8, 16, out, 1, 1, 1), table.conv(8, 16, out, 3, 3, 1);
  for (const int64_t stride : {2, 3})
    table.conv(9, 16, 16, 1, 1, stride), table.conv(9, 16, 16, 3, 3, stride),
        table.conv(9, 3, 8, 3, 3, stride);
  table.conv(12, 1, 16, 10, 4, 2), table.conv(12, 1, 16, 5, 5, 1), table.conv(8, 16, 16, 5, 5, 1);
  table.conv(1, 16, 16, 1, 3, 1), table.conv(1, 20, 16, 1, 5, 2), table.conv(1, 10, 33, 1, 9, 1),
      table.conv(1, 1, 16, 1, 9, 4);
  table.conv(8, 16, 16, 3, 1, 1), table.conv(4, 16, 16, 3, 3, 1, 4), table.conv(1, 64, 64, 1, 1, 1),
      table.conv(2, 64, 64, 1, 1, 1);
  table.conv(1, 64, 64, 1, 1, 1, 3);
  for (const int64_t channels : {2, 3, 4, 5, 8, 10, 16, 20, 32, 33, 64})
    table.depthwise(8, channels, 3, 3, 1);
  for (const int64_t stride : {2, 3})
    table.depthwise(9, 16, 3, 3, stride), table.depthwise(9, 10, 3, 3, stride);
  table.depthwise(10, 16, 5, 5, 1), table.depthwise(10, 16, 5, 5, 2),
      table.depthwise(10, 16, 7, 7, 1), table.depthwise(10, 16, 1, 9, 1);
  table.depthwise(10, 16, 9, 1, 1), table.depthwise(8, 16, 1, 1, 1),
      table.depthwise(8, 8, 3, 3, 1, 2), table.depthwise(8, 1, 3, 3, 1, 8);
  table.depthwise(8, 4, 10, 8, 2, 2), table.depthwise(8, 16, 3, 3, 1, 1, 2),
      table.depthwise(4, 64, 4, 4, 1), table.depthwise(3, 256, 3, 3, 1);
  for (const auto& [rows, in, out] : {std::tuple{1, 64, 12},
                                      {1, 128, 128},
                                      {1, 63, 12},
                                      {1, 640, 128},
                                      {1, 4000, 4},
                                      {1, 16, 1},
                                      {1, 50, 2},
                                      {1, 128, 3},
                                      {4, 64, 12},
                                      {3, 33, 5},
                                      {8, 128, 32}})
    table.dense(rows, in, out);
  for (const auto& [size, channels, filter, stride] : {std::tuple{8, 16, 2, 2},
                                                       {9, 16, 3, 2},
                                                       {8, 64, 8, 8},
                                                       {8, 10, 3, 1},
                                                       {5, 33, 5, 5},
                                                       {8, 1, 2, 2}})
    table.pool(size, channels, filter, stride);
  namespace graph = intarsia::graph;
  using graph::OpKind;
  using intarsia::Shape;
  for (const Shape& shape : {Shape{1, 8, 8, 16}, {1, 7, 7, 10}, {1, 64}, {1, 3}}) {
    table.plain(OpKind::Add, "add", graph::BinaryAttrs{}, shape, 2);
    table.plain(OpKind::Sub, "sub", graph::BinaryAttrs{}, shape, 2);
    table.plain(OpKind::Mul, "mul", graph::BinaryAttrs{}, shape, 2);
    table.plain(OpKind::Softmax, "softmax", graph::SoftmaxAttrs{}, shape);
  }
  table.plain(OpKind::Mean, "mean h,w", graph::ReduceAttrs{{1, 2}, true}, {1, 8, 8, 16});
  table.plain(OpKind::Mean, "mean h,w", graph::ReduceAttrs{{1, 2}, false}, {1, 5, 5, 33});
  table.plain(OpKind::Mean, "mean c", graph::ReduceAttrs{{3}, false}, {1, 8, 8, 16});
  for (const auto& [groups, each] :
       {std::pair{2, 16}, {4, 4}, {4, 8}, {4, 12}, {4, 16}, {8, 4}, {2, 32}})
    for (const int64_t kernel : {1, 3}) {
      WindowCase c{OpKind::Conv2d, 1, 8, 8, groups * each, groups * each, kernel, kernel, 1};
      c.groups = groups;
      c.padding = {kernel / 2, kernel / 2, kernel / 2, kernel / 2};
      table.made(fmt::format("{} groups", groups).c_str(), c);
    }
  for (const int64_t dilation : {2, 4, 16}) {
    WindowCase c{OpKind::Conv2d, 1, 1, 128, 16, 16, 1, 3, 1};
    c.dilation_w = dilation, c.padding = {0, 2 * dilation, 0, 0};
    table.made(fmt::format("dilated by {}", dilation).c_str(), c);
  }
  for (const auto& [kernel, stride] : {std::pair{2, 2}, {3, 2}, {4, 2}, {3, 1}})
    for (const int64_t channels : {8, 16, 32})
      table.made("transposed",
                 {OpKind::TransposeConv2d, 1, 8, 8, channels, channels, kernel, kernel, stride});
  for (const auto& [rows, depth, columns] :
       {std::tuple{8, 8, 8}, {16, 16, 16}, {32, 32, 32}, {49, 64, 49}, {49, 49, 64}, {64, 12, 64}})
    table.matmul(rows, depth, columns);
  for (const OpKind kind : {OpKind::Add, OpKind::Sub, OpKind::Mul}) {
    const char* name = kind == OpKind::Add ? "add" : kind == OpKind::Sub ? "sub" : "mul";
    table.repeated(kind, name, {1, 8, 8, 16}, {1, 1, 1, 16});
    table.repeated(kind, name, {1, 8, 8, 16}, {1, 1, 8, 16});
    table.repeated(kind, name, {1, 20, 50, 8}, {1, 20, 1, 8});
    table.repeated(kind, name, {1, 8, 8, 16}, {1, 8, 8, 1});
    table.repeated(kind, name, {1, 8, 8, 16}, {1, 1, 1, 1});
  }
  for (const intarsia::DataType type : {intarsia::DataType::Int8, intarsia::DataType::Int16})
    for (const auto& [inputs, units] : {std::pair{28, 20}, {32, 32}, {64, 64}, {128, 128}})
      table.lstm(type, inputs, units);
  table.print(arguments[1], arguments[2], portable);
}
