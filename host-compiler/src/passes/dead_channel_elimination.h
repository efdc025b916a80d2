// Dead-channel elimination: what provably does not change a result is taken out of the graph, for every target.
//
//   relu that cannot clamp, reshape of reshape, quantize after quantize ...   one operator or none
//   pad before a convolution                                                  the convolution's padding
//   channels whose value no input changes, or that nobody reads               removed; constants go to biases
//
// Every quantised output keeps every bit. What a step relies on is proven on this very graph: functions
// of one element by evaluating them on all elements there are, constant channels by the dependence on
// the inputs together with one reference evaluation. Names of operators and tensors stay.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "intarsia/compiled_model.h"
#include "intarsia/graph.h"

namespace intarsia {

struct EliminationOptions {
  std::set<std::string> keep;  // operators that must remain: somebody pins them by name
};

EliminationFigures elimination_figures(const graph::Module& module);

// `module` is verified, and so is the result. Inputs and outputs of functions stay as they are.
Result<ReducedModule> eliminate_dead_channels(const graph::Module& module,
                                              const EliminationOptions& options = {});

// What `eliminate_dead_channels` does when it is switched off.
ReducedModule not_reduced(const graph::Module& module);

// Both modules, evaluated by the reference on `samples` inputs (zero points, smallest, largest, then
// random ones; consecutive samples continue the state of streaming models), give the same outputs
// by the rule of tensor_values.h.
Result<void> check_reduced(const graph::Module& before, const graph::Module& after, int samples);

}  // namespace intarsia
