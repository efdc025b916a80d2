// One over the square root on 32 bits: TFLite Micro's fixed point.
#pragma once

#include "legalise/builder.h"

namespace intarsia::targets::ethos_u {

// 1 / sqrt(x) = mantissa / 2^31 * 2^(pairs - 11) for 1 <= x < 2^29, within the last bits of the mantissa, which are TFLite
// Micro's; 0 has the pairs of 1.
struct InverseRoots {
  Operand mantissa, pairs;
};
InverseRoots emit_inverse_roots(Builder& builder, const Operand& x);

}  // namespace intarsia::targets::ethos_u
