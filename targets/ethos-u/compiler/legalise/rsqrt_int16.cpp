// One over the square root: of int8 a table, of int16 TFLite Micro's fixed point.
#include "legalise/rsqrt_int16.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "legalise/elementwise.h"
#include "legalise/inverse_roots.h"
#include "legalise/wide.h"
#include "program/scaling.h"

namespace intarsia::targets::ethos_u {
namespace {

constexpr int kRootBits = 20;  // of 1 / sqrt(x) behind the point
// Where all positive inputs have the largest result anyhow.
constexpr double kMostRootFactor = 1 << 29;
// From 3/2 of the last estimate nothing is taken where the input is 0: five steps make it 7.59, and sqrt(2) / 2 of that
// is what 0 has for the 1 that 1 has.
constexpr double kRootOfNothing = 5.36;
double root_factor(const Site& site) {
  return std::min(1 / (std::sqrt(scale_of(site.in())) * scale_of(site.out())), kMostRootFactor);
}

void emit_rsqrt(Builder& builder, FixedFactor factor, const Operand& in, const Operand& out) {
  factor.exponent -= kRootBits;  // of a root in 2^-20
  const Operand x =
      wide(builder, OperationKind::Maximum, widened(builder, in, 0), wide_constant(builder, 0));
  const InverseRoots roots = emit_inverse_roots(builder, x);
  const Operand root = builder.inner("root", DataType::Int32, x.extent);
  Operation normal = wide_operation(builder, OperationKind::ShiftRight, roots.mantissa,
                                    wide_difference(builder, 22, roots.pairs), root);
  normal.rounding = Rounding::Natural;
  builder.emit(std::move(normal));
  const int shift = 31 - factor.exponent;
  Operation last = wide_operation(builder, OperationKind::Mul, root,
                                  wide_constant(builder, factor.value), out, shift);
  if (shift < 31) last.rounding = Rounding::Natural;
  builder.emit(std::move(last));
}

}  // namespace

Reason refuses_rsqrt(const Site& site) {
  if (site.in().type == DataType::Int8 || site.in().type != site.out().type)
    return refuses_table(site);
  constexpr double kMostSteps = 32767;
  if (root_factor(site) * kRootOfNothing < kMostSteps)
    return fmt::format("the result of the least input is {} steps, of 0 it is {}",
                       std::lround(root_factor(site)), kMostSteps);
  return std::nullopt;
}

void legalise_rsqrt(Builder& builder, const graph::Node& node) {
  const Site site{builder.module(), builder.function(), node};
  if (site.in().type == DataType::Int8) return legalise_table(builder, node);
  const FixedFactor factor = fixed_factor(root_factor(site));
  const Operand in = packed(builder, builder.read(node.inputs.at(0))),
                out = packed(builder, builder.write(node.outputs.at(0)));
  in_bands(builder, {in, in, out},
           [&](const Operands& band) { emit_rsqrt(builder, factor, band.a, band.out); });
}

}  // namespace intarsia::targets::ethos_u
