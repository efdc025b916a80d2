// From graph functions to NPU programs.
#pragma once

#include "intarsia/graph.h"
#include "program.h"

namespace intarsia::targets::ethos_u {

// The function consists of operators that `patterns` took. What the program computes equals
// graph::Evaluator's results bit for bit.
Program legalise(const graph::Module& module, const graph::Function& function);

}  // namespace intarsia::targets::ethos_u
