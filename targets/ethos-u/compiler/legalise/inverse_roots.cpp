// Newton's iteration in Q3.28 from 1 on: step by step the same products as TFLite Micro's, each rounded once as there. What is
// shifted left between two products, and is far from the ends of 32 bits, is shifted with the next one.
#include "legalise/inverse_roots.h"

#include "legalise/wide.h"

namespace intarsia::targets::ethos_u {
namespace {

using enum OperationKind;

constexpr int32_t kHalfRootOfTwo = 1518500250;  // sqrt(2) / 2 in Q0.31
constexpr int32_t kThreeHalves = (1 << 28) + (1 << 27);
constexpr int kNewtonStepsBehindFirst = 4;

Operand naturally_rounded(Builder& builder, OperationKind kind, const Operand& a, const Operand& b,
                          int shift) {
  const Operand out = builder.inner("wide", DataType::Int32, a.extent);
  Operation op = wide_operation(builder, kind, a, b, out, shift);
  op.rounding = Rounding::Natural;
  builder.emit(std::move(op));
  return out;
}
Operand product(Builder& builder, const Operand& a, const Operand& b, int shift) {
  return naturally_rounded(builder, Mul, a, b, shift);
}

// y' = (3/2 y - 1/2 h y^3), of which an eighth is kept: 2^28 in the beginning.
Operand emit_eighth(Builder& builder, const Operand& h) {
  Operand y = wide_difference(
      builder, 3 << 24, naturally_rounded(builder, ShiftRight, h, wide_constant(builder, 5), 0));
  for (int step = 0; step < kNewtonStepsBehindFirst; ++step) {
    const Operand cube = product(builder, product(builder, y, y, 25), y, 28);
    const Operand less = product(builder, h, cube, 27);
    y = wide(builder, Sub, product(builder, y, wide_constant(builder, kThreeHalves), 28), less);
  }
  return y;
}

}  // namespace

InverseRoots emit_inverse_roots(Builder& builder, const Operand& x) {
  const Operand zeros = builder.inner("leading_zeros", DataType::Int32, x.extent);
  builder.emit(builder.start(CountLeadingZeros, x, zeros));
  // h = x * 4^pairs is at least 2^27 and below 2^29; nothing has as many pairs as 1.
  const Operand pairs = builder.inner("wide", DataType::Int32, x.extent);
  Operation halved =
      wide_operation(builder, ShiftRight, wide(builder, Sub, zeros, wide_constant(builder, 3)),
                     wide_constant(builder, 1), pairs);
  halved.rounding = Rounding::Truncate;
  builder.emit(std::move(halved));
  const Operand h = wide(builder, ShiftLeft, x, wide(builder, Add, pairs, pairs));
  return {product(builder, emit_eighth(builder, h), wide_constant(builder, kHalfRootOfTwo), 28),
          pairs};
}

}  // namespace intarsia::targets::ethos_u
