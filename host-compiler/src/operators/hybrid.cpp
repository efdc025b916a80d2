// Integer weights that meet float inputs, as TFLite's "dynamic range" models have them: each row of the input is made int8
// with a scale of its own as the model runs, sums are integers, and results are floats.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "graph/scales.h"
#include "operators/evaluation/weighted_sums.h"
#include "operators/families.h"
#include "operators/lowering/window.h"
#include "operators/weighted_checks.h"

namespace intarsia::operators {
namespace {

using namespace graph;
using enum DataType;

// Operands of the operators with weights.
constexpr size_t kWeights = 1, kBias = 2, kScales = 3, kZeroPoints = 4;

// ---- rules --------------------------------------------------------------------------------------

Shapes infer_quantize_rows(OpCheck& check) {
  const int64_t rows = check.node.attrs<QuantizeRowsAttrs>().rows;
  const Shape& input = check.in(0).shape;
  check.in_range("rows", rows, 1);
  if (!check.ok()) return {};
  if (check.node.attrs<QuantizeRowsAttrs>().together)
    check.require(check.node.attrs<QuantizeRowsAttrs>().asymmetric,
                  "rows that have one range have to be asymmetric");
  check.require(element_count(input) % rows == 0,
                fmt::format("{} elements cannot be {} rows", element_count(input), rows));
  check.require(check.out(1).type == Float32, "the scales have to be f32");
  check.require(check.out(2).type == Int32, "the zero points have to be i32");
  return {input, {rows}, {rows}};
}

// Weights have scales along `axis`, or one; there is one scale and zero point for each row of the input.
void check_hybrid(OpCheck& check, int32_t axis, int64_t channels, int64_t rows) {
  check_bias(check, channels);
  for (const size_t operand : {kScales, kZeroPoints})
    check.require(check.in(operand).shape == Shape{rows},
                  fmt::format("its operand {} has to have the shape [{}]", operand, rows));
  const Quantization& q = check.in(kWeights).quantization;
  if (!check.require(q.present() && q.scale.size() == q.zero_point.size(),
                     "the weights are not quantised"))
    return;
  if (q.per_channel())
    check.require(q.axis == axis && static_cast<int64_t>(q.scale.size()) == channels,
                  fmt::format("the weights have {} scales along axis {}, needs {} along axis {}",
                              q.scale.size(), q.axis, channels, axis));
  check.require(std::ranges::all_of(q.zero_point, [](int64_t z) { return z == 0; }),
                "the zero points of the weights have to be 0");
}

Shapes infer_hybrid_conv2d(OpCheck& check) {
  const auto& a = check.node.attrs<Conv2dAttrs>();
  check.rank(0, 4, "input"), check.rank(kWeights, 4, "weights");
  if (!check_convolution_attributes(check, a)) return {};
  const Shape &input = check.in(0).shape, &weights = check.in(kWeights).shape;
  if (check.require(input[3] % weights[3] == 0,
                    fmt::format("the input's {} channels are no multiple of the weights' {}",
                                input[3], weights[3])))
    check.require(weights[0] % (input[3] / weights[3]) == 0,
                  fmt::format("{} output channels cannot be divided among {} groups", weights[0],
                              input[3] / weights[3]));
  check_hybrid(check, 0, weights[0], input[0]);
  return convolution_shape(check, a, weights[0]);
}

Shapes infer_hybrid_depthwise(OpCheck& check) {
  const auto& a = check.node.attrs<DepthwiseConv2dAttrs>();
  check.rank(0, 4, "input"), check.rank(kWeights, 4, "weights");
  check.in_range("multiplier", a.multiplier, 1);
  if (!check_convolution_attributes(check, a)) return {};
  const Shape &input = check.in(0).shape, &weights = check.in(kWeights).shape;
  check.require(weights[0] == 1, "the first extent of the weights has to be 1");
  check.require(
      weights[3] == input[3] * a.multiplier,
      fmt::format("the weights have {} channels, needs {} (the input's) times {} (the multiplier)",
                  weights[3], input[3], a.multiplier));
  check_hybrid(check, 3, weights[3], input[0]);
  return convolution_shape(check, a, weights[3]);
}

Shapes infer_hybrid_fully_connected(OpCheck& check) {
  check.rank(kWeights, 2, "weights");
  check.require(!check.in(0).shape.empty(), "the input is a scalar");
  if (!check.ok()) return {};
  const Shape& input = check.in(0).shape;
  const int64_t filters = check.in(kWeights).shape[0], depth = check.in(kWeights).shape[1];
  const int64_t elements = element_count(input);
  const bool keeps = check.node.attrs<FullyConnectedAttrs>().keep_dims;
  check.require(keeps ? input.back() == depth : elements % depth == 0,
                fmt::format("the input has {} elements, which are no rows of {}", elements, depth));
  if (!check.ok()) return {};
  check_hybrid(check, 0, filters, elements / depth);
  Shape output = keeps ? input : Shape{elements / depth, filters};
  output.back() = filters;
  return {output};
}

// ---- reference ----------------------------------------------------------------------------------

int8_t nearest_step(float steps, float least) {
  const float rounded = std::round(steps);
  return static_cast<int8_t>(rounded > least ? std::min(rounded, 127.0f) : least);
}

// One range for all, as ONNX's DynamicQuantizeLinear has it: in single precision, halves to the even neighbour.
void quantize_together(const Invocation& call, int64_t rows) {
  const float* x = call.data<float>(0);
  const int64_t count = element_count(call.in().shape);
  const float low = std::min(0.0f, *std::min_element(x, x + count));
  const float high = std::max(0.0f, *std::max_element(x, x + count));
  const float step = low == high ? 1.0f : (high - low) / 255.0f;
  // What is no number is the least.
  const auto nearest = [](float steps, float least, float most) {
    return std::nearbyint(steps > least ? std::min(steps, most) : least);
  };
  const float zero = nearest(0.0f - low / step, 0.0f, 255.0f);
  std::fill_n(call.result<float>(1), rows, step);
  std::fill_n(call.result<int32_t>(2), rows, static_cast<int32_t>(zero) - 128);
  for (int64_t i = 0; i < count; ++i)
    call.result<int8_t>()[i] =
        static_cast<int8_t>(nearest(x[i] / step, -zero, 255.0f - zero) + zero - 128.0f);
}

Result<void> eval_quantize_rows(const Invocation& call) {
  const auto& a = call.node.attrs<QuantizeRowsAttrs>();
  if (a.together) {
    quantize_together(call, a.rows);
    return {};
  }
  const int64_t count = element_count(call.in().shape) / a.rows;
  for (int64_t row = 0; row < a.rows; ++row) {
    const float* x = call.data<float>(0) + row * count;
    int8_t* values = call.result<int8_t>() + row * count;
    float& scale = call.result<float>(1)[row];
    int32_t& zero = call.result<int32_t>(2)[row];
    const float low = std::min(0.0f, *std::min_element(x, x + count));
    const float high = std::max(0.0f, *std::max_element(x, x + count));
    scale = 1, zero = 0;
    std::fill(values, values + count, int8_t{0});
    if (low == high) continue;
    if (!a.asymmetric) {
      const float range = std::max(-low, high);
      scale = range / 127;
      for (int64_t i = 0; i < count; ++i) values[i] = nearest_step(x[i] * (127 / range), -127);
      continue;
    }
    const double step = (static_cast<double>(high) - low) / 255;
    const double from_low = -128 - low / step, from_high = 127 - high / step;
    const bool low_is_closer = 128 + std::abs(low / step) < 127 + std::abs(high / step);
    scale = static_cast<float>(step);
    zero = static_cast<int32_t>(
        std::clamp(std::round(low_is_closer ? from_low : from_high), -128.0, 127.0));
    for (int64_t i = 0; i < count; ++i)
      values[i] = nearest_step(static_cast<float>(zero) + x[i] * (1 / scale), -128);
  }
  return {};
}

int8_t weight_value(const Invocation& call, int64_t index) {
  return call.in(kWeights).type == Int4 ? int4_element(call.data<uint8_t>(kWeights), index)
                                        : call.data<int8_t>(kWeights)[index];
}

float weight_scale(const Tensor& weights, int64_t channel) {
  const std::vector<float>& scales = weights.quantization.scale;
  return scales.size() == 1 ? scales[0] : scales[static_cast<size_t>(channel)];
}

// The result of a channel in a row of the input.
float hybrid_result(const Invocation& call, Activation activation, int64_t row, int64_t channel,
                    int32_t sum) {
  const float scale = call.data<float>(kScales)[row] * weight_scale(call.in(kWeights), channel);
  const float bias = call.has(kBias) ? call.data<float>(kBias)[channel] : 0;
  return float_range(activation).clamp(static_cast<float>(sum) * scale + bias);
}

// `depth` inputs for each position of the window of an output channel begin at channel first(output channel); their weights
// are found by weight(output channel, position, input of the group).
template <typename Attrs, typename First, typename Weight>
void convolve_rows(const Invocation& call, const Attrs& a, int64_t depth, First&& first,
                   Weight&& weight) {
  const Geometry g(call, a);
  const Shape& out = call.out().shape;
  float* result = call.result<float>();
  for (int64_t place = 0; place < out[0] * out[1] * out[2]; ++place) {
    const int64_t x0 = place % out[2], y0 = place / out[2] % out[1], n = place / out[2] / out[1];
    const int32_t zero = call.data<int32_t>(kZeroPoints)[n];
    for (int64_t channel = 0; channel < out[3]; ++channel) {
      int32_t sum = 0;
      for (int64_t i = 0; i < g.filter_h * g.filter_w; ++i) {
        const int64_t y = g.row(y0, i / g.filter_w), x = g.column(x0, i % g.filter_w);
        if (!g.inside(y, x)) continue;
        const int8_t* from =
            call.data<int8_t>(0) + ((n * g.height + y) * g.width + x) * g.channels + first(channel);
        for (int64_t c = 0; c < depth; ++c)
          sum += (from[c] - zero) * weight_value(call, weight(channel, i, c));
      }
      *result++ = hybrid_result(call, a.activation, n, channel, sum);
    }
  }
}

Result<void> eval_hybrid_conv2d(const Invocation& call) {
  const Shape& weights = call.in(kWeights).shape;
  const int64_t depth = weights[3], positions = weights[1] * weights[2];
  const int64_t per_group = weights[0] / (call.in().shape[3] / depth);
  convolve_rows(
      call, call.node.attrs<Conv2dAttrs>(), depth,
      [&](int64_t channel) { return channel / per_group * depth; },
      [&](int64_t channel, int64_t at, int64_t c) {
        return (channel * positions + at) * depth + c;
      });
  return {};
}

Result<void> eval_hybrid_depthwise(const Invocation& call) {
  const auto& a = call.node.attrs<DepthwiseConv2dAttrs>();
  const int64_t channels = call.in(kWeights).shape[3];
  convolve_rows(
      call, a, 1, [&](int64_t channel) { return channel / a.multiplier; },
      [&](int64_t channel, int64_t at, int64_t) { return at * channels + channel; });
  return {};
}

Result<void> eval_hybrid_fully_connected(const Invocation& call) {
  const int64_t filters = call.in(kWeights).shape[0], depth = call.in(kWeights).shape[1];
  const Activation activation = call.node.attrs<FullyConnectedAttrs>().activation;
  for (int64_t i = 0; i < element_count(call.out().shape); ++i) {
    const int64_t row = i / filters, channel = i % filters;
    int32_t sum = 0;
    for (int64_t k = 0; k < depth; ++k)
      sum += (call.data<int8_t>(0)[row * depth + k] - call.data<int32_t>(kZeroPoints)[row]) *
             weight_value(call, channel * depth + k);
    call.result<float>()[i] = hybrid_result(call, activation, row, channel, sum);
  }
  return {};
}

// ---- C ------------------------------------------------------------------------------------------

Stmt lower_quantize_rows(OpLowering& op) {
  const auto& a = op.view.node.attrs<QuantizeRowsAttrs>();
  const int64_t count = element_count(op.view.in(0).shape) / a.rows;
  if (a.together) {
    const int64_t all = a.rows * count;
    op.declare({Shape{all}}, {Shape{all}, Shape{a.rows}, Shape{a.rows}});
    const std::vector<Expr> start{tir::int_imm(0)};
    return tir::intrinsic("intarsia_quantize_rows_together",
                          {tir::BufferRun{op.in(0), start, all, tir::Access::Read},
                           tir::BufferRun{op.out(), start, all, tir::Access::Write},
                           tir::BufferRun{op.out(1), start, a.rows, tir::Access::Write},
                           tir::BufferRun{op.out(2), start, a.rows, tir::Access::Write},
                           tir::int_imm(a.rows), tir::int_imm(all)});
  }
  op.declare({Shape{a.rows, count}}, {Shape{a.rows, count}, Shape{a.rows}, Shape{a.rows}});
  return op.b.loop("row", a.rows, [&](const Expr& row) {
    const std::vector<Expr> start{row, tir::int_imm(0)};
    return tir::intrinsic(
        a.asymmetric ? "intarsia_quantize_row_asymmetric" : "intarsia_quantize_row",
        {tir::BufferRun{op.in(0), start, count, tir::Access::Read},
         tir::BufferRun{op.out(), start, count, tir::Access::Write},
         tir::BufferRun{op.out(1), {row}, 1, tir::Access::Write},
         tir::BufferRun{op.out(2), {row}, 1, tir::Access::Write}, tir::int_imm(count)});
  });
}

// The sum of one output channel and what it becomes.
class HybridSum {
 public:
  // After the operator's operands are declared.
  HybridSum(OpLowering& op, Activation activation)
      : op_(op), range_(activation_range(activation)), acc_(op.b.register_("acc", Int32)) {
    const std::vector<float>& scales = op.view.in(kWeights).quantization.scale;
    if (scales.size() == 1) return;
    std::vector<uint8_t> bytes(scales.size() * sizeof(float));
    std::memcpy(bytes.data(), scales.data(), bytes.size());
    scales_ = op.raw_table("scales", Float32, {static_cast<int64_t>(scales.size())}, bytes);
  }

  // window(add) is the loops over the window, in which add(input, weight) adds a product. The result is stored at `place`,
  // whose last index is the channel.
  template <typename Window>
  Stmt operator()(const Expr& row, const std::vector<Expr>& place, Window&& window) const {
    FuncBuilder& b = op_.b;
    const Expr& channel = place.back();
    return b.let("zero", b.load(op_.in(kZeroPoints), {row}), [&](const Expr& zero) {
      const Stmt sum = window([&](Expr input, Expr weight) {
        return accumulate(b, acc_, (to_i32(std::move(input)) - zero) * to_i32(std::move(weight)));
      });
      const Expr weight_scale = scales_.valid()
                                    ? b.load(scales_, {channel})
                                    : tir::float_imm(op_.view.in(kWeights).quantization.scale[0]);
      Expr result =
          tir::cast(Float32, b.load(acc_)) * (b.load(op_.in(kScales), {row}) * weight_scale);
      if (op_.view.has(kBias)) result = result + b.load(op_.in(kBias), {channel});
      return tir::seq({b.store(acc_, {}, tir::int_imm(0)), sum,
                       b.store(op_.out(), place, clamp(std::move(result), range_))});
    });
  }

 private:
  OpLowering& op_;
  FloatRange range_;
  BufferId acc_, scales_;
};

std::optional<Shape> bias_extents(const OpView& v, int64_t channels) {
  return v.has(kBias) ? std::optional(Shape{channels}) : std::nullopt;
}

template <typename Attrs>
std::pair<Axis, Axis> window_axes(const OpView& v, const Attrs& a) {
  const Shape &in = v.in(0).shape, &weights = v.in(kWeights).shape, &out = v.out().shape;
  return {
      {in[1], out[1], weights[1], a.stride_h, weights[1] == 1 ? 1 : a.dilation_h, a.padding.top},
      {in[2], out[2], weights[2], a.stride_w, weights[2] == 1 ? 1 : a.dilation_w, a.padding.left}};
}

Stmt lower_hybrid_conv2d(OpLowering& op) {
  const OpView& v = op.view;
  FuncBuilder& b = op.b;
  const auto& a = v.node.attrs<Conv2dAttrs>();
  const Shape &in = v.in(0).shape, &weights = v.in(kWeights).shape, &out = v.out().shape;
  const auto [y, x] = window_axes(v, a);
  const int64_t depth = weights[3], groups = in[3] / depth, filters = out[3];
  // Columns and channels are one run where a window takes neighbouring columns whole.
  const bool is_run = groups == 1 && x.dilation == 1;
  const Shape rows{in[0]}, input_run{in[0], in[1], in[2] * in[3]};
  const Shape weights_run{filters, weights[1], weights[2] * depth};
  op.declare({is_run ? input_run : in, is_run ? weights_run : weights, bias_extents(v, filters),
              rows, rows},
             out);
  const HybridSum sum(op, a.activation);
  return for_each_place(b, in[0], y, x, is_run ? depth : 1, [&](const Place& at) {
    return b.loop("group", groups, [&](const Expr& group) {
      return b.loop("oc", filters / groups, [&](const Expr& in_group) {
        return b.let("channel", group * (filters / groups) + in_group, [&](const Expr& channel) {
          return sum(at.batch, {at.batch, at.oy, at.ox, channel}, [&](auto&& add) {
            return window_loop(b, y, "ky", at.row, [&](const Expr& ky, const Expr& iy) {
              if (is_run)
                return loop_between(b, "i", at.column.first, at.column.last, [&](const Expr& i) {
                  return add(b.load(op.in(0), {at.batch, iy, at.column.origin + i}),
                             b.load(op.in(kWeights), {channel, ky, i}));
                });
              return window_loop(b, x, "kx", at.column, [&](const Expr& kx, const Expr& ix) {
                return b.loop("ic", depth, [&](const Expr& ic) {
                  return add(b.load(op.in(0), {at.batch, iy, ix, group * depth + ic}),
                             b.load(op.in(kWeights), {channel, ky, kx, ic}));
                });
              });
            });
          });
        });
      });
    });
  });
}

Stmt lower_hybrid_depthwise(OpLowering& op) {
  const OpView& v = op.view;
  FuncBuilder& b = op.b;
  const auto& a = v.node.attrs<DepthwiseConv2dAttrs>();
  const Shape &in = v.in(0).shape, &weights = v.in(kWeights).shape, &out = v.out().shape;
  const auto [y, x] = window_axes(v, a);
  op.declare({in, Shape{weights[1], weights[2], weights[3]}, bias_extents(v, out[3]), Shape{in[0]},
              Shape{in[0]}},
             out);
  const HybridSum sum(op, a.activation);
  return for_each_place(b, in[0], y, x, 1, [&](const Place& at) {
    return b.loop("ic", in[3], [&](const Expr& ic) {
      return b.loop("m", a.multiplier, [&](const Expr& m) {
        return b.let("channel", ic * a.multiplier + m, [&](const Expr& channel) {
          return sum(at.batch, {at.batch, at.oy, at.ox, channel}, [&](auto&& add) {
            return window_loop(b, y, "ky", at.row, [&](const Expr& ky, const Expr& iy) {
              return window_loop(b, x, "kx", at.column, [&](const Expr& kx, const Expr& ix) {
                return add(b.load(op.in(0), {at.batch, iy, ix, ic}),
                           b.load(op.in(kWeights), {ky, kx, channel}));
              });
            });
          });
        });
      });
    });
  });
}

Stmt lower_hybrid_fully_connected(OpLowering& op) {
  const OpView& v = op.view;
  FuncBuilder& b = op.b;
  const Shape& weights = v.in(kWeights).shape;
  const int64_t filters = weights[0], depth = weights[1];
  const int64_t rows = element_count(v.in(0).shape) / depth;
  op.declare({Shape{rows, depth}, weights, bias_extents(v, filters), Shape{rows}, Shape{rows}},
             {rows, filters});
  const HybridSum sum(op, v.node.attrs<FullyConnectedAttrs>().activation);
  return b.loop("row", rows, [&](const Expr& row) {
    return b.loop("channel", filters, [&](const Expr& channel) {
      return sum(row, {row, channel}, [&](auto&& add) {
        return b.loop("i", depth, [&](const Expr& i) {
          return add(b.load(op.in(0), {row, i}), b.load(op.in(kWeights), {channel, i}));
        });
      });
    });
  });
}

Refusal refuses_hybrid(const OpView& view) {
  if (view.in(kWeights).type == Int4 && !view.is_constant(kWeights))
    return "i4 weights are no constant";
  return std::nullopt;
}

// ---- table --------------------------------------------------------------------------------------

int64_t hybrid_conv2d_macs(const Function& function, const Node& node) {
  const Shape& weights = function.tensor(node.inputs[kWeights]).shape;
  return element_count(function.tensor(node.outputs[0]).shape) * weights[1] * weights[2] *
         weights[3];
}

int64_t hybrid_depthwise_macs(const Function& function, const Node& node) {
  const Shape& weights = function.tensor(node.inputs[kWeights]).shape;
  return element_count(function.tensor(node.outputs[0]).shape) * weights[1] * weights[2];
}

int64_t hybrid_fully_connected_macs(const Function& function, const Node& node) {
  return element_count(function.tensor(node.outputs[0]).shape) *
         function.tensor(node.inputs[kWeights]).shape[1];
}

constexpr TypeRule kQuantizeRowsTypes[] = {{Float32, Int8}};
constexpr TypeRule kHybridTypes[] = {{Int8, Int8, Float32, Float32, Int32, Float32},
                                     {Int8, Int4, Float32, Float32, Int32, Float32}};

constexpr Operator kHybridOperators[] = {
    {.kind = OpKind::QuantizeRows,
     .types = kQuantizeRowsTypes,
     .infer = infer_quantize_rows,
     .evaluate = eval_quantize_rows,
     .lower = lower_quantize_rows},
    {.kind = OpKind::HybridConv2d,
     .types = kHybridTypes,
     .infer = infer_hybrid_conv2d,
     .evaluate = eval_hybrid_conv2d,
     .lower = lower_hybrid_conv2d,
     .refuses = refuses_hybrid,
     .mac_count = hybrid_conv2d_macs},
    {.kind = OpKind::HybridDepthwiseConv2d,
     .types = kHybridTypes,
     .infer = infer_hybrid_depthwise,
     .evaluate = eval_hybrid_depthwise,
     .lower = lower_hybrid_depthwise,
     .refuses = refuses_hybrid,
     .mac_count = hybrid_depthwise_macs},
    {.kind = OpKind::HybridFullyConnected,
     .types = kHybridTypes,
     .infer = infer_hybrid_fully_connected,
     .evaluate = eval_hybrid_fully_connected,
     .lower = lower_hybrid_fully_connected,
     .refuses = refuses_hybrid,
     .mac_count = hybrid_fully_connected_macs},
};

}  // namespace

std::span<const Operator> hybrid_operators() {
  return kHybridOperators;
}

}  // namespace intarsia::operators
