// Kernels on this machine beside the reference evaluator.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernel_program.h"

namespace intarsia::test::cortex_m {

using MakeInputs = std::function<std::vector<graph::TensorValue>(Random&, const graph::Module&)>;

// Every operator of the program gives the evaluator's results, wherever its output may lie, and changes nothing around it. A failure is
// the test's.
void check(const KernelProgram& kernels, const std::string& compiler = "gcc",
           const MakeInputs& make_inputs = testing::random_inputs);

}  // namespace intarsia::test::cortex_m
