// Which operators of a function run by stripes so that its buffers stay within a number of bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "intarsia/plugin/kernel_functions.h"
#include "striping/stripe_choice.h"

namespace intarsia::standard_lowering {

// Covers all nodes, in order. Bytes are those of the function alone, before alignment and placement: the
// plan has the last word. `leaf_for` returns a leaf for every operator.
std::vector<striping::Option> plan_stripes(const graph::Module& module,
                                           const graph::Function& function,
                                           const ChooseLeaf& leaf_for, int64_t budget);

}  // namespace intarsia::standard_lowering
