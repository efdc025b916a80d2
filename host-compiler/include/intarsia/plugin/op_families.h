// Operators that compute each element of the result from the elements at its place.
#pragma once

#include "intarsia/graph.h"

namespace intarsia::graph {

bool is_elementwise_unary(OpKind kind);   // one operand
bool is_elementwise_binary(OpKind kind);  // two, broadcast as numpy does

}  // namespace intarsia::graph
