// Rules that the operators of several families share.
#pragma once

#include "graph/op_check.h"

namespace intarsia::operators {

// numpy's broadcasting; a finding when the shapes do not fit.
Shape broadcast_shape(graph::OpCheck& check, const Shape& a, const Shape& b);
Shape broadcast_operands(graph::OpCheck& check);  // the first two

// Every operand and the output that is no float has one scale; a zero point of 0 where `symmetric`.
bool quantized(graph::OpCheck& check, bool symmetric = false);

// One operand, the output of its shape: integers have one scale each.
graph::Shapes infer_unary(graph::OpCheck& check);

// Every operand and output has one type of whole bytes.
bool moves(graph::OpCheck& check);
// The first operand and the output have one type of whole bytes.
bool moves_one_type(graph::OpCheck& check);

bool is_axis(graph::OpCheck& check, int64_t axis, size_t rank);
bool per_axis(graph::OpCheck& check, std::string_view what, const std::vector<int64_t>& values,
              size_t rank);

}  // namespace intarsia::operators
