// Graph passes: one function each, value in, value out. The order they run in is written down once,
// in compile.cpp.
#pragma once

#include <map>
#include <string>

#include "intarsia/graph.h"

namespace intarsia::passes {

// Sets Node::pin and Function::pin from `name=device` pairs. A name is an operator's or a function's;
// one that the module does not have is an error that names the nearest.
Result<graph::Module> apply_pins(const graph::Module& module,
                                 const std::map<std::string, std::string>& pins);

// Replaces every call in the entry, and in what its branches and loops run, by the callee's nodes,
// recursively, and drops the callees. A pin of
// the call, or else of the callee, binds those of its nodes that have none of their own.
//   %2 = call @f(%1) [pin=npu]      =>      %2 = relu(%1) [pin=npu]
graph::Module inline_calls(const graph::Module& module);

// The entry's outputs become tensors of their own, each made by an operator: one that is an input, a constant or
// an output already is copied by an operator pinned to `pin`, and a variable is read when all others have run.
//   func(%0) -> (%1, %1, %0)      =>      func(%0) -> (%1, %2, %3) { %2 = reshape(%1), %3 = reshape(%0) }
graph::Module own_outputs(const graph::Module& module, const std::string& pin);

}  // namespace intarsia::passes
