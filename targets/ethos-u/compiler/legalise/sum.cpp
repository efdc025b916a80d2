// Sums and differences, which are TFLite's to the last bit: one operation where registers are exact (sum_scales.h), else on
// 32 bits, a few rows at a time, since values of 32 bits take four times the memory of the operands; or one operation that
// may be a step away, where that was asked for.
#include <algorithm>

#include <fmt/format.h>

#include "legalise/elementwise.h"
#include "legalise/sum_scales.h"
#include "legalise/wide.h"

namespace intarsia::targets::ethos_u {
namespace {

using graph::Node;

void emit_scaled_sum(Builder& builder, const Node& node, OperationKind kind,
                     const Operands& operands, const SumScales& scales, bool first_is_smaller,
                     const Clamp& clamp) {
  emit_binary(builder, node, kind, operands, [&](Operation& op) {
    op.operand_scaling = first_is_smaller ? OperandScaling::First : OperandScaling::Second;
    if (kind == OperationKind::Add && op.reverse_operands) {  // it commutes
      op.reverse_operands = false;
      op.operand_scaling = first_is_smaller ? OperandScaling::Second : OperandScaling::First;
    }
    op.ifm_scale = scales.operand;
    op.global_scale = scales.sum;
    op.clamp_low = clamp.low;
    op.clamp_high = clamp.high;
  });
}

void emit_linear_sum(Builder& builder, const Node& node, OperationKind kind,
                     const Operands& operands, const LinearSum& sum, const Clamp& clamp) {
  emit_binary(builder, node, kind, operands, [&](Operation& op) {
    const bool swaps = kind == OperationKind::Add && op.reverse_operands;  // it commutes
    if (swaps) op.reverse_operands = false;
    op.operand_scaling = OperandScaling::Both;
    op.ifm_scale = swaps ? sum.second : sum.first;
    op.ifm2_scale = swaps ? sum.first : sum.second;
    op.global_scale = sum.sum;
    op.rounding = sum.rounding;
    op.clamp_low = clamp.low;
    op.clamp_high = clamp.high;
  });
}

// The values times `scalar`, which is in their own type, on 32 bits.
Operand scaled_up(Builder& builder, const Operand& x, int32_t scalar, const ChannelScale& scale) {
  const Operand out = builder.inner("wide", DataType::Int32, x.extent);
  Operation op = builder.start(OperationKind::Mul, x, out);
  op.ifm2_scalar = scalar;
  op.ifm2_type = builder.type_of(x);
  op.global_scale = scale;
  builder.emit(std::move(op));
  return out;
}

class WideSum {
 public:
  WideSum(Builder& builder, const Node& node, OperationKind kind, const Site& site,
          const Clamp& clamp)
      : builder_(builder),
        node_(node),
        kind_(kind),
        tfl_(site),
        clamp_(clamp),
        tabled_(tabled_sum(site, kind)),
        smaller_scale_(smaller_scale(site)) {
    if (tabled_) table_ = wide_table(builder, fmt::format("{}_smaller", node.name), tabled_->table);
  }

  void emit(const Operands& all) {
    const Extent& extent = all.out.extent;
    const auto is_whole = [&](const Operand& x) { return x.extent == extent && !x.walk; };
    const bool a_is_whole = is_whole(all.a), b_is_whole = is_whole(all.b);
    const Operand& other = a_is_whole ? all.b : all.a;
    int32_t Extent::*axis = extent.height > 1 ? &Extent::height : &Extent::width;
    bands_ = a_is_whole && b_is_whole;
    if ((a_is_whole || b_is_whole) && !other.walk && extent.*axis > 1)
      bands_ = other.extent.*axis == 1 || other.extent.*axis == extent.*axis;
    if (!bands_) return emit_band(all);
    // What all bands read is widened once.
    if (!a_is_whole && all.a.extent.*axis == 1) ready_a_ = widened_operand(all.a, true);
    if (!b_is_whole && all.b.extent.*axis == 1) ready_b_ = widened_operand(all.b, false);
    const int64_t widened = a_is_whole && b_is_whole ? 2 : 1;
    in_bands(
        builder_, all, [&](const Operands& band) { emit_band(band); }, widened);
    if (a_is_whole) builder_.may_replace(all.out, {all.a});
    if (b_is_whole) builder_.may_replace(all.out, {all.b});
  }

 private:
  // On 32 bits, as it is added.
  Operand widened_operand(const Operand& x, bool is_first) {
    const bool is_smaller = is_first == tfl_.first_is_smaller;
    if (!tabled_) return is_smaller ? scaled_smaller(x) : scaled_larger(x);
    if (is_smaller) return wide_looked_up(builder_, x, table_);
    return scaled_up(builder_, x, 1, {.multiplier = static_cast<uint32_t>(tabled_->factor)});
  }

  void emit_band(Operands operands) {
    // The smaller one comes first.
    const auto widen_a = [&] {
      operands.a = ready_a_ ? *ready_a_ : widened_operand(operands.a, true);
    };
    if (tfl_.first_is_smaller) widen_a();
    operands.b = ready_b_ ? *ready_b_ : widened_operand(operands.b, false);
    if (!tfl_.first_is_smaller) widen_a();
    if (tabled_) {
      const bool subtracts = kind_ == OperationKind::Sub && tfl_.first_is_smaller;
      return emit_pair(subtracts ? OperationKind::Sub : OperationKind::Add, operands,
                       [&](Operation& op) {
                         op.global_scale = ChannelScale{.multiplier = 1, .shift = tabled_->shift};
                         op.clamp_low = clamp_.low;
                         op.clamp_high = clamp_.high;
                       });
    }
    if (!sum_factor_) sum_factor_ = wide_constant(builder_, tfl_.sum.value);
    const Operand out = operands.out;
    operands.out = builder_.inner("sum", DataType::Int32, out.extent);
    if (ready_a_) builder_.may_replace(operands.out, {operands.b});
    if (ready_b_) builder_.may_replace(operands.out, {operands.a});
    emit_pair(kind_, operands,
              [&](Operation& op) { op.global_scale = ChannelScale{.multiplier = 1}; });
    Operation last = wide_operation(builder_, OperationKind::Mul, operands.out, *sum_factor_, out,
                                    31 - tfl_.sum.exponent);
    last.clamp_low = clamp_.low;
    last.clamp_high = clamp_.high;
    builder_.emit(std::move(last));
  }

  // The value of a constant of one element, from its zero point; it is scaled here and not by the NPU.
  std::optional<int32_t> single(const Operand& operand) const {
    const NpuTensor& tensor = builder_.program().tensors.at(static_cast<size_t>(operand.tensor));
    if (tensor.kind != NpuTensor::Kind::Constant || tensor.extent.elements() != 1)
      return std::nullopt;
    const int32_t value = tensor.type == DataType::Int8
                              ? static_cast<int8_t>(tensor.bytes[0])
                              : static_cast<int16_t>(tensor.bytes[0] | tensor.bytes[1] << 8);
    return value - operand.zero_point;
  }

  Operand scaled_smaller(const Operand& x) {
    if (const std::optional<int32_t> value = single(x))
      return wide_constant(builder_, tfl_.scaled_smaller(*value));
    if (smaller_scale_) return scaled_up(builder_, x, kSmallerScalar, *smaller_scale_);
    return wide_product(builder_, widened(builder_, x, tfl_.left_shift), tfl_.smaller);
  }
  Operand scaled_larger(const Operand& x) {
    if (const std::optional<int32_t> value = single(x))
      return wide_constant(builder_, *value * (1 << (tfl_.left_shift - 1)));
    return widened(builder_, x, tfl_.left_shift - 1);
  }

  void emit_pair(OperationKind kind, const Operands& operands,
                 const std::function<void(Operation&)>& complete) {
    const auto whole = [&](Operation& op) {
      op.ifm_scale = op.ifm2_scale = ChannelScale{.multiplier = 1};
      complete(op);
    };
    if (!bands_) return emit_binary(builder_, node_, kind, operands, whole);
    // The second operand is the one that may repeat.
    const bool swaps = operands.a.extent != operands.out.extent;
    const Operand &first = swaps ? operands.b : operands.a,
                  &second = swaps ? operands.a : operands.b;
    Operation op = builder_.start(kind, first, operands.out);
    op.ifm2 = second;
    op.ifm2_type = builder_.type_of(second);
    op.reverse_operands = swaps;
    whole(op);
    builder_.emit(std::move(op));
  }

  Builder& builder_;
  const Node& node_;
  OperationKind kind_;
  TflSum tfl_;
  Clamp clamp_;
  std::optional<TabledSum> tabled_;
  std::optional<ChannelScale> smaller_scale_;
  std::optional<Operand> sum_factor_, ready_a_, ready_b_;
  int32_t table_ = -1;
  bool bands_ = false;
};

// As exact sums in one operation are made, or nothing.
struct OneOperation {
  std::optional<LinearSum> linear;
  std::optional<SumScales> scaled;
  explicit operator bool() const { return linear || scaled; }
};

OneOperation exact_in_one(const Site& site, OperationKind kind, bool confirmed_only) {
  OneOperation one{linear_sum(site, kind), std::nullopt};
  if (one.linear && confirmed_only && one.linear->first.multiplier != one.linear->second.multiplier)
    one.linear.reset();
  if (!one.linear) one.scaled = sum_scales(site, kind);
  return one;
}

void emit_sum(Builder& builder, const Node& node, OperationKind kind,
              graph::Activation activation) {
  const Site site{builder.module(), builder.function(), node};
  const Clamp clamp = clamp_of(activation, site.out());
  const Operands operands = operands_of(builder, node);
  OneOperation one = exact_in_one(site, kind, builder.confirmed_only());
  if (!one && builder.rounds_sums()) one.linear = rounded_sum(site);
  if (one.linear) return emit_linear_sum(builder, node, kind, operands, *one.linear, clamp);
  if (one.scaled)
    return emit_scaled_sum(builder, node, kind, operands, *one.scaled,
                           TflSum(site).first_is_smaller, clamp);
  WideSum(builder, node, kind, site, clamp).emit(operands);
}

}  // namespace

bool is_rounded_sum(const Site& site) {
  const bool adds = site.node.kind == graph::OpKind::Add;
  if (!adds && site.node.kind != graph::OpKind::Sub) return false;
  const OperationKind kind = adds ? OperationKind::Add : OperationKind::Sub;
  return !exact_in_one(site, kind, false) && rounded_sum(site);
}

Reason refuses_add(const Site& site) {
  if (Reason reason = refuses_pairing(site)) return reason;
  const TflSum tfl(site);
  if (tfl.sum.exponent > 0)
    return std::string("the output's scale is too small for the operands' scales");
  return std::nullopt;
}

void legalise_add(Builder& builder, const Node& node) {
  emit_sum(builder, node, OperationKind::Add, node.attrs<graph::BinaryAttrs>().activation);
}

// The sum's scales serve the difference.
Reason refuses_sub(const Site& site) {
  return refuses_add(site);
}

void legalise_sub(Builder& builder, const Node& node) {
  emit_sum(builder, node, OperationKind::Sub, node.attrs<graph::BinaryAttrs>().activation);
}

}  // namespace intarsia::targets::ethos_u
