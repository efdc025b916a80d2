// Steps of fixed-point arithmetic on 32-bit values, from which operators are composed that the NPU
// has no command for. Scaled commands round(a OP b) by a shift only: a product shifted by 31 or
// more is TFLite's rounded high half, followed by its rounding shift. Products, sums and
// differences saturate at 32 bits.
#pragma once

#include "legalise/builder.h"
#include "program/scaling.h"

namespace intarsia::targets::ethos_u {

// A new 32-bit tensor holding `a OP b`; b repeats where its extents are 1.
Operand wide(Builder& builder, OperationKind kind, const Operand& a, const Operand& b,
             int shift = 0);
Operand wide_constant(Builder& builder, int32_t value);
// a * factor with TFLite's two roundings. factor.exponent <= 31.
Operand wide_product(Builder& builder, const Operand& a, const FixedFactor& factor);
// (x - zero point) * 2^shift of an 8- or 16-bit operand.
Operand widened(Builder& builder, const Operand& x, int shift);
// The command itself, for other outputs than a new tensor.
Operation wide_operation(Builder& builder, OperationKind kind, const Operand& a, const Operand& b,
                         const Operand& out, int shift = 0);

}  // namespace intarsia::targets::ethos_u
