// Relu with a slope for each channel: both halves in TFLite's own steps on 32 bits. Where one of them counts,
// the other is 0.
#include <fmt/format.h>

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

// The values on one side of the zero point, and the zero point for the others.
Operand half(Builder& builder, const Operand& x, OperationKind kind) {
  const Operand out = builder.inner("half", DataType::Int8, x.extent, x.zero_point);
  Operation op = builder.start(kind, x, out);
  op.ifm.zero_point = op.ofm.zero_point = 0;
  op.ifm2_scalar = x.zero_point;
  op.ifm2_type = DataType::Int8;
  builder.emit(std::move(op));
  return out;
}

}  // namespace

Reason refuses_prelu(const Site& site) {
  if (element_count(site.in(0).shape) != element_count(site.out().shape))
    return std::string("the input repeats, the NPU repeats the slopes");
  if (Reason reason = refuses_pairing(site)) return reason;
  const Factors factors(site);
  // TFLite shifts differences of 9 bits and products of 17 left by the factor's exponent, in 32 bits.
  if (factors.positive.exponent > 22 || factors.negative.exponent > 14)
    return std::string("the output's scale is too small for the input's");
  return std::nullopt;
}

void legalise_prelu(Builder& builder, const Node& node) {
  const Site site{builder.module(), builder.function(), node};
  const Factors factors(site);
  Operands operands = operands_of(builder, node);
  const Operand x = operands.a, out = operands.out;
  const Operand positive = wide_product(
      builder, widened(builder, half(builder, x, OperationKind::Maximum), 0), factors.positive);
  operands.a = half(builder, x, OperationKind::Minimum);
  operands.out = builder.inner("product", DataType::Int32, out.extent);
  emit_binary(builder, node, OperationKind::Mul, operands, [](Operation& op) {
    op.reverse_operands = false;
    op.global_scale = ChannelScale{.multiplier = 1};
  });
  builder.emit(wide_operation(builder, OperationKind::Add, positive,
                              wide_product(builder, operands.out, factors.negative), out));
}

}  // namespace intarsia::targets::ethos_u
