#include "operators/lowering/dot_product.h"

#include <algorithm>
#include <limits>

namespace intarsia::operators {

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

int64_t lane_count(int64_t channels) {
  for (const int64_t lanes : {4, 3, 2}) {
    if (channels % lanes == 0) return lanes;
  }
  return 1;
}

std::optional<Shape> DotProduct::bias_shape(const OpView& view, int64_t channels) {
  const bool as_table = is_integer(view.out().type) && view.is_constant(2);
  if (!view.has(2) || as_table) return std::nullopt;
  return Shape{channels};
}

DotProduct::DotProduct(OpLowering& op, const Options& o) : op_(op) {
  const OpView& v = op.view;
  const bool integer = is_integer(v.out().type);
  if (v.in(0).type == DataType::Int16) {
    // With a bias of 32 bits the sum is taken modulo 2^32: of many terms in 64 bits, cut at the end.
    wide_result_ = !v.has(2) || v.in(2).type == DataType::Int64;
    constexpr int64_t kMostTerms = 500;  // of 2^22, within an int32 with its bias
    wide_sum_ = wide_result_ || element_count(v.in(1).shape) / o.channels > kMostTerms;
  }
  const DataType sum = wide_sum_ ? DataType::Int64 : DataType::Int32;
  for (int64_t lane = 0; lane < o.lanes; ++lane) {
    const std::string name = o.lanes == 1 ? "acc" : "acc" + std::to_string(lane);
    acc_.push_back(op.b.register_(name, integer ? sum : DataType::Float32));
  }
  if (!integer) {
    float_range_ = activation_range(o.activation);
    return;
  }
  const DataType bias_type = wide_result_ ? DataType::Int64 : DataType::Int32;
  if (const auto folded = folded_bias(v, o.channels, o.clips, o.channel_is_first)) {
    start_ = op.table("bias", bias_type, *folded, tir::ConstantUse::Weights);
  } else {
    input_zero_point_ = v.in(0).quantization.zero_point[0];
    if (!v.has(2)) start_ = Table(int64_t{0});
    if (v.is_constant(2)) {
      start_ = op.table("bias", bias_type, v.values(2), tir::ConstantUse::Weights);
    }
  }
  const graph::Quantization& out = v.out().quantization;
  const Range range = activation_range(o.activation, v.out().type, out.scale[0], out.zero_point[0]);
  requantizer_ =
      op.requantizer(o.multipliers, out.zero_point[0], range, v.out().type, wide_result_);
}

Stmt DotProduct::begin(const Expr& channel) const {
  FuncBuilder& b = op_.b;
  std::vector<Stmt> stores;
  for (size_t lane = 0; lane < acc_.size(); ++lane) {
    const Expr at = channel + static_cast<int64_t>(lane);
    Expr start = tir::float_imm(0.0f);
    const DataType sum = wide_sum_ ? DataType::Int64 : DataType::Int32;
    if (requantizer_)
      start = start_ ? start_->at(b, at, sum) : tir::cast(sum, b.load(op_.in(2), {at}));
    stores.push_back(b.store(acc_[lane], {}, start));
  }
  return tir::seq(std::move(stores));
}

Expr DotProduct::centred(const Expr& input) const {
  return requantizer_ ? to_i32(input) - input_zero_point_ : input;
}

Expr DotProduct::product(const Expr& input, const Expr& weight) const {
  if (!requantizer_) return input * weight;
  const Expr result = input * to_i32(weight);
  return wide_sum_ ? tir::cast(DataType::Int64, result) : result;
}

Stmt DotProduct::accumulate(const Expr& input, const std::vector<Expr>& weights) const {
  if (acc_.size() == 1) return accumulate(std::vector{input}, weights);
  return op_.b.let("x", centred(input), [&](const Expr& x) {
    std::vector<Stmt> sums;
    for (size_t lane = 0; lane < acc_.size(); ++lane) {
      sums.push_back(operators::accumulate(op_.b, acc_[lane], product(x, weights[lane])));
    }
    return tir::seq(std::move(sums));
  });
}

Stmt DotProduct::accumulate(const std::vector<Expr>& inputs,
                            const std::vector<Expr>& weights) const {
  std::vector<Stmt> sums;
  for (size_t lane = 0; lane < acc_.size(); ++lane) {
    sums.push_back(
        operators::accumulate(op_.b, acc_[lane], product(centred(inputs[lane]), weights[lane])));
  }
  return tir::seq(std::move(sums));
}

Expr DotProduct::result(size_t lane, const Expr& channel) const {
  FuncBuilder& b = op_.b;
  Expr sum = b.load(acc_[lane]);
  if (wide_sum_ && !wide_result_) sum = tir::cast(DataType::Int32, sum);
  if (requantizer_) return (*requantizer_)(b, sum, channel);
  // TFLite adds the bias last; so do we, for the same rounding.
  if (op_.view.has(2)) sum = sum + b.load(op_.in(2), {channel});
  return clamp(std::move(sum), float_range_);
}

Stmt DotProduct::finish(std::vector<Expr> place) const {
  const Expr channel = place.back();
  std::vector<Stmt> stores;
  for (size_t lane = 0; lane < acc_.size(); ++lane) {
    place.back() = channel + static_cast<int64_t>(lane);
    stores.push_back(op_.b.store(op_.out(), place, result(lane, place.back())));
  }
  return tir::seq(std::move(stores));
}

}  // namespace intarsia::operators
