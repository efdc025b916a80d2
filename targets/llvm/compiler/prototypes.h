// Kernels of an object file as a schedule in C declares them.
#pragma once

#include <string>
#include <vector>

#include "intarsia/plugin/tir.h"

namespace intarsia::targets::llvm {

// /* conv_3: CONV_2D ... */
// void kws_conv_3(const int8_t *input, int8_t *output);
// Needs <stdbool.h> and <stdint.h>.
std::string prototypes(const tir::Module& module, const std::vector<const tir::Func*>& kernels);

}  // namespace intarsia::targets::llvm
