// Loops over elements of equal place, with numpy's broadcasting.
#pragma once

#include <functional>
#include <vector>

#include "standard_lowering/op_lowering.h"

namespace intarsia::standard_lowering {

// output[i] = function(input[i]); the operator may run in place.
Stmt map_elements(OpLowering& op, const std::function<Expr(Expr)>& function);

// output[i] = function(elements of all operands).
Stmt combine_operands(OpLowering& op,
                      const std::function<Expr(const std::vector<Expr>&)>& function);

}  // namespace intarsia::standard_lowering
