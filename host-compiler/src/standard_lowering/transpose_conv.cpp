// Transposed convolution, from the output's side: position (y, x) sums the kernel rows that agree
// with (y + pad) modulo the stride, each over one input row; the columns likewise.
#include "intarsia/rounding.h"
#include "standard_lowering/dot_product.h"
#include "standard_lowering/families.h"

namespace intarsia::standard_lowering {

namespace {

// One spatial axis.
struct Axis {
  int64_t input, output, kernel, stride, pad;
  int64_t most_taps() const { return ceil_div(kernel, stride); }
};

// body(position in the kernel, position in the input) for every tap that meets the input.
template <typename Body>
Stmt for_each_tap(FuncBuilder& b, const Axis& axis, const std::string& name, const Expr& at,
                  Body&& body) {
  using tir::BinaryOp;
  const Expr stride = tir::int_imm(axis.stride);
  return b.let(
      name + "_last", tir::binary(BinaryOp::Div, at + axis.pad, stride), [&](const Expr& last) {
        return b.let(name + "_phase", tir::binary(BinaryOp::Mod, at + axis.pad, stride),
                     [&](const Expr& phase) {
                       return b.loop(name + "_tap", axis.most_taps(), [&](const Expr& tap) {
                         return b.let("k" + name, phase + tap * axis.stride, [&](const Expr& k) {
                           return b.let("i" + name, last - tap, [&](const Expr& i) {
                             Stmt inner = body(k, i);
                             inner = tir::if_then(
                                 tir::binary(BinaryOp::Lt, i, tir::int_imm(axis.input)), inner);
                             inner =
                                 tir::if_then(tir::binary(BinaryOp::Ge, i, tir::int_imm(0)), inner);
                             return tir::if_then(
                                 tir::binary(BinaryOp::Lt, k, tir::int_imm(axis.kernel)), inner);
                           });
                         });
                       });
                     });
      });
}

}  // namespace

Refusal refuses_transpose_conv2d(const OpView& view) {
  return refuses_conv2d(view);
}

Stmt lower_transpose_conv2d(OpLowering& op) {
  const OpView& v = op.view;
  FuncBuilder& b = op.b;
  const auto& attrs = v.node.attrs<graph::TransposeConv2dAttrs>();
  const Shape &in = v.in(0).shape, &w = v.in(1).shape, &out = v.out().shape;
  const Axis y{in[1], out[1], w[1], attrs.stride_h, attrs.pad_top};
  const Axis x{in[2], out[2], w[2], attrs.stride_w, attrs.pad_left};
  const int64_t filters = out[3], depth = in[3];
  const int64_t lanes = v.is_constant(1) ? lane_count(filters) : 1;
  const Shape weights_shape{filters / lanes, w[1], w[2], depth, lanes};
  const std::optional<Shape> bias = DotProduct::bias_shape(v, filters);
  BufferId weights;
  if (lanes == 1) {
    op.declare({in, weights_shape, bias}, out);
    weights = op.in(1);
  } else {
    op.declare({in, std::nullopt, bias}, out);
    weights = op.interleaved_weights(1, lanes, weights_shape);
  }
  std::vector<Multiplier> multipliers;
  if (is_integer(v.out().type))
    multipliers =
        conv_multipliers(v.in(0).quantization, v.in(1).quantization, v.out().quantization);
  const DotProduct dot(op, {filters, lanes, /*channel_is_first=*/true, /*clips=*/true,
                            attrs.activation, multipliers});
  return b.loop("n", in[0], [&](const Expr& n) {
    return b.loop("oy", y.output, [&](const Expr& oy) {
      return b.loop("ox", x.output, [&](const Expr& ox) {
        return b.loop("block", filters / lanes, [&](const Expr& block) {
          const Stmt sum = for_each_tap(b, y, "y", oy, [&](const Expr& ky, const Expr& iy) {
            return for_each_tap(b, x, "x", ox, [&](const Expr& kx, const Expr& ix) {
              return b.loop("ic", depth, [&](const Expr& ic) {
                std::vector<Expr> factors;
                for (int64_t lane = 0; lane < lanes; ++lane)
                  factors.push_back(b.load(weights, {block, ky, kx, ic, tir::int_imm(lane)}));
                return dot.accumulate(b.load(op.in(0), {n, iy, ix, ic}), factors);
              });
            });
          });
          const Expr channel = block * lanes;
          return tir::seq({dot.begin(channel), sum, dot.finish({n, oy, ox, channel})});
        });
      });
    });
  });
}

}  // namespace intarsia::standard_lowering
