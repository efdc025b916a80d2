// What the text of an emitted function needs around it to be a translation unit.
#pragma once

namespace intarsia::testing {

inline constexpr const char* kPrologue = R"(
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include "intarsia/kernels/arithmetic.h"
)";

inline constexpr const char* kFlags = "-Wno-unused-function -I" INTARSIA_KERNELS_INCLUDE;

}  // namespace intarsia::testing
