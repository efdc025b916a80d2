// The documented arithmetic of the device on a module's tensors, written down without stripes, slots or layouts: what
// any way to run the network must give in every byte.
#pragma once

#include <vector>

#include "intarsia/graph.h"

namespace intarsia::test::ethos_n {

// Of the entry. For convolutions, depthwise ones, maximum pools, relu, leaky relu, nearest resize and additions.
std::vector<graph::TensorValue> integer_model(const graph::Module& module,
                                              const std::vector<graph::TensorValue>& inputs);

}  // namespace intarsia::test::ethos_n
