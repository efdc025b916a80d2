// Operators of one int8, for kernels that look results up.
#pragma once

#include <cstdint>
#include <vector>

#include "intarsia/plugin/op_view.h"

namespace intarsia::operators {

// What the operator makes of -128, -127, .. 127, by the reference evaluator: the bytes of 256 elements of its output's type.
std::vector<uint8_t> results_of_every_int8(const OpView& view);

}  // namespace intarsia::operators
