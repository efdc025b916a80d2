// Operators of one int8 operand as tables of their 256 results, which the reference evaluator fills as the model is compiled.
#pragma once

#include "intarsia/plugin/op_lowering.h"

namespace intarsia::operators {

Stmt lower_by_table(OpLowering& op);

}  // namespace intarsia::operators
