// Asking the patterns, and comparing a program with the reference evaluator.
#pragma once

#include <string>
#include <vector>

#include "legalise/legalise.h"
#include "program_interpreter.h"

namespace intarsia::test::ethos_u {

using targets::ethos_u::legalise;

// Why the NPU does not take a node; empty when it does.
std::string refusal(const graph::Module& module, const graph::Function& function,
                    const graph::Node& node);

// The whole entry as a program gives the evaluator's values.
void expect_same(const graph::Module& module, const std::vector<graph::TensorValue>& inputs);

}  // namespace intarsia::test::ethos_u
