#include "legalise/elementwise.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hardware/limits.h"
#include "legalise/wide.h"
#include "program/scaling.h"

namespace intarsia::targets::ethos_u {
namespace {

using graph::Node;
using graph::TensorId;

// How an operand's images and rows repeat. `Whole`: as one box; `ByImage`: one operation per image.
enum class Repeats { Whole, ByImage, Otherwise };

Repeats repeats(const Shape& operand, const Shape& out) {
  if (out.size() < 3) return Repeats::Whole;
  const size_t missing = out.size() - operand.size(), leading = out.size() - 2;
  bool all = true, none = true;
  for (size_t i = 0; i < leading; ++i) {
    const int64_t extent = i < missing ? 1 : operand[i - missing];
    if (extent != out[i]) all = false;
    if (extent != 1) none = false;
  }
  if (all || none) return Repeats::Whole;
  return out.size() == 4 ? Repeats::ByImage : Repeats::Otherwise;
}

struct Pairing {
  bool swapped = false;  // the node's second operand is the one that does not repeat
  bool by_image = false;
  std::optional<size_t> copied = {};  // an operand that takes the output's shape by copies first
};

std::optional<Pairing> pairing_of(const Shape& a, const Shape& b, const Shape& out,
                                  bool a_is_constant) {
  const bool a_whole = element_count(a) == element_count(out);
  const bool b_whole = element_count(b) == element_count(out);
  if (!a_whole && !b_whole) return std::nullopt;
  const Repeats of_a = repeats(a, out), of_b = repeats(b, out);
  if (of_a == Repeats::Otherwise || of_b == Repeats::Otherwise) return std::nullopt;
  return Pairing{.swapped = !a_whole || (b_whole && a_is_constant),
                 .by_image = of_a == Repeats::ByImage || of_b == Repeats::ByImage};
}

std::optional<Pairing> pairing_of(const Site& site) {
  const Shape &a = site.in(0).shape, &b = site.in(1).shape, &out = site.out().shape;
  if (const auto pairing = pairing_of(a, b, out, site.in(0).constant.valid())) return pairing;
  for (const size_t copied : {size_t{0}, size_t{1}}) {
    if (refuses_repeats(site.in(copied).shape, out)) continue;
    auto pairing = pairing_of(copied == 0 ? out : a, copied == 0 ? b : out, out, false);
    if (!pairing) continue;
    pairing->copied = copied;
    return pairing;
  }
  return std::nullopt;
}

int32_t first_element(const Site& site, const graph::Tensor& constant) {
  const uint8_t* bytes = site.module.constant(constant.constant).bytes.data();
  if (constant.type == DataType::Int8) return static_cast<int8_t>(bytes[0]);
  int16_t value = 0;
  std::memcpy(&value, bytes, 2);
  return value;
}

}  // namespace

Reason refuses_pairing(const Site& site) {
  if (site.in(0).constant.valid() && site.in(1).constant.valid())
    return std::string("both operands are constant");
  if (!pairing_of(site))
    return fmt::format("operands of shapes [{}] and [{}] both repeat, the NPU repeats one, and {}",
                       fmt::join(site.in(0).shape, ","), fmt::join(site.in(1).shape, ","),
                       refuses_repeats(site.in(0).shape, site.out().shape)
                           .value_or("the images of the other repeat beside its rows"));
  return std::nullopt;
}

Operands operands_of(Builder& builder, const Node& node) {
  const Site site{builder.module(), builder.function(), node};
  Operands operands = {builder.read(node.inputs.at(0)), builder.read(node.inputs.at(1)),
                       builder.write(node.outputs.at(0))};
  if (const auto copied = pairing_of(site)->copied) {
    Operand& operand = *copied == 0 ? operands.a : operands.b;
    operand = repeated(builder, operand, site.in(*copied).shape, site.out().shape);
  }
  return operands;
}

void emit_binary(Builder& builder, const Node& node, OperationKind kind, const Operands& operands,
                 const std::function<void(Operation&)>& complete) {
  const Site site{builder.module(), builder.function(), node};
  const Pairing pairing = *pairing_of(site);
  const size_t second = pairing.swapped ? 0 : 1;
  const int64_t images = pairing.by_image ? site.out().shape.at(0) : 1;
  const auto of_image = [&](size_t operand, int64_t n) {
    const Operand& all = operand == 0 ? operands.a : operands.b;
    const Shape& shape = pairing.copied == operand ? site.out().shape : site.in(operand).shape;
    const bool has_images = shape.size() == site.out().shape.size() && shape.at(0) == images;
    return has_images ? image(all, n, images) : all;
  };
  for (int64_t n = 0; n < images; ++n) {
    Operation op = builder.start(kind, of_image(1 - second, n), image(operands.out, n, images));
    op.reverse_operands = pairing.swapped;
    const Operand b = of_image(second, n);
    const NpuTensor& tensor = builder.program().tensors.at(static_cast<size_t>(b.tensor));
    op.ifm2_type = tensor.type;
    if (tensor.kind == NpuTensor::Kind::Constant && tensor.type != DataType::Int32 &&
        tensor.extent.elements() == 1) {
      op.ifm2_scalar = first_element(site, site.in(second));
      op.ifm2_zero_point = b.zero_point;
    } else {
      op.ifm2 = b;
    }
    complete(op);
    builder.emit(std::move(op));
  }
}

namespace {

// TFLite's sum: both operands shifted left, the one with the smaller scale multiplied, the other
// halved, their sum multiplied.
struct Sum {
  int left_shift = 20;
  bool first_is_smaller = false;
  FixedFactor smaller, sum;

  explicit Sum(const Site& site) {
    left_shift = site.out().type == DataType::Int16 ? 15 : 20;
    const double a = scale_of(site.in(0)), b = scale_of(site.in(1));
    const double twice_largest = 2 * std::max(a, b);
    first_is_smaller = a < b;
    smaller = fixed_factor(std::min(a, b) / twice_largest);
    sum = fixed_factor(twice_largest / ((1 << left_shift) * scale_of(site.out())));
  }

  int32_t scaled_smaller(int32_t x) const { return multiply(x * (1 << left_shift), smaller); }
};

struct SumScales {
  ChannelScale operand, sum;
};

// What is added, as TFLite has it and as the NPU would.
class SumCheck {
 public:
  SumCheck(const Site& site, OperationKind kind)
      : tfl_(site), range_(range_of(site.out().type)), out_zero_(zero_point_of(site.out())) {
    const size_t smaller = tfl_.first_is_smaller ? 0 : 1;
    zero_ = zero_point_of(site.in(smaller));
    other_zero_ = zero_point_of(site.in(1 - smaller));
    sign_ = kind == OperationKind::Sub && !tfl_.first_is_smaller ? -1 : 1;
    other_sign_ = kind == OperationKind::Sub && tfl_.first_is_smaller ? -1 : 1;
  }

  // Whether the smaller operand is the same: that settles it for all pairs.
  bool same_operand(const ChannelScale& operand) const {
    for (int32_t x = range_.low; x <= range_.high; ++x)
      if (tfl_.scaled_smaller(x - zero_) != smaller(x, operand)) return false;
    return true;
  }

  // Whether all pairs give the same result; those that differ first are tried first.
  bool same_results(const SumScales& scales) {
    const auto differs = [&](int32_t x) {
      const int32_t expected = tfl_.scaled_smaller(x - zero_), got = smaller(x, scales.operand);
      for (int32_t y = range_.low; y <= range_.high; ++y) {
        const int32_t other = other_sign_ * ((y - other_zero_) * (1 << (tfl_.left_shift - 1)));
        const int32_t want = multiply(sign_ * expected + other, tfl_.sum);
        const auto is =
            static_cast<int32_t>(scaled(sign_ * got + other, scales.sum, Rounding::Tfl));
        if (clamped(want) != clamped(is)) return true;
      }
      return false;
    };
    if (differs(suspect_)) return false;
    for (int32_t x = range_.low; x <= range_.high; ++x)
      if (differs(x)) {
        suspect_ = x;
        return false;
      }
    return true;
  }

 private:
  int32_t smaller(int32_t x, const ChannelScale& operand) const {
    return static_cast<int32_t>(scaled(x - zero_, operand, Rounding::Tfl));
  }
  int32_t clamped(int32_t v) const { return std::clamp(v + out_zero_, range_.low, range_.high); }

  Sum tfl_;
  Clamp range_;
  int32_t out_zero_ = 0, zero_ = 0, other_zero_ = 0, sign_ = 1, other_sign_ = 1, suspect_ = 0;
};

// The registers that add as TFLite does for every pair of operands, or nothing. The NPU rounds the
// smaller operand once where TFLite rounds it twice, so it is tried out: on the operand, and where that
// differs, on the pairs. A pair that falls on the other side of a half is won back by multipliers a little
// beside TFLite's, if those lose no other.
std::optional<SumScales> sum_scales(const Site& site, OperationKind kind) {
  const Sum tfl(site);
  FixedFactor shifted = tfl.smaller;
  shifted.exponent += tfl.left_shift;
  const auto operand = channel_scale(shifted), sum = channel_scale(tfl.sum);
  if (!operand || !sum) return std::nullopt;
  SumCheck check(site, kind);
  if (check.same_operand(*operand)) return SumScales{*operand, *sum};
  if (site.out().type != DataType::Int8) return std::nullopt;
  for (const int32_t beside_operand : {0, -8, 8, -16, 16, -32, 32})
    for (const int32_t beside_sum : {0, -4, 4, -8, 8, -16, 16, -32, 32, -64, 64}) {
      SumScales scales{*operand, *sum};
      scales.operand.multiplier += static_cast<uint32_t>(beside_operand);
      scales.sum.multiplier += static_cast<uint32_t>(beside_sum);
      if (check.same_results(scales)) return scales;
    }
  return std::nullopt;
}

// Scaled by registers where they are exact, else in TFLite's own steps on 32 bits.
void emit_sum(Builder& builder, const Node& node, OperationKind kind,
              graph::Activation activation) {
  const Site site{builder.module(), builder.function(), node};
  const Clamp clamp = clamp_of(activation, site.out());
  const Sum tfl(site);
  Operands operands = operands_of(builder, node);
  if (const std::optional<SumScales> scales = sum_scales(site, kind)) {
    emit_binary(builder, node, kind, operands, [&](Operation& op) {
      op.operand_scaling = tfl.first_is_smaller ? OperandScaling::First : OperandScaling::Second;
      if (kind == OperationKind::Add && op.reverse_operands) {  // it commutes
        op.reverse_operands = false;
        op.operand_scaling = tfl.first_is_smaller ? OperandScaling::Second : OperandScaling::First;
      }
      op.ifm_scale = scales->operand;
      op.global_scale = scales->sum;
      op.clamp_low = clamp.low;
      op.clamp_high = clamp.high;
    });
    return;
  }
  const Operand out = operands.out;
  for (size_t i = 0; i < 2; ++i) {
    Operand& operand = i == 0 ? operands.a : operands.b;
    const bool is_smaller = (i == 0) == tfl.first_is_smaller;
    operand = widened(builder, operand, tfl.left_shift - (is_smaller ? 0 : 1));
    if (is_smaller) operand = wide_product(builder, operand, tfl.smaller);
  }
  operands.out = builder.inner("sum", DataType::Int32, out.extent);
  emit_binary(builder, node, kind, operands, [&](Operation& op) {
    op.global_scale = op.ifm_scale = op.ifm2_scale = ChannelScale{.multiplier = 1};
  });
  Operation last =
      wide_operation(builder, OperationKind::Mul, operands.out,
                     wide_constant(builder, tfl.sum.value), out, 31 - tfl.sum.exponent);
  last.clamp_low = clamp.low;
  last.clamp_high = clamp.high;
  builder.emit(std::move(last));
}

double mul_factor(const Site& site) {
  return scale_of(site.in(0)) * scale_of(site.in(1)) / scale_of(site.out());
}

}  // namespace

Reason refuses_add(const Site& site) {
  if (Reason reason = refuses_pairing(site)) return reason;
  const Sum tfl(site);
  if (tfl.sum.exponent > 0)
    return std::string("the output's scale is too small for the operands' scales");
  return std::nullopt;
}

Reason refuses_mul(const Site& site) {
  if (Reason reason = refuses_pairing(site)) return reason;
  const double factor = mul_factor(site);
  if (!channel_scale(factor))
    return std::string("the output's scale is too small for the operands' scales");
  // TFLite shifts the product, of 16 or 30 bits, left by the factor's exponent, in 32 bits.
  if (fixed_factor(factor).exponent > (site.in(0).type == DataType::Int8 ? 15 : 0))
    return fmt::format("the products are scaled by {}, and TFLite's leave 32 bits", factor);
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

// Of the stored values, whatever they stand for: so TFLM does.
Reason refuses_extremum(const Site& site) {
  return refuses_pairing(site);
}

static void emit_extremum(Builder& builder, const Node& node, OperationKind kind) {
  Operands operands = operands_of(builder, node);
  operands.a.zero_point = operands.b.zero_point = operands.out.zero_point = 0;
  emit_binary(builder, node, kind, operands, [](Operation& op) { op.reverse_operands = false; });
}

void legalise_minimum(Builder& builder, const Node& node) {
  emit_extremum(builder, node, OperationKind::Minimum);
}

void legalise_maximum(Builder& builder, const Node& node) {
  emit_extremum(builder, node, OperationKind::Maximum);
}

void legalise_mul(Builder& builder, const Node& node) {
  const Site site{builder.module(), builder.function(), node};
  const Clamp clamp = clamp_of(node.attrs<graph::BinaryAttrs>().activation, site.out());
  emit_binary(builder, node, OperationKind::Mul, operands_of(builder, node), [&](Operation& op) {
    op.reverse_operands = false;
    op.global_scale = *channel_scale(mul_factor(site));
    op.clamp_low = clamp.low;
    op.clamp_high = clamp.high;
  });
}

}  // namespace intarsia::targets::ethos_u
