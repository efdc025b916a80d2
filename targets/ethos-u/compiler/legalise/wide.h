// Steps of fixed-point arithmetic on 32-bit values, from which operators are composed that the NPU
// has no command for. Scaled commands round(a OP b) by a shift only: a product shifted by 31 or
// more is TFLite's rounded high half, followed by its rounding shift. Products, sums and
// differences saturate at 32 bits.
#pragma once

#include <string>
#include <vector>

#include "legalise/builder.h"
#include "program/scaling.h"

namespace intarsia::targets::ethos_u {

// Operations of fewer elements take longer to begin than to run: about a hundred cycles, in which a port of 8 bytes moves
// as many values of 32 bits as this has, twice.
inline constexpr int64_t kLeastBandElements = 512;

// A new 32-bit tensor holding `a OP b`; b repeats where its extents are 1.
Operand wide(Builder& builder, OperationKind kind, const Operand& a, const Operand& b,
             int shift = 0);
Operand wide_constant(Builder& builder, int32_t value);
// x / 2^right.
Operand wide_shifted(Builder& builder, const Operand& x, int32_t right, Rounding rounding);
// value - b.
Operand wide_difference(Builder& builder, int32_t value, const Operand& b);
// Another extent of as many elements, in which they fill the blocks that the NPU works on and the bytes it reads at a time: one
// element a row fills a sixteenth of them.
Extent packed(const Extent& extent);
// The operand's bytes in it.
inline Operand packed(Builder& builder, const Operand& x) {
  return builder.reshaped(x, packed(x.extent));
}
// A constant among the activations: one that repeats is read again for every element beside it, and constants lie in slow
// memory as a rule. Of 8 or 16 bits; anything else as it is.
Operand near_constant(Builder& builder, const Operand& x);
// a * factor with TFLite's two roundings. factor.exponent <= 31.
Operand wide_product(Builder& builder, const Operand& a, const FixedFactor& factor);
// (x - zero point) * 2^shift of an 8- or 16-bit operand.
Operand widened(Builder& builder, const Operand& x, int shift);
// A table of 32-bit words, as it lies in memory.
LookUpTable wide_words(std::string name, const std::vector<int32_t>& values);
// The values that a table of 32 bits has for an 8-bit operand, by the stored value from -128 on.
int32_t wide_table(Builder& builder, std::string name, const std::vector<int32_t>& values);
Operand wide_looked_up(Builder& builder, const Operand& x, int32_t table);
// The operation's result, an int8, is looked up in such a table.
void look_up_wide(Operation& op, int32_t table);
// The command itself, for other outputs than a new tensor.
Operation wide_operation(Builder& builder, OperationKind kind, const Operand& a, const Operand& b,
                         const Operand& out, int shift = 0);

}  // namespace intarsia::targets::ethos_u
