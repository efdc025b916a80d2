// From graph functions to NPU programs.
#pragma once

#include "intarsia/graph.h"
#include "program/program.h"

namespace intarsia::targets::ethos_u {

// The function consists of operators that `patterns` took. What the program computes equals
// graph::Evaluator's results bit for bit.
// `may_gather`: convolutions of few channels may read windows that overlap in memory (gather.h), which takes
// fewer cycles of the MAC array and more of the ports.
// `confirmed_only`: no map lies inside of another one where that makes its readers skip bytes between pixels.
Program legalise(const graph::Module& module, const graph::Function& function,
                 bool may_gather = true, bool confirmed_only = false);

}  // namespace intarsia::targets::ethos_u
