// Depthwise convolution: every input channel has `multiplier` filters of its own.
#include <fmt/format.h>

#include <algorithm>

#include "operators/evaluation/weighted_sums.h"
#include "operators/families.h"
#include "operators/lowering/dot_product.h"
#include "operators/lowering/window.h"
#include "operators/weighted_checks.h"

namespace intarsia::operators {
namespace {

using namespace graph;
using enum DataType;

Shapes infer_depthwise_conv2d(OpCheck& check) {
  const auto& a = check.node.attrs<DepthwiseConv2dAttrs>();
  check.rank(0, 4, "input"), check.rank(1, 4, "weights");
  check.in_range("multiplier", a.multiplier, 1);
  if (!check_convolution_attributes(check, a)) return {};
  const int64_t channels = check.in(1).shape[3];
  check.require(check.in(1).shape[0] == 1, "the first extent of the weights has to be 1");
  check.require(channels == check.in(0).shape[3] * a.multiplier,
                fmt::format("the weights have {} channels, needs {} (the input's) times {} (the "
                            "multiplier)",
                            channels, check.in(0).shape[3], a.multiplier));
  check_bias(check, channels);
  check_weighted_quantization(check, 3, channels, convolution_factor);
  return convolution_shape(check, a, channels);
}

template <typename Types>
void convolve_depthwise(const Invocation& call) {
  using Sum = typename Types::Sum;
  const auto& a = call.node.attrs<DepthwiseConv2dAttrs>();
  const Geometry g(call, a);
  const int64_t batches = call.in().shape[0], filters = call.out().shape[3];
  const Matrix<Sum> weights = weight_rows<Sum>(call, 0, g.filter_h * g.filter_w, filters);
  const Finish<Types> finish(call, a.activation, filters, convolution_factor);
  auto* out = call.result<typename Types::Element>();

  std::vector<Sum> sums(static_cast<size_t>(filters));
  for (int64_t place = 0; place < batches * g.out_height * g.out_width; ++place) {
    const int64_t out_x = place % g.out_width, row = place / g.out_width;
    const int64_t out_y = row % g.out_height, batch = row / g.out_height;
    std::fill(sums.begin(), sums.end(), Sum{});
    for (int64_t i = 0; i < g.filter_h * g.filter_w; ++i) {
      const int64_t y = g.row(out_y, i / g.filter_w), x = g.column(out_x, i % g.filter_w);
      if (!g.inside(y, x)) continue;
      const int64_t from = ((batch * g.height + y) * g.width + x) * g.channels;
      for (int64_t c = 0; c < filters; ++c)
        sums[static_cast<size_t>(c)] +=
            input_value<Types>(call, from + c / a.multiplier) * weights(i, c);
    }
    for (int64_t c = 0; c < filters; ++c)
      out[place * filters + c] = finish(sums[static_cast<size_t>(c)], c);
  }
}

Result<void> eval_depthwise_conv2d(const Invocation& call) {
  return by_types(call, [&](auto types) { convolve_depthwise<decltype(types)>(call); });
}

Stmt lower_depthwise_conv2d(OpLowering& op) {
  const OpView& v = op.view;
  FuncBuilder& b = op.b;
  const auto& attrs = v.node.attrs<DepthwiseConv2dAttrs>();
  const Shape &in = v.in(0).shape, &weights = v.in(1).shape, &out = v.out().shape;
  int64_t batches = in[0];
  const int64_t channels_in = in[3], channels_out = out[3];
  const int64_t multiplier = channels_out / channels_in;
  Axis y{in[1], out[1], weights[1], attrs.stride_h, attrs.dilation_h, attrs.padding.top};
  Axis x{in[2], out[2], weights[2], attrs.stride_w, attrs.dilation_w, attrs.padding.left};
  if (y.is_pointwise() && x.is_pointwise()) {
    x = {batches * in[1] * in[2], batches * in[1] * in[2], 1};
    y = {1, 1, 1};
    batches = 1;
  }
  if (x.is_trivial()) std::swap(x, y);  // a single column: its rows are the inner axis
  // Lanes are channels side by side: of different inputs, or filters of the same one.
  const int64_t lanes = lane_count(multiplier == 1 ? channels_in : multiplier);

  op.declare({Shape{batches, y.input, x.input, channels_in},
              Shape{y.kernel, x.kernel, channels_out}, DotProduct::bias_shape(v, channels_out)},
             {batches, y.output, x.output, channels_out});
  std::vector<Multiplier> multipliers;
  if (is_integer(v.out().type)) {
    multipliers =
        conv_multipliers(v.in(0).quantization, v.in(1).quantization, v.out().quantization);
  }
  const DotProduct dot(op, {channels_out, lanes, /*channel_is_first=*/false, y.clips() || x.clips(),
                            attrs.activation, multipliers});

  const auto lanes_of = [&](BufferId buffer, std::vector<Expr> place) {
    std::vector<Expr> loads;
    const Expr first = place.back();
    for (int64_t lane = 0; lane < lanes; ++lane) {
      place.back() = first + lane;
      loads.push_back(b.load(buffer, place));
    }
    return loads;
  };
  const auto outputs = [&](const Place& at, const Expr& ic, const Expr& oc) {
    const Stmt window = window_loop(b, y, "ky", at.row, [&](const Expr& ky, const Expr& iy) {
      return window_loop(b, x, "kx", at.column, [&](const Expr& kx, const Expr& ix) {
        const std::vector<Expr> factors = lanes_of(op.in(1), {ky, kx, oc});
        const std::vector<Expr> place{at.batch, iy, ix, ic};
        if (multiplier != 1) return dot.accumulate(b.load(op.in(0), place), factors);
        return dot.accumulate(lanes_of(op.in(0), place), factors);
      });
    });
    return tir::seq({dot.begin(oc), window, dot.finish({at.batch, at.oy, at.ox, oc})});
  };
  return for_each_place(b, batches, y, x, 1, [&](const Place& at) {
    if (multiplier == 1) {
      return b.loop(lanes == 1 ? "c" : "block", channels_in / lanes, [&](const Expr& block) {
        return b.let("c", block * lanes, [&](const Expr& c) { return outputs(at, c, c); });
      });
    }
    return b.loop("ic", channels_in, [&](const Expr& ic) {
      return b.loop(lanes == 1 ? "m" : "block", multiplier / lanes, [&](const Expr& block) {
        return b.let("oc", ic * multiplier + block * lanes,
                     [&](const Expr& oc) { return outputs(at, ic, oc); });
      });
    });
  });
}

int64_t depthwise_macs(const Function& function, const Node& node) {
  const Shape& weights = function.tensor(node.inputs[1]).shape;
  return element_count(function.tensor(node.outputs[0]).shape) * weights[1] * weights[2];
}

// Without 32-bit biases of int16.
constexpr TypeRule kDepthwiseTypes[] = {{Int8, Int8, Int32, Int8},
                                        {Int8, Int4, Int32, Int8},
                                        {Int8, Int16, Int32, Int8},
                                        {Int16, Int8, Int64, Int16},
                                        {Float32, Float32, Float32, Float32}};

row_tiling::RowWindow depthwise_rows(const OpView& v) {
  const auto& a = v.node.attrs<DepthwiseConv2dAttrs>();
  return {v.in(1).shape[1], a.stride_h, a.dilation_h, a.padding.top};
}

ChannelRule depthwise_channels(const Function& function, const Node& node) {
  if (!has_constant_weights(function, node)) return {};
  ChannelRule rule{ChannelFlow::Tied, {}, {}};
  const int64_t multiplier = node.attrs<DepthwiseConv2dAttrs>().multiplier;
  for (int64_t k = 0; k < channel_count(function.tensor(node.outputs[0])); ++k)
    rule.ties.push_back({0, k / multiplier, k});
  return rule;
}

constexpr Operator kDepthwiseConvolutionOperators[] = {
    {.kind = OpKind::DepthwiseConv2d,
     .types = kDepthwiseTypes,
     .infer = infer_depthwise_conv2d,
     .evaluate = eval_depthwise_conv2d,
     .lower = lower_depthwise_conv2d,
     .refuses = refuses_weights,
     .mac_count = depthwise_macs,
     .rows = depthwise_rows,
     .channels = depthwise_channels},
};

}  // namespace

std::span<const Operator> depthwise_convolution_operators() {
  return kDepthwiseConvolutionOperators;
}

}  // namespace intarsia::operators
