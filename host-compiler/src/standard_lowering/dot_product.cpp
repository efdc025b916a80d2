#include "standard_lowering/dot_product.h"

#include <algorithm>
#include <limits>

namespace intarsia::standard_lowering {

namespace {

// The bias per channel with the zero point's share folded in; none when that is not possible.
std::optional<std::vector<int64_t>> folded_bias(const OpView& view, int64_t channels, bool clips,
                                                bool channel_is_first) {
  if (!is_integer(view.out().type)) return std::nullopt;
  if (view.has(2) && !view.is_constant(2)) return std::nullopt;
  std::vector<int64_t> bias(static_cast<size_t>(channels), 0);
  if (view.has(2)) bias = view.values(2);
  const int64_t zero_point = view.in(0).quantization.zero_point[0];
  if (zero_point == 0) return bias;
  if (clips || !view.is_constant(1)) return std::nullopt;
  const std::vector<int64_t> weights = view.values(1);
  const size_t per_channel = weights.size() / bias.size();
  for (size_t i = 0; i < weights.size(); ++i) {
    bias[channel_is_first ? i / per_channel : i % bias.size()] -= zero_point * weights[i];
  }
  const auto fits = [](int64_t v) {
    return v >= std::numeric_limits<int32_t>::min() && v <= std::numeric_limits<int32_t>::max();
  };
  return std::all_of(bias.begin(), bias.end(), fits) ? std::optional(bias) : std::nullopt;
}

}  // namespace

std::optional<Shape> DotProduct::bias_shape(const OpView& view, int64_t channels) {
  const bool as_table = is_integer(view.out().type) && view.is_constant(2);
  if (!view.has(2) || as_table) return std::nullopt;
  return Shape{channels};
}

DotProduct::DotProduct(OpLowering& op, int64_t channels, bool channel_is_first, bool clips,
                       graph::Activation activation, const std::vector<Multiplier>& multipliers)
    : op_(op) {
  const OpView& v = op.view;
  if (!is_integer(v.out().type)) {
    acc_ = op.b.register_("acc", DataType::Float32);
    float_range_ = activation_range(activation);
    return;
  }
  if (const auto folded = folded_bias(v, channels, clips, channel_is_first)) {
    start_ = op.table("bias", DataType::Int32, *folded, tir::ConstantUse::Weights);
  } else {
    input_zero_point_ = v.in(0).quantization.zero_point[0];
    if (!v.has(2)) start_ = Table(int64_t{0});
    if (v.is_constant(2)) {
      start_ = op.table("bias", DataType::Int32, v.values(2), tir::ConstantUse::Weights);
    }
  }
  const graph::Quantization& out = v.out().quantization;
  const Range range = activation_range(activation, v.out().type, out.scale[0], out.zero_point[0]);
  requantizer_ = op.requantizer(multipliers, out.zero_point[0], range, v.out().type);
  acc_ = op.b.register_("acc", DataType::Int32);
}

Stmt DotProduct::begin(const Expr& channel) const {
  FuncBuilder& b = op_.b;
  if (!requantizer_) return b.store(acc_, {}, tir::float_imm(0.0f));
  if (start_) return b.store(acc_, {}, start_->at(b, channel));
  return b.store(acc_, {}, b.load(op_.in(2), {channel}));
}

Stmt DotProduct::accumulate(const Expr& input, const Expr& weight) const {
  if (!requantizer_) return standard_lowering::accumulate(op_.b, acc_, input * weight);
  return standard_lowering::accumulate(op_.b, acc_,
                                       (to_i32(input) - input_zero_point_) * to_i32(weight));
}

Expr DotProduct::result(const Expr& channel) const {
  FuncBuilder& b = op_.b;
  if (requantizer_) return (*requantizer_)(b, b.load(acc_), channel);
  Expr sum = b.load(acc_);
  // TFLite adds the bias last; so do we, for the same rounding.
  if (op_.view.has(2)) sum = sum + b.load(op_.in(2), {channel});
  return clamp(std::move(sum), float_range_);
}

}  // namespace intarsia::standard_lowering
