// Operators of one integer as tables: of int8 all 256 results, which the reference evaluator fills as the model is compiled; of
// int16 the points of straight lines.
#pragma once

#include <array>
#include <cstdint>

#include "intarsia/plugin/op_lowering.h"

namespace intarsia::operators {

Stmt lower_by_table(OpLowering& op);
// StraightLines::points().
Stmt lower_by_lines(OpLowering& op, const std::array<int16_t, 513>& points);

}  // namespace intarsia::operators
