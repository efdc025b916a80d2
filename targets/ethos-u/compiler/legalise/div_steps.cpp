// The reciprocal of the divisor's leading bits, in Q0.31, times the numerator's leading bits, times the factor of the scales, and a
// shift to the right by what both were shifted to the left, each rounded as TFLite rounds it.
#include "legalise/div_steps.h"

#include "legalise/softmax_rows.h"
#include "legalise/wide.h"

namespace intarsia::targets::ethos_u {
namespace {

using enum OperationKind;

constexpr int kMostShift32 = 31;
// A divisor of zero shifts to the right by that much less than one, so that all quotients are beyond the range.
constexpr int kLessForZero = 128;

}  // namespace

FixedFactor quotient_factor(const Site& site) {
  const auto scale = [](const graph::Tensor& tensor) { return tensor.quantization.scale.at(0); };
  return fixed_factor(
      static_cast<double>(scale(site.in(0)) / (scale(site.in(1)) * scale(site.out()))));
}

QuotientSteps::QuotientSteps(Builder& builder, const Site& site)
    : builder_(builder),
      factor_(quotient_factor(site)),
      clamp_(clamp_of(site.node.attrs<graph::BinaryAttrs>().activation, site.out())) {
  // The divisor's bits but the first.
  const int divisor_bits = site.in(1).type == DataType::Int8 ? 7 : 15;
  wide_range_ = kMostShift32 + divisor_bits - factor_.exponent > kMostShift32;
}

Operand QuotientSteps::constant(int32_t value) {
  return wide_constant(builder_, value);
}

std::vector<Operand> QuotientSteps::of_divisors(const Operand& divisor) {
  const Operand b = widened(builder_, divisor, 0);
  const Operand negative =
      wide(builder_, Maximum, wide(builder_, Minimum, b, constant(0)), constant(-1));
  const Operand sign = wide(builder_, Add, wide(builder_, Add, negative, negative), constant(1));
  const Operand magnitude = wide(builder_, Mul, b, sign);
  const Operand one = wide(builder_, Minimum, magnitude, constant(1));  // 0 of zero
  const Operand some = wide(builder_, Maximum, magnitude, constant(1));
  const Operand zeros = builder_.inner("leading_zeros", DataType::Int32, some.extent);
  builder_.emit(builder_.start(CountLeadingZeros, some, zeros));
  const Operand half = wide(builder_, ShiftLeft, some, wide(builder_, Sub, zeros, constant(1)));
  // Twice of what it is in Q2.29, where 1 is as much as fits.
  const Operand reciprocal = wide(builder_, Mul, emit_reciprocals(builder_, half), constant(2));
  const Operand less = wide(builder_, Sub, wide(builder_, Mul, one, constant(kLessForZero)), zeros);
  // One less, as the numerator's zeros are counted with its sign.
  const Operand right =
      wide(builder_, Add, less, constant(kMostShift32 - factor_.exponent - kLessForZero - 1));
  return {sign, reciprocal, right};
}

// Rounding half up is rounding half away from zero of what is less by one where it is negative. (What is not shifted at all is
// beyond the range.)
Operand QuotientSteps::rounded_away(const Operand& x) {
  const Operand negative =
      wide(builder_, Minimum, wide(builder_, Maximum, x, constant(-1)), constant(0));
  return wide(builder_, Add, x, negative);
}

void QuotientSteps::emit(const Operand& numerator, const std::vector<Operand>& by,
                         const Operand& out) {
  const Operand &sign = by.at(0), &reciprocal = by.at(1), &shift = by.at(2);
  const Operand whole = widened(builder_, numerator, 0);
  const bool swaps = numerator.extent != out.extent;  // the second one may repeat
  const Operand a = wide(builder_, Mul, swaps ? sign : whole, swaps ? whole : sign);
  // As many bits to the left as repeat the sign: of a number below zero those of what is left of -1.
  const Operand bits = wide(builder_, Maximum, a, wide_difference(builder_, -1, a));
  const Operand zeros = builder_.inner("leading_zeros", DataType::Int32, a.extent);
  builder_.emit(builder_.start(CountLeadingZeros, bits, zeros));
  const Operand scaled = wide(builder_, ShiftLeft, a, wide(builder_, Sub, zeros, constant(1)));
  const Operand ratio = wide(builder_, Mul, scaled, reciprocal, kMostShift32);
  Operand quotient = wide(builder_, Mul, ratio, constant(factor_.value), kMostShift32);
  Operand right = wide(builder_, Maximum, wide(builder_, Add, zeros, shift), constant(0));
  if (wide_range_) {
    // What is shifted by more than 31 bits is nothing, and half of it too.
    const Operand limited = wide(builder_, Minimum, right, constant(kMostShift32));
    const Operand beyond =
        wide(builder_, Minimum, wide(builder_, Sub, right, limited), constant(kMostShift32));
    const Operand rest = builder_.inner("shifted", DataType::Int32, a.extent);
    Operation cut = wide_operation(builder_, ShiftRight, quotient, beyond, rest);
    cut.rounding = Rounding::Truncate;
    builder_.emit(std::move(cut));
    quotient = rest;
    right = limited;
  }
  Operation last = wide_operation(builder_, ShiftRight, rounded_away(quotient), right, out);
  last.rounding = Rounding::Natural;
  last.clamp_low = clamp_.low;
  last.clamp_high = clamp_.high;
  builder_.emit(std::move(last));
}

}  // namespace intarsia::targets::ethos_u
