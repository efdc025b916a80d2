// The portable lowering with kernels of a target's own: for a CPU whose kernels are better than loops for
// some operators.
#pragma once

#include "intarsia/graph.h"
#include "intarsia/lowering_options.h"
#include "intarsia/plugin/kernel_library.h"
#include "intarsia/plugin/op_lowering.h"
#include "intarsia/plugin/tir.h"

namespace intarsia::standard_lowering {

using operators::BufferId;
using operators::ConstantPool;
using operators::Expr;
using operators::FuncBuilder;
using operators::OpLowering;
using operators::OpView;
using operators::Stmt;

Result<tir::LoweredFunction> graph_to_tir(const graph::Module& module,
                                          const graph::Function& function,
                                          const ChooseKernel& choose,
                                          const LoweringOptions& options);

}  // namespace intarsia::standard_lowering
