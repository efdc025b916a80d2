// Proofs by enumeration: which values the elements of a tensor can have, and what an operator that
// computes each element on its own makes of every one of them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "intarsia/graph.h"
#include "passes/graph_edit.h"

namespace intarsia::passes {

// Each element of the result is made of the elements at its place: functions of one value, and of several.
bool computes_elements(graph::OpKind kind);

// Integers of at most 16 bits and whole bytes: few enough to try them all.
bool enumerable(DataType type);

// A superset of the values that elements of the tensor can have, ascending. Its type is enumerable.
std::vector<int64_t> possible_values(const graph::Function& function, const Uses& uses,
                                     graph::TensorId id);

// What `node` makes of elements of its only activation operand, when its output elements depend on one
// input element each; `values` are dense elements of the operand's type, and the result is as many
// elements of the output's type for every distinct element of a constant operand, these innermost.
// Nothing when the node is not of that kind, or the reference has no arithmetic for it.
//   relu, quantize, tanh ...; add, sub and mul with a constant; 1x1 pools; means of one element
std::optional<graph::TensorValue> on_elements(const graph::Module& module,
                                              const graph::Function& function,
                                              const graph::Node& node,
                                              const graph::TensorValue& values);

graph::TensorValue pack(DataType type, const std::vector<int64_t>& values);

// A few of many values, from all over them: what does not hold for these does not hold for all. All, where they are no more than some
// hundred.
graph::TensorValue few_of(DataType type, const graph::TensorValue& values);

// Every element of `values` comes out of the node as it went in.
bool keeps_elements(const graph::Module& module, const graph::Function& function,
                    const graph::Node& node, const graph::TensorValue& values);

}  // namespace intarsia::passes
