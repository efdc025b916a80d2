// Leaky relu: a table of int8; of int16 the command of that name, which leaves what is not negative as it is, or where that
// has another scale the larger of two products, or the sum of both halves.
#include <utility>

#include "legalise/operators.h"
#include "program/scaling.h"

namespace intarsia::targets::ethos_u {
namespace {

using graph::Node;

struct LeakyFactors {
  FixedFactor positive, negative;

  explicit LeakyFactors(const Site& site) {
    const double in = scale_of(site.in()), out = scale_of(site.out());
    positive = fixed_factor(in / out);
    const float alpha = site.node.attrs<graph::LeakyReluAttrs>().alpha;
    negative = fixed_factor(in * static_cast<double>(alpha) / out);
  }
};

// Whether max(x * positive, x * negative) is the one that x's sign selects, after all rounding.
bool larger_is_right(const LeakyFactors& factors) {
  for (int32_t x = -32768; x <= 32767; ++x) {
    const int32_t p = multiply(x, factors.positive), n = multiply(x, factors.negative);
    if (x >= 0 ? p < n : n < p) return false;
  }
  return true;
}

Operand product(Builder& builder, const Operand& x, const FixedFactor& factor, DataType type) {
  const Operand out = builder.inner("product", type, x.extent);
  Operation op = builder.start(OperationKind::Mul, x, out);
  op.ifm2_scalar = 1;
  op.ifm2_type = DataType::Int16;
  op.global_scale = *channel_scale(factor);
  builder.emit(std::move(op));
  return out;
}

Operand limited(Builder& builder, const Operand& x, OperationKind kind) {
  const Operand out = builder.inner("half", DataType::Int16, x.extent);
  Operation op = builder.start(kind, x, out);
  op.ifm2_scalar = 0;
  op.ifm2_type = DataType::Int16;
  builder.emit(std::move(op));
  return out;
}

}  // namespace

Reason refuses_leaky_relu(const Site& site) {
  if (site.in().type == DataType::Int8) return refuses_table(site);
  if (site.out().type != site.in().type) return std::string("input and output differ in type");
  const LeakyFactors factors(site);
  if (!channel_scale(factors.positive) || !channel_scale(factors.negative))
    return std::string("alpha is negative, or the scales are too far apart");
  return std::nullopt;
}

void legalise_leaky_relu(Builder& builder, const Node& node) {
  const Site site{builder.module(), builder.function(), node};
  if (site.in().type == DataType::Int8) return legalise_table(builder, node);
  const LeakyFactors factors(site);
  const Operand in = builder.read(node.inputs.at(0)), out = builder.write(node.outputs.at(0));
  if (scale_of(site.in()) == scale_of(site.out())) {
    Operation op = builder.start(OperationKind::LeakyRelu, in, out);
    op.global_scale = *channel_scale(factors.negative);
    builder.emit(std::move(op));
    return;
  }
  const bool larger = larger_is_right(factors);
  const Operand positive = larger ? in : limited(builder, in, OperationKind::Maximum);
  const Operand negative = larger ? in : limited(builder, in, OperationKind::Minimum);
  const Operand a = product(builder, positive, factors.positive, DataType::Int16);
  Operation last = builder.start(larger ? OperationKind::Maximum : OperationKind::Add, a, out);
  last.ifm2 = product(builder, negative, factors.negative, DataType::Int16);
  last.ifm2_type = DataType::Int16;
  if (!larger) last.global_scale = last.ifm_scale = last.ifm2_scale = ChannelScale{.multiplier = 1};
  builder.emit(std::move(last));
}

}  // namespace intarsia::targets::ethos_u
