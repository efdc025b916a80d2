// The portable lowering with leaves of a target's own: for a CPU whose kernels are better than loops for
// some operators.
#pragma once

#include <functional>

#include "intarsia/graph.h"
#include "intarsia/lowering_options.h"
#include "intarsia/tir.h"
#include "standard_lowering/op_lowering.h"

namespace intarsia::standard_lowering {

// Writes the leaf of one operator: declares its operands, returns the body.
using LowerLeaf = std::function<Stmt(OpLowering&)>;
// The target's own leaf for an operator that the portable lowering takes; empty: the portable one.
using ChooseLeaf = std::function<LowerLeaf(const OpView&)>;

Result<tir::LoweredFunction> graph_to_tir(const graph::Module& module,
                                          const graph::Function& function, const ChooseLeaf& choose,
                                          const LoweringOptions& options);

}  // namespace intarsia::standard_lowering
