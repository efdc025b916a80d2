// One over the square root: of int8 a table. Of int16 it is TFLite Micro's fixed point, Newton's iteration in Q3.28 from
// 1 on: step by step the same products, each rounded once as there. What is shifted left between two products, and is
// far from the ends of 32 bits, is shifted with the next one.
#include "legalise/rsqrt_int16.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "legalise/elementwise.h"
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
constexpr int32_t kHalfRootOfTwo = 1518500250;  // sqrt(2) / 2 in Q0.31
constexpr int32_t kThreeHalves = (1 << 28) + (1 << 27);
constexpr int kNewtonStepsBehindFirst = 4;

double root_factor(const Site& site) {
  return std::min(1 / (std::sqrt(scale_of(site.in())) * scale_of(site.out())), kMostRootFactor);
}

class RootWords {
  using enum OperationKind;

 public:
  RootWords(Builder& builder, double factor) : builder_(builder), factor_(fixed_factor(factor)) {
    factor_.exponent -= kRootBits;
  }

  void emit(const Operand& in, const Operand& out) {
    const Operand x = wide(builder_, Maximum, widened(builder_, in, 0), constant(0));
    const Operand zeros = builder_.inner("leading_zeros", DataType::Int32, x.extent);
    builder_.emit(builder_.start(CountLeadingZeros, x, zeros));
    // h = x * 4^pairs is at least 2^27 and below 2^29; nothing has as many pairs as 1.
    const Operand pairs = shifted(wide(builder_, Sub, zeros, constant(3)), 1, Rounding::Truncate);
    const Operand h = wide(builder_, ShiftLeft, x, wide(builder_, Add, pairs, pairs));
    const Operand eighth = product(eighth_of_root(h), constant(kHalfRootOfTwo), 28);
    const Operand root = builder_.inner("root", DataType::Int32, x.extent);
    Operation normal = wide_operation(builder_, ShiftRight, eighth, minus(22, pairs), root);
    normal.rounding = Rounding::Natural;
    builder_.emit(std::move(normal));
    const int shift = 31 - factor_.exponent;
    Operation last = wide_operation(builder_, Mul, root, constant(factor_.value), out, shift);
    if (shift < 31) last.rounding = Rounding::Natural;
    builder_.emit(std::move(last));
  }

 private:
  // y' = (3/2 y - 1/2 h y^3), of which an eighth is kept: 2^28 in the beginning.
  Operand eighth_of_root(const Operand& h) {
    Operand y = minus(3 << 24, shifted(h, 5, Rounding::Natural));
    for (int step = 0; step < kNewtonStepsBehindFirst; ++step) {
      const Operand cube = product(product(y, y, 25), y, 28);
      const Operand less = product(h, cube, 27);
      y = wide(builder_, Sub, product(y, constant(kThreeHalves), 28), less);
    }
    return y;
  }

  Operand constant(int32_t value) { return wide_constant(builder_, value); }
  Operand made(OperationKind kind, const Operand& a, const Operand& b, int shift,
               Rounding rounding) {
    const Operand out = builder_.inner("wide", DataType::Int32, a.extent);
    Operation op = wide_operation(builder_, kind, a, b, out, shift);
    op.rounding = rounding;
    builder_.emit(std::move(op));
    return out;
  }
  Operand product(const Operand& a, const Operand& b, int shift) {
    return made(Mul, a, b, shift, Rounding::Natural);
  }
  Operand shifted(const Operand& x, int32_t right, Rounding rounding) {
    return made(ShiftRight, x, constant(right), 0, rounding);
  }
  Operand minus(int32_t a, const Operand& b) {
    Operation op = wide_operation(builder_, Sub, b, constant(a),
                                  builder_.inner("wide", DataType::Int32, b.extent));
    op.reverse_operands = true;
    const Operand out = op.ofm;
    builder_.emit(std::move(op));
    return out;
  }

  Builder& builder_;
  FixedFactor factor_;  // of a root in 2^-20
};

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
  RootWords words(builder, root_factor(site));
  const Operand in = packed(builder, builder.read(node.inputs.at(0))),
                out = packed(builder, builder.write(node.outputs.at(0)));
  in_bands(builder, {in, in, out}, [&](const Operands& band) { words.emit(band.a, band.out); });
}

}  // namespace intarsia::targets::ethos_u
