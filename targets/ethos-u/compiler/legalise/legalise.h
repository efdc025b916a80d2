// From graph functions to NPU programs.
#pragma once

#include "intarsia/graph.h"
#include "legalise/builder.h"
#include "program/program.h"

namespace intarsia::targets::ethos_u {

// The function consists of operators that `patterns` took. What the program computes equals
// graph::Evaluator's results bit for bit, but for what `rounds_sums` gives up.
Program legalise(const graph::Module& module, const graph::Function& function,
                 const LegaliseOptions& options = {});

}  // namespace intarsia::targets::ethos_u
