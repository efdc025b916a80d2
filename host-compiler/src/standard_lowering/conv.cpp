// Convolution, fully connected: dot products over contiguous runs.
//
// A convolution without dilation or groups reads, for one kernel row, a contiguous run of the input
// row and of the weights: columns and channels are one loop. A pointwise convolution is a fully
// connected layer over its pixels; a convolution over a single column is turned on its side, so
// that its rows become that run.
#include "intarsia/check.h"
#include "standard_lowering/dot_product.h"
#include "standard_lowering/families.h"
#include "standard_lowering/window.h"

namespace intarsia::standard_lowering {

namespace {

struct ConvShape {
  int64_t batches;
  Axis y, x;
  int64_t channels_in, channels_out, groups;

  int64_t channels_per_group() const { return channels_in / groups; }
  bool is_contiguous() const { return groups == 1 && x.dilation == 1; }
  bool clips() const { return y.clips() || x.clips(); }
};

ConvShape simplified(ConvShape s) {
  if (s.groups == 1 && s.y.is_pointwise() && s.x.is_pointwise()) {
    const int64_t pixels = s.batches * s.y.input * s.x.input;
    s.batches = 1;
    s.y = {1, 1, 1};
    s.x = {pixels, pixels, 1};
    return s;
  }
  if (s.groups == 1 && s.x.is_global()) {
    s.channels_in *= s.x.input;
    s.x = {1, 1, 1};
  }
  if (s.x.is_trivial()) std::swap(s.x, s.y);
  return s;
}

// The sum over one kernel row.
Stmt dot_row(OpLowering& op, const DotProduct& dot, const ConvShape& s, const Expr& batch,
             const Expr& iy, const Expr& ky, const Window& column, const Expr& group,
             const Expr& out_channel) {
  FuncBuilder& b = op.b;
  if (s.is_contiguous()) {
    return loop_between(b, "i", column.first, column.last, [&](const Expr& i) {
      return dot.accumulate(b.load(op.in(0), {batch, iy, column.origin + i}),
                            b.load(op.in(1), {out_channel, ky, i}));
    });
  }
  return window_loop(b, s.x, "kx", column, [&](const Expr& kx, const Expr& ix) {
    return b.loop("ic", s.channels_per_group(), [&](const Expr& ic) {
      return dot.accumulate(b.load(op.in(0), {batch, iy, ix, group * s.channels_per_group() + ic}),
                            b.load(op.in(1), {out_channel, ky, kx, ic}));
    });
  });
}

Stmt lower_conv(OpLowering& op, ConvShape s, graph::Activation activation,
                const std::vector<Multiplier>& multipliers) {
  s = simplified(s);
  const int64_t cpg = s.channels_per_group();
  if (s.is_contiguous()) {
    op.declare({Shape{s.batches, s.y.input, s.x.input * s.channels_in},
                Shape{s.channels_out, s.y.kernel, s.x.kernel * s.channels_in},
                DotProduct::bias_shape(op.view, s.channels_out)},
               {s.batches, s.y.output, s.x.output, s.channels_out});
  } else {
    op.declare({Shape{s.batches, s.y.input, s.x.input, s.channels_in},
                Shape{s.channels_out, s.y.kernel, s.x.kernel, cpg},
                DotProduct::bias_shape(op.view, s.channels_out)},
               {s.batches, s.y.output, s.x.output, s.channels_out});
  }
  FuncBuilder& b = op.b;
  const DotProduct dot(op, s.channels_out, /*channel_is_first=*/true, s.clips(), activation,
                       multipliers);
  const int64_t unit = s.is_contiguous() ? s.channels_in : 1;
  const int64_t per_group = s.channels_out / s.groups;
  return b.loop("n", s.batches, [&](const Expr& n) {
    return b.loop("oy", s.y.output, [&](const Expr& oy) {
      return with_window(b, s.y, "y", oy, 1, [&](const Window& row) {
        return b.loop("ox", s.x.output, [&](const Expr& ox) {
          return with_window(b, s.x, "x", ox, unit, [&](const Window& column) {
            return b.loop("group", s.groups, [&](const Expr& group) {
              return b.loop("oc", per_group, [&](const Expr& in_group) {
                return b.let("out_channel", group * per_group + in_group, [&](const Expr& oc) {
                  return tir::seq({dot.begin(oc),
                                   window_loop(b, s.y, "ky", row,
                                               [&](const Expr& ky, const Expr& iy) {
                                                 return dot_row(op, dot, s, n, iy, ky, column,
                                                                group, oc);
                                               }),
                                   b.store(op.out(), {n, oy, ox, oc}, dot.result(oc))});
                });
              });
            });
          });
        });
      });
    });
  });
}

Refusal refuses_dot_product(const OpView& view) {
  using enum DataType;
  if (Refusal types = refuses_types(
          view, {{{Int8, Int8, Int32}, Int8}, {{Float32, Float32, Float32}, Float32}})) {
    return types;
  }
  return refuses_quantization(view, /*per_channel_weights=*/true);
}

}  // namespace

Refusal refuses_conv2d(const OpView& view) {
  return refuses_dot_product(view);
}
Refusal refuses_fully_connected(const OpView& view) {
  return refuses_dot_product(view);
}

Stmt lower_conv2d(OpLowering& op) {
  const OpView& v = op.view;
  const auto& attrs = v.node.attrs<graph::Conv2dAttrs>();
  const Shape &in = v.in(0).shape, &weights = v.in(1).shape, &out = v.out().shape;
  ConvShape s{in[0],
              {in[1], out[1], weights[1], attrs.stride_h, attrs.dilation_h, attrs.padding.top},
              {in[2], out[2], weights[2], attrs.stride_w, attrs.dilation_w, attrs.padding.left},
              in[3],
              out[3],
              in[3] / weights[3]};
  if (s.y.kernel == 1) s.y.dilation = 1;
  if (s.x.kernel == 1) s.x.dilation = 1;
  std::vector<Multiplier> multipliers;
  if (is_integer(v.out().type)) {
    multipliers =
        conv_multipliers(v.in(0).quantization, v.in(1).quantization, v.out().quantization);
  }
  return lower_conv(op, s, attrs.activation, multipliers);
}

Stmt lower_fully_connected(OpLowering& op) {
  const OpView& v = op.view;
  const Shape& weights = v.in(1).shape;
  const int64_t rows = element_count(v.in(0).shape) / weights[1];
  std::vector<Multiplier> multipliers;
  if (is_integer(v.out().type)) {
    multipliers = fully_connected_multipliers(v.in(0).quantization, v.in(1).quantization,
                                              v.out().quantization);
  }
  return lower_conv(op, {1, {1, 1, 1}, {rows, rows, 1}, weights[1], weights[0], 1},
                    v.node.attrs<graph::FullyConnectedAttrs>().activation, multipliers);
}

}  // namespace intarsia::standard_lowering
