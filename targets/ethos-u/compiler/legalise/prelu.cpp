// Relu with a slope for each channel: both halves in TFLite's own steps on 32 bits, a few rows at a time, the half above the
// zero point from a table. Where one of them counts, the other is 0.
#include <algorithm>

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

// What lies above the zero point, by the output's scale.
std::vector<int32_t> positive_half(const Site& site, const FixedFactor& factor) {
  std::vector<int32_t> values;
  for (int32_t x = -128; x <= 127; ++x)
    values.push_back(multiply(std::max(x - zero_point_of(site.in(0)), 0), factor));
  return values;
}

// What lies below, and the zero point for the rest.
Operand negative_half(Builder& builder, const Operand& x) {
  const Operand out = builder.inner("half", DataType::Int8, x.extent, x.zero_point);
  Operation op = builder.start(OperationKind::Minimum, x, out);
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
  const Operands all = operands_of(builder, node);
  const int32_t table = wide_table(builder, fmt::format("{}_positive", node.name),
                                   positive_half(site, factors.positive));
  in_symmetric_bands(builder, node, all, [&](const Operands& band, bool swapped) {
    const Operand &x = swapped ? band.b : band.a, &slopes = swapped ? band.a : band.b;
    const Operand positive = wide_looked_up(builder, x, table);
    const Operand product = builder.inner("product", DataType::Int32, band.out.extent);
    Operation op = builder.start(OperationKind::Mul, negative_half(builder, x), product);
    op.ifm2 = slopes;
    op.ifm2_type = DataType::Int8;
    op.global_scale = ChannelScale{.multiplier = 1};
    builder.emit(std::move(op));
    builder.emit(wide_operation(builder, OperationKind::Add, positive,
                                wide_product(builder, product, factors.negative), band.out));
  });
}

}  // namespace intarsia::targets::ethos_u
