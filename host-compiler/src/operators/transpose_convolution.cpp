// Transposed convolution: every input element adds its product with the weights to a window of the output.
#include <fmt/format.h>

#include "intarsia/plugin/rounding.h"
#include "operators/evaluation/weighted_sums.h"
#include "operators/families.h"
#include "operators/lowering/dot_product.h"
#include "operators/weighted_checks.h"

namespace intarsia::operators {
namespace {

using namespace graph;
using enum DataType;

Shapes infer_transpose_conv2d(OpCheck& check) {
  const auto& a = check.node.attrs<TransposeConv2dAttrs>();
  check.rank(0, 4, "input"), check.rank(1, 4, "weights");
  check.in_range("stride_h", a.stride_h, 1), check.in_range("stride_w", a.stride_w, 1);
  check.in_range("pad_top", a.pad_top, 0), check.in_range("pad_left", a.pad_left, 0);
  check.in_range("out_h", a.out_h, 1), check.in_range("out_w", a.out_w, 1);
  if (!check.ok()) return {};
  const Shape &input = check.in(0).shape, &weights = check.in(1).shape;
  check.require(weights[3] == input[3],
                fmt::format("the weights have {} channels, the input {}", weights[3], input[3]));
  check_bias(check, weights[0]);
  check_weighted_quantization(check, 0, weights[0], convolution_factor);
  return {{input[0], a.out_h, a.out_w, weights[0]}};
}

// Every input element is spread over a window of the output.
template <typename Types>
void convolve_transposed(const Invocation& call) {
  using Sum = typename Types::Sum;
  const auto& a = call.node.attrs<TransposeConv2dAttrs>();
  const Shape &in = call.in().shape, &w = call.in(1).shape, &out = call.out().shape;
  const int64_t filters = out[3], depth = in[3], patch = w[1] * w[2] * depth;
  const Finish<Types> finish(call, a.activation, filters, convolution_factor);
  const Matrix<Sum> weights = weight_rows<Sum>(call, 0, filters, patch);
  std::vector<Sum> sums(static_cast<size_t>(element_count(out)));
  std::vector<Sum> pixel(static_cast<size_t>(depth));
  for (int64_t place = 0; place < in[0] * in[1] * in[2]; ++place) {
    const int64_t left = place % in[2] * a.stride_w - a.pad_left;
    const int64_t top = place / in[2] % in[1] * a.stride_h - a.pad_top;
    const int64_t batch = place / in[2] / in[1];
    for (int64_t c = 0; c < depth; ++c)
      pixel[static_cast<size_t>(c)] = input_value<Types>(call, place * depth + c);
    for (int64_t i = 0; i < w[1] * w[2]; ++i) {
      const int64_t y = top + i / w[2], x = left + i % w[2];
      if (y < 0 || y >= out[1] || x < 0 || x >= out[2]) continue;
      Sum* sum = &sums[static_cast<size_t>(((batch * out[1] + y) * out[2] + x) * filters)];
      for (int64_t filter = 0; filter < filters; ++filter)
        for (int64_t c = 0; c < depth; ++c)
          sum[filter] += pixel[static_cast<size_t>(c)] * weights(filter, i * depth + c);
    }
  }
  for (size_t i = 0; i < sums.size(); ++i)
    call.result<typename Types::Element>()[i] = finish(sums[i], static_cast<int64_t>(i) % filters);
}

Result<void> eval_transpose_conv2d(const Invocation& call) {
  return by_types(call, [&](auto types) { convolve_transposed<decltype(types)>(call); });
}

// One spatial axis.
struct TapAxis {
  int64_t input, output, kernel, stride, pad;
  int64_t most_taps() const { return ceil_div(kernel, stride); }
};

// body(position in the kernel, position in the input) for every tap that meets the input.
template <typename Body>
Stmt for_each_tap(FuncBuilder& b, const TapAxis& axis, const std::string& name, const Expr& at,
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

Stmt lower_transpose_conv2d(OpLowering& op) {
  const OpView& v = op.view;
  FuncBuilder& b = op.b;
  const auto& attrs = v.node.attrs<TransposeConv2dAttrs>();
  const Shape &in = v.in(0).shape, &w = v.in(1).shape, &out = v.out().shape;
  const TapAxis y{in[1], out[1], w[1], attrs.stride_h, attrs.pad_top};
  const TapAxis x{in[2], out[2], w[2], attrs.stride_w, attrs.pad_left};
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

int64_t transpose_macs(const Function& function, const Node& node) {
  const Shape& weights = function.tensor(node.inputs[1]).shape;
  return element_count(function.tensor(node.inputs[0]).shape) * weights[0] * weights[1] *
         weights[2];
}

constexpr Operator kTransposeConvolutionOperators[] = {
    {.kind = OpKind::TransposeConv2d,
     .types = kWeightedTypes,
     .infer = infer_transpose_conv2d,
     .evaluate = eval_transpose_conv2d,
     .lower = lower_transpose_conv2d,
     .refuses = refuses_weights,
     .mac_count = transpose_macs},
};

}  // namespace

std::span<const Operator> transpose_convolution_operators() {
  return kTransposeConvolutionOperators;
}

}  // namespace intarsia::operators
