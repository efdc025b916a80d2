// The portable lowering: what a CPU kind that leaves out the GraphToTir hook gets, and what other
// targets may reuse operator by operator.
#pragma once

#include <string>

#include "intarsia/graph.h"
#include "intarsia/lowering_options.h"
#include "intarsia/plugin/tir.h"

namespace intarsia {

// Null when the portable lowering takes the node, else the reason in words ("operand types ...").
// It takes every operator of the graph IR in the type combinations listed in docs/operators.md.
std::optional<std::string> standard_lowering_refuses(const graph::Module& module,
                                                     const graph::Function& function,
                                                     const graph::Node& node);

// One kernel Func of loops per node, and a schedule that calls them: parameters are the function's
// inputs, then its outputs; intermediate tensors are Local buffers of the schedule. Where options.ram_budget
// asks for it, chains of operators that work row by row run by row tiles: one tiled Func per chain and
// kernels for parts of its operators.
Result<tir::LoweredFunction> standard_graph_to_tir(const graph::Module& module,
                                                   const graph::Function& function,
                                                   const LoweringOptions& options = {});

}  // namespace intarsia
