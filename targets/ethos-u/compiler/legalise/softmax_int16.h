#pragma once

#include "legalise/builder.h"

namespace intarsia::targets::ethos_u {

// Of each row's channels, [rows, 1, depth]. `factor`: from the input's steps to those of 10 / 65535 that the
// exponentials are tabulated in. At most 65536 channels, so that their sum stays within 32 bits.
void emit_softmax_int16(Builder& builder, const Operand& in, const Operand& out, double factor);

}  // namespace intarsia::targets::ethos_u
