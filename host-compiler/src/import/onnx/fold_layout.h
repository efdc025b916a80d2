// Transpositions taken out of the graph: an operator that works on elements, or along axes that it names,
// works on what is stored, whatever the order of its axes, and transpositions around it need not happen.
//
//   transpose -> relu -> transpose back      relu
//   add(transpose(a), transpose(b))          add(a, b), its result is read in another order
//   transpose -> reshape to rows -> fully_connected     the columns of the weights change places
//
// What remains are transpositions where an operator or the model itself needs an order that the tensor is
// not stored in. The result computes what the given module computes; integers keep every bit.
#pragma once

#include "intarsia/graph.h"

namespace intarsia::onnx {

// `module` is verified and has one function, without variables. Operators that nobody reads go.
graph::Module fold_layout(const graph::Module& module);

}  // namespace intarsia::onnx
