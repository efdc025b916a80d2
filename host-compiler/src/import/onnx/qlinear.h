// Operators that take and make quantised tensors with their scales as operands are abbreviations:
//
//   QLinearConv(x, x_scale, x_zero, w, ..)  =  DequantizeLinear of x and w; Conv; QuantizeLinear
//
// and are written out, so that there is one path for both spellings. A bias stays int32: convolutions and
// matrix products take it as counted in steps of input scale times weight scale.
#pragma once

#include <vector>

#include "import/onnx/onnx_graph.h"

namespace intarsia::onnx {

bool is_abbreviation(const Node& node);

// Appends what `node`, which is an abbreviation with a valid number of operands, stands for.
// `operator_set`: of the standard operators in the model.
void write_out(const Node& node, int64_t operator_set, std::vector<Node>& nodes);

}  // namespace intarsia::onnx
