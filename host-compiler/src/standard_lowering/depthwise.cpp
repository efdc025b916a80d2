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
  const bool clips = y.clips() || x.clips();

  op.declare({Shape{batches, y.input, x.input, channels_in},
              Shape{y.kernel, x.kernel, channels_out}, DotProduct::bias_shape(v, channels_out)},
             {batches, y.output, x.output, channels_out});
  std::vector<Multiplier> multipliers;
  if (is_integer(v.out().type)) {
    multipliers =
        conv_multipliers(v.in(0).quantization, v.in(1).quantization, v.out().quantization);
  }
  const DotProduct dot(op, channels_out, /*channel_is_first=*/false, clips, attrs.activation,
                       multipliers);

  const auto one_output = [&](const Expr& n, const Expr& oy, const Expr& ox, const Window& row,
                              const Window& column, const Expr& ic, const Expr& oc) {
    const Stmt window = window_loop(b, y, "ky", row, [&](const Expr& ky, const Expr& iy) {
      return window_loop(b, x, "kx", column, [&](const Expr& kx, const Expr& ix) {
        return dot.accumulate(b.load(op.in(0), {n, iy, ix, ic}), b.load(op.in(1), {ky, kx, oc}));
      });
    });
    return tir::seq({dot.begin(oc), window, b.store(op.out(), {n, oy, ox, oc}, dot.result(oc))});
  };
  return b.loop("n", batches, [&](const Expr& n) {
    return b.loop("oy", y.output, [&](const Expr& oy) {
      return with_window(b, y, "y", oy, 1, [&](const Window& row) {
        return b.loop("ox", x.output, [&](const Expr& ox) {
          return with_window(b, x, "x", ox, 1, [&](const Window& column) {
            return b.loop("ic", channels_in, [&](const Expr& ic) {
              return b.loop("m", multiplier, [&](const Expr& m) {
                return b.let("oc", ic * multiplier + m, [&](const Expr& oc) {
                  return one_output(n, oy, ox, row, column, ic, oc);
                });
              });
            });
          });
        });
      });
    });
  });
}

}  // namespace intarsia::standard_lowering
