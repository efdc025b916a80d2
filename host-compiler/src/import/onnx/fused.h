// Operators that stand for several of ONNX's own, as onnxruntime joins them when it saves an optimised model:
//
//   com.microsoft.FusedConv(x, w, b, z)  =  Conv(x, w, b); Add of z; the activation
//
// They are written out where their names and attributes say all; those that depend on shapes have readers (convert_fused.cpp).
#pragma once

#include <vector>

#include "import/onnx/onnx_graph.h"

namespace intarsia::onnx {

bool is_fused(const Node& node);

// Appends what `node`, for which is_fused() holds and whose number of operands is valid, stands for.
// `operator_set`: of the standard operators in the model.
void write_out_fused(const Node& node, int64_t operator_set, std::vector<Node>& nodes);

}  // namespace intarsia::onnx
