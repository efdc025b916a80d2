// Operators of one element of few values: all results, for kernels that look them up or are tried against them.
#pragma once

#include <cstdint>
#include <vector>

#include "intarsia/plugin/op_view.h"

namespace intarsia::operators {

// What the operator makes of -128, -127, .. 127, by the reference evaluator: the bytes of 256 elements of its output's type. Operands
// other than that one are constants of one element.
std::vector<uint8_t> results_of_every_int8(const OpView& view, size_t operand = 0);
// Of two operands of int8, whether constants or not: [first + 128][second + 128].
std::vector<uint8_t> results_of_every_int8_pair(const OpView& view);
// The same of -32768 .. 32767.
std::vector<uint8_t> results_of_every_int16(const OpView& view);

}  // namespace intarsia::operators
