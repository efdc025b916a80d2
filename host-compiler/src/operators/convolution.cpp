// Convolution, fully connected: dot products over contiguous runs.
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

Shapes infer_conv2d(OpCheck& check) {
  const auto& a = check.node.attrs<Conv2dAttrs>();
  check.rank(0, 4, "input"), check.rank(1, 4, "weights");
  if (!check_convolution_attributes(check, a)) return {};
  const int64_t channels = check.in(0).shape[3], depth = check.in(1).shape[3];
  const int64_t filters = check.in(1).shape[0];
  if (check.require(channels % depth == 0,
                    fmt::format("the input's {} channels are no multiple of the weights' {}",
                                channels, depth)))
    check.require(filters % (channels / depth) == 0,
                  fmt::format("{} output channels cannot be divided among {} groups", filters,
                              channels / depth));
  check_bias(check, filters);
  check_weighted_quantization(check, 0, filters, convolution_factor);
  return convolution_shape(check, a, filters);
}

Shapes infer_fully_connected(OpCheck& check) {
  const auto& a = check.node.attrs<FullyConnectedAttrs>();
  check.rank(1, 2, "weights");
  check.require(!check.in(0).shape.empty(), "the input is a scalar");
  if (!check.ok()) return {};
  const Shape& input = check.in(0).shape;
  const int64_t filters = check.in(1).shape[0], depth = check.in(1).shape[1];
  check_bias(check, filters);
  check_weighted_quantization(check, 0, filters, convolution_factor);
  if (a.keep_dims) {
    check.require(input.back() == depth,
                  fmt::format("the input's last extent is {}, needs {}", input.back(), depth));
    Shape output = input;
    output.back() = filters;
    return {output};
  }
  // TFLite flattens the input into as many rows of the weights' length as there are.
  const int64_t elements = element_count(input);
  check.require(elements % depth == 0,
                fmt::format("the input's {} elements are no multiple of {}", elements, depth));
  return {{elements / depth, filters}};
}

template <typename Types>
void convolve(const Invocation& call) {
  using Sum = typename Types::Sum;
  const auto& a = call.node.attrs<Conv2dAttrs>();
  const Geometry g(call, a);
  const int64_t batches = call.in().shape[0], filters = call.out().shape[3];
  const int64_t depth = call.in(1).shape[3], groups = g.channels / depth;
  const int64_t group_filters = filters / groups, patch = g.filter_h * g.filter_w * depth;
  const Finish<Types> finish(call, a.activation, filters, convolution_factor);
  auto* out = call.result<typename Types::Element>();

  Matrix<Sum> patches(g.out_width, patch), sums(g.out_width, group_filters);
  for (int64_t group = 0; group < groups; ++group) {
    const Matrix<Sum> weights = weight_rows<Sum>(call, group * group_filters, group_filters, patch);
    for (int64_t row = 0; row < batches * g.out_height; ++row) {
      const int64_t batch = row / g.out_height, out_y = row % g.out_height;
      patches.setZero();
      for (int64_t out_x = 0; out_x < g.out_width; ++out_x)
        for (int64_t i = 0; i < g.filter_h * g.filter_w; ++i) {
          const int64_t y = g.row(out_y, i / g.filter_w), x = g.column(out_x, i % g.filter_w);
          if (!g.inside(y, x)) continue;
          const int64_t from = ((batch * g.height + y) * g.width + x) * g.channels + group * depth;
          for (int64_t c = 0; c < depth; ++c)
            patches(out_x, i * depth + c) = input_value<Types>(call, from + c);
        }
      sums.noalias() = patches * weights.transpose();
      for (int64_t out_x = 0; out_x < g.out_width; ++out_x)
        for (int64_t c = 0; c < group_filters; ++c) {
          const int64_t channel = group * group_filters + c;
          out[(row * g.out_width + out_x) * filters + channel] = finish(sums(out_x, c), channel);
        }
    }
  }
}

template <typename Types>
void connect(const Invocation& call) {
  using Sum = typename Types::Sum;
  const int64_t filters = call.in(1).shape[0], depth = call.in(1).shape[1];
  const int64_t rows = element_count(call.in().shape) / depth;
  const Finish<Types> finish(call, call.node.attrs<FullyConnectedAttrs>().activation, filters,
                             convolution_factor);
  Matrix<Sum> input(rows, depth);
  for (int64_t i = 0; i < rows * depth; ++i) input.data()[i] = input_value<Types>(call, i);
  const Matrix<Sum> sums = input * weight_rows<Sum>(call, 0, filters, depth).transpose();
  for (int64_t i = 0; i < rows * filters; ++i)
    call.result<typename Types::Element>()[i] = finish(sums.data()[i], i % filters);
}

Result<void> eval_conv2d(const Invocation& call) {
  return by_types(call, [&](auto types) { convolve<decltype(types)>(call); });
}

Result<void> eval_fully_connected(const Invocation& call) {
  return by_types(call, [&](auto types) { connect<decltype(types)>(call); });
}

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
  Convolution(OpLowering& op, const ConvShape& shape, Activation activation,
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

Stmt lower_conv2d(OpLowering& op) {
  const OpView& v = op.view;
  const auto& attrs = v.node.attrs<Conv2dAttrs>();
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
    multipliers =
        conv_multipliers(v.in(0).quantization, v.in(1).quantization, v.out().quantization);
  }
  const ConvShape shape{1, {1, 1, 1}, {rows, rows, 1}, weights[1], weights[0], 1};
  const Activation activation = v.node.attrs<FullyConnectedAttrs>().activation;
  return Convolution(op, shape, activation, multipliers).body();
}

int64_t conv2d_macs(const Function& function, const Node& node) {
  const Shape& weights = function.tensor(node.inputs[1]).shape;
  return element_count(function.tensor(node.outputs[0]).shape) * weights[1] * weights[2] *
         weights[3];
}

int64_t fully_connected_macs(const Function& function, const Node& node) {
  return element_count(function.tensor(node.outputs[0]).shape) *
         function.tensor(node.inputs[1]).shape[1];
}

row_tiling::RowWindow conv2d_rows(const OpView& v) {
  const auto& a = v.node.attrs<Conv2dAttrs>();
  return {v.in(1).shape[1], a.stride_h, a.dilation_h, a.padding.top};
}

ChannelRule conv2d_channels(const Function& function, const Node& node) {
  if (!has_constant_weights(function, node)) return {};
  const bool sums_all = channel_count(function.tensor(node.inputs[1])) ==
                        channel_count(function.tensor(node.inputs[0]));
  return sums_all ? ChannelRule{ChannelFlow::Weighted, {}, {}} : ChannelRule{};
}

ChannelRule fully_connected_channels(const Function& function, const Node& node) {
  if (!has_constant_weights(function, node)) return {};
  const bool sums_all = channel_count(function.tensor(node.inputs[1])) %
                            channel_count(function.tensor(node.inputs[0])) ==
                        0;
  return sums_all ? ChannelRule{ChannelFlow::Weighted, {}, {}} : ChannelRule{};
}

constexpr Operator kConvolutionOperators[] = {
    {.kind = OpKind::Conv2d,
     .types = kWeightedTypes,
     .infer = infer_conv2d,
     .evaluate = eval_conv2d,
     .lower = lower_conv2d,
     .refuses = refuses_weights,
     .mac_count = conv2d_macs,
     .rows = conv2d_rows,
     .channels = conv2d_channels},
    {.kind = OpKind::FullyConnected,
     .types = kWeightedTypes,
     .infer = infer_fully_connected,
     .evaluate = eval_fully_connected,
     .lower = lower_fully_connected,
     .refuses = refuses_weights,
     .mac_count = fully_connected_macs,
     .channels = fully_connected_channels},
};

}  // namespace

std::span<const Operator> convolution_operators() {
  return kConvolutionOperators;
}

}  // namespace intarsia::operators
