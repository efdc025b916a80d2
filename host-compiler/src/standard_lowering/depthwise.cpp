// Depthwise convolution: every input channel has `multiplier` filters of its own.
#include "standard_lowering/dot_product.h"
#include "standard_lowering/families.h"
#include "standard_lowering/window.h"

namespace intarsia::standard_lowering {

Refusal refuses_depthwise_conv2d(const OpView& view) {
  return refuses_conv2d(view);
}

Stmt lower_depthwise_conv2d(OpLowering& op) {
  const OpView& v = op.view;
  FuncBuilder& b = op.b;
  const auto& attrs = v.node.attrs<graph::DepthwiseConv2dAttrs>();
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

}  // namespace intarsia::standard_lowering
