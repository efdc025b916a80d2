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

// One convolution under construction. Weights are [channels / lanes, ky, run, lanes] when columns
// and channels are one run, else [channels / lanes, ky, kx, ic, lanes]: what one step multiplies
// lies side by side.
class Convolution {
 public:
  Convolution(OpLowering& op, const ConvShape& shape, graph::Activation activation,
              const std::vector<Multiplier>& multipliers)
      : op_(op),
        b_(op.b),
        s_(simplified(shape)),
        lanes_(op.view.is_constant(1) ? lane_count(s_.channels_out / s_.groups) : 1) {
    declare();
    dot_.emplace(op, DotProduct::Options{s_.channels_out, lanes_, /*channel_is_first=*/true,
                                         s_.clips(), activation, multipliers});
  }

  Stmt body() const {
    const int64_t unit = s_.is_contiguous() ? s_.channels_in : 1;
    const int64_t blocks = s_.channels_out / s_.groups / lanes_;
    return for_each_place(b_, s_.batches, s_.y, s_.x, unit, [&](const Place& at) {
      return b_.loop("group", s_.groups, [&](const Expr& group) {
        return b_.loop(lanes_ == 1 ? "oc" : "block", blocks, [&](const Expr& in_group) {
          return b_.let("block", group * blocks + in_group, [&](const Expr& block) {
            const Expr channel = block * lanes_;
            return tir::seq({dot_->begin(channel), sum(at, group, block),
                             dot_->finish({at.batch, at.oy, at.ox, channel})});
          });
        });
      });
    });
  }

 private:
  void declare() {
    const Shape output{s_.batches, s_.y.output, s_.x.output, s_.channels_out};
    const int64_t blocks = s_.channels_out / lanes_;
    Shape input{s_.batches, s_.y.input, s_.x.input, s_.channels_in};
    Shape weights{blocks, s_.y.kernel, s_.x.kernel, s_.channels_per_group(), lanes_};
    if (s_.is_contiguous()) {
      input = {s_.batches, s_.y.input, s_.x.input * s_.channels_in};
      weights = {blocks, s_.y.kernel, s_.x.kernel * s_.channels_in, lanes_};
    }
    const std::optional<Shape> bias = DotProduct::bias_shape(op_.view, s_.channels_out);
    if (lanes_ == 1) {
      op_.declare({input, weights, bias}, output);
      weights_ = op_.in(1);
    } else {
      op_.declare({input, std::nullopt, bias}, output);
      weights_ = op_.interleaved_weights(1, lanes_, weights);
    }
  }

  // The sum over the window of one position.
  Stmt sum(const Place& at, const Expr& group, const Expr& block) const {
    return window_loop(b_, s_.y, "ky", at.row, [&](const Expr& ky, const Expr& iy) {
      if (s_.is_contiguous()) {
        const Window& run = at.column;
        return loop_between(b_, "i", run.first, run.last, [&](const Expr& i) {
          return dot_->accumulate(b_.load(op_.in(0), {at.batch, iy, run.origin + i}),
                                  weights({block, ky, i}));
        });
      }
      return window_loop(b_, s_.x, "kx", at.column, [&](const Expr& kx, const Expr& ix) {
        return b_.loop("ic", s_.channels_per_group(), [&](const Expr& ic) {
          const Expr channel = group * s_.channels_per_group() + ic;
          return dot_->accumulate(b_.load(op_.in(0), {at.batch, iy, ix, channel}),
                                  weights({block, ky, kx, ic}));
        });
      });
    });
  }

  std::vector<Expr> weights(std::vector<Expr> place) const {
    std::vector<Expr> loads;
    place.push_back(nullptr);
    for (int64_t lane = 0; lane < lanes_; ++lane) {
      place.back() = tir::int_imm(lane);
      loads.push_back(b_.load(weights_, place));
    }
    return loads;
  }

  OpLowering& op_;
  FuncBuilder& b_;
  ConvShape s_;
  int64_t lanes_;
  BufferId weights_;
  std::optional<DotProduct> dot_;
};

Refusal refuses_dot_product(const OpView& view) {
  using enum DataType;
  if (Refusal types = refuses_types(view, {{{Int8, Int8, Int32}, Int8},
                                           {{Int8, Int4, Int32}, Int8},
                                           {{Int16, Int8, Int64}, Int16},
                                           {{Int16, Int8, Int32}, Int16},
                                           {{Float32, Float32, Float32}, Float32}})) {
    return types;
  }
  if (view.in(1).type == Int4 && !view.is_constant(1)) return "i4 weights are no constant";
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
  return Convolution(op, s, attrs.activation, multipliers).body();
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
  const ConvShape shape{1, {1, 1, 1}, {rows, rows, 1}, weights[1], weights[0], 1};
  const graph::Activation activation = v.node.attrs<graph::FullyConnectedAttrs>().activation;
  return Convolution(op, shape, activation, multipliers).body();
}

}  // namespace intarsia::standard_lowering
