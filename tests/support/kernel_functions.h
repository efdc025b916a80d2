// The C helper library, as the functions the TIR interpreter calls.
#pragma once

#include "support/tir_interpreter.h"

namespace intarsia::testing {

void define_kernels(TirInterpreter& interpreter);

}  // namespace intarsia::testing
