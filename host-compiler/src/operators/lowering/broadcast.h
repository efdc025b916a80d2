// Loops over elements of equal place, with numpy's broadcasting.
#pragma once

#include <functional>
#include <vector>

#include "intarsia/plugin/op_lowering.h"

namespace intarsia::operators {

// output[i] = function(input[i]); the operator may run in place.
Stmt map_elements(OpLowering& op, const std::function<Expr(Expr)>& function);

// output[i] = helper(input[i]), a function of the runtime from float to float.
Stmt lower_by_call(OpLowering& op, const char* helper);

// output[i] = function(elements of all operands).
Stmt combine_operands(OpLowering& op,
                      const std::function<Expr(const std::vector<Expr>&)>& function);

}  // namespace intarsia::operators
