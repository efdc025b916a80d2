// Relu with a slope for each channel: both sides of the zero point in the output's steps, then one of them. A few rows at a
// time, since there are two maps beside the operands. With one slope for all it is a function of one integer: of int8 a table.
#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "legalise/elementwise.h"
#include "legalise/wide.h"
#include "program/scaling.h"

namespace intarsia::targets::ethos_u {
namespace {

using graph::Node;

struct Factors {
  FixedFactor positive, negative;

  explicit Factors(const Site& site)
      : positive(fixed_factor(scale_of(site.in(0)) / scale_of(site.out()))),
        negative(fixed_factor(scale_of(site.in(0)) * scale_of(site.in(1)) / scale_of(site.out()))) {
  }
};

// How both sides of the zero point, each rounded and clamped to the output as TFLite does, become one: as the larger or the
// less where that is right for every input and every slope, else as a sum to which each gives nothing on the other's side.
enum class Joins : uint8_t { Sum, Larger, Less };

// Of int16: what the largest slope allows as the larger side, and the least one as the less, all others do.
Joins joins_of_int16(const Site& site, const Factors& factors) {
  const graph::Tensor& slopes = site.in(1);
  int32_t most = -256, least = 256;
  for (const uint8_t byte : site.module.constant(slopes.constant).bytes) {
    const int32_t slope = static_cast<int8_t>(byte) - zero_point_of(slopes);
    most = std::max(most, slope);
    least = std::min(least, slope);
  }
  bool larger = true, less = true;
  for (int32_t x = -32768; x <= 32767; ++x) {
    const int32_t positive = multiply(x, factors.positive), sign = x >= 0 ? 1 : -1;
    larger = larger && sign * positive >= sign * multiply(x * most, factors.negative);
    less = less && sign * positive <= sign * multiply(x * least, factors.negative);
  }
  return larger ? Joins::Larger : less ? Joins::Less : Joins::Sum;
}

Joins joins_of(const Site& site, const Factors& factors) {
  const graph::Tensor& slopes = site.in(1);
  if (!slopes.constant.valid()) return Joins::Sum;
  if (site.in(0).type == DataType::Int16) return joins_of_int16(site, factors);
  std::array<bool, 256> occurs = {};
  for (const uint8_t slope : site.module.constant(slopes.constant).bytes) occurs[slope] = true;
  const auto result = [&](int32_t value) {
    return std::clamp(value + zero_point_of(site.out()), -128, 127);
  };
  bool larger = true, less = true;
  for (size_t byte = 0; byte < occurs.size(); ++byte) {
    if (!occurs[byte]) continue;
    const int32_t slope = static_cast<int8_t>(static_cast<uint8_t>(byte)) - zero_point_of(slopes);
    for (int32_t x = -128; x <= 127; ++x) {
      const int32_t from_zero = x - zero_point_of(site.in(0));
      const int32_t positive = result(multiply(from_zero, factors.positive));
      const int32_t negative = result(multiply(from_zero * slope, factors.negative));
      const int32_t wanted = from_zero >= 0 ? positive : negative;
      larger = larger && std::max(positive, negative) == wanted;
      less = less && std::min(positive, negative) == wanted;
    }
  }
  return larger ? Joins::Larger : less ? Joins::Less : Joins::Sum;
}

// Of int8, where all slopes are one: what each value becomes, as TFLite rounds and clamps it.
std::optional<std::vector<uint8_t>> table_of_one_slope(const Site& site) {
  const graph::Tensor& slopes = site.in(1);
  if (site.in(0).type != DataType::Int8 || !slopes.constant.valid()) return std::nullopt;
  const std::vector<uint8_t>& bytes = site.module.constant(slopes.constant).bytes;
  if (std::adjacent_find(bytes.begin(), bytes.end(), std::not_equal_to<>()) != bytes.end())
    return std::nullopt;
  const Factors factors(site);
  const int32_t slope = static_cast<int8_t>(bytes.at(0)) - zero_point_of(slopes);
  std::vector<uint8_t> table;
  for (int32_t x = -128; x <= 127; ++x) {
    const int32_t from_zero = x - zero_point_of(site.in(0));
    const int32_t value = from_zero >= 0 ? multiply(from_zero, factors.positive)
                                         : multiply(from_zero * slope, factors.negative);
    table.push_back(static_cast<uint8_t>(std::clamp(value + zero_point_of(site.out()), -128, 127)));
  }
  return table;
}

class PreluEmitter {
 public:
  PreluEmitter(Builder& builder, const Site& site)
      : builder_(builder),
        factors_(site),
        joins_(joins_of(site, factors_)),
        type_(site.out().type),
        stays_(type_ == DataType::Int16 && scale_of(site.in(0)) == scale_of(site.out())) {}

  void emit(const Operand& x, const Operand& slopes, const Operand& out) {
    const bool is_wide = type_ == DataType::Int16;
    Operation positive = to_output(is_wide ? OperationKind::Mul : OperationKind::AveragePool, x,
                                   out, factors_.positive);
    if (is_wide) {
      positive.ifm2_scalar = 1;
      positive.ifm2_type = type_;
    }
    if (joins_ == Joins::Sum) positive.clamp_low = std::max(positive.clamp_low, out.zero_point);
    Operation negative = to_output(OperationKind::Mul, joins_ == Joins::Sum ? below_zero(x) : x,
                                   out, factors_.negative);
    negative.ifm2 = slopes;
    negative.ifm2_type = type_;
    Operation last = builder_.start(joins_ == Joins::Sum      ? OperationKind::Add
                                    : joins_ == Joins::Larger ? OperationKind::Maximum
                                                              : OperationKind::Minimum,
                                    needs_positive() ? positive.ofm : x, out);
    last.ifm2 = negative.ofm;
    last.ifm2_type = type_;
    if (joins_ == Joins::Sum) {
      last.ifm_scale = last.ifm2_scale = ChannelScale{.multiplier = 1};
      last.global_scale = ChannelScale{.multiplier = 1};
    } else {
      last.ifm.zero_point = last.ifm2->zero_point = last.ofm.zero_point = 0;
    }
    if (needs_positive()) builder_.emit(std::move(positive));
    builder_.emit(std::move(negative));
    builder_.emit(std::move(last));
  }

 private:
  // Not where that side is the input as it is, and no part of a sum.
  bool needs_positive() const { return !stays_ || joins_ == Joins::Sum; }

  Operation to_output(OperationKind kind, const Operand& x, const Operand& out,
                      const FixedFactor& factor) {
    Operation op =
        builder_.start(kind, x, builder_.inner("side", type_, out.extent, out.zero_point));
    op.global_scale = *channel_scale(factor);
    return op;
  }

  // What lies below the zero point, and the zero point for the rest.
  Operand below_zero(const Operand& x) {
    const Operand out = builder_.inner("below", type_, x.extent, x.zero_point);
    Operation op = builder_.start(OperationKind::Minimum, x, out);
    op.ifm.zero_point = op.ofm.zero_point = 0;
    op.ifm2_scalar = x.zero_point;
    op.ifm2_type = type_;
    builder_.emit(std::move(op));
    return out;
  }

  Builder& builder_;
  Factors factors_;
  Joins joins_;
  DataType type_;
  bool stays_;  // what is not negative
};

// Slopes of int8 for every element of the input's last axes: those of int16 are read as int16.
Reason refuses_slopes(const Site& site) {
  const graph::Tensor& slopes = site.in(1);
  if (!slopes.constant.valid()) return std::string("the slopes of an input of i16 are no constant");
  const Shape& in = site.in(0).shape;
  const auto first =
      std::find_if(slopes.shape.begin(), slopes.shape.end(), [](int64_t n) { return n != 1; });
  const auto axes = slopes.shape.end() - first;
  if (axes > std::ssize(in) || !std::equal(first, slopes.shape.end(), in.end() - axes))
    return fmt::format("slopes of shape [{}] repeat between the axes of an input of i16",
                       fmt::join(slopes.shape, ","));
  return std::nullopt;
}

Operand widened_slopes(Builder& builder, const Site& site, const Operand& slopes) {
  std::vector<uint8_t> bytes;
  for (const uint8_t byte : site.module.constant(site.in(1).constant).bytes)
    bytes.insert(bytes.end(), {byte, static_cast<uint8_t>(byte < 128 ? 0 : 255)});
  return builder.constant("slopes", DataType::Int16, slopes.extent, std::move(bytes),
                          slopes.zero_point);
}

}  // namespace

Reason refuses_prelu(const Site& site) {
  if (element_count(site.in(0).shape) != element_count(site.out().shape))
    return std::string("the input repeats, the NPU repeats the slopes");
  if (Reason reason = refuses_pairing(site)) return reason;
  const bool is_wide = site.in(0).type == DataType::Int16;
  if (is_wide)
    if (Reason reason = refuses_slopes(site)) return reason;
  const Factors factors(site);
  // TFLite shifts differences of 9 bits and products of 17 left by the factor's exponent, in 32 bits; of int16 of 16 and 24.
  if (factors.positive.exponent > (is_wide ? 15 : 22) ||
      factors.negative.exponent > (is_wide ? 7 : 14) || !channel_scale(factors.positive) ||
      !channel_scale(factors.negative))
    return std::string("the output's scale is too small for the input's");
  return std::nullopt;
}

void legalise_prelu(Builder& builder, const Node& node) {
  const Site site{builder.module(), builder.function(), node};
  if (std::optional<std::vector<uint8_t>> table = table_of_one_slope(site)) {
    builder.look_up(builder.read(node.inputs.at(0)), builder.write(node.outputs.at(0)), node.name,
                    std::move(*table));
    return;
  }
  Operands all = operands_of(builder, node);
  if (site.in(0).type == DataType::Int16) all.b = widened_slopes(builder, site, all.b);
  if (all.b.extent != all.out.extent) all.b = near_constant(builder, all.b);
  PreluEmitter emitter(builder, site);
  in_symmetric_bands(builder, node, all, [&](const Operands& band, bool swapped) {
    emitter.emit(swapped ? band.b : band.a, swapped ? band.a : band.b, band.out);
  });
}

}  // namespace intarsia::targets::ethos_u
