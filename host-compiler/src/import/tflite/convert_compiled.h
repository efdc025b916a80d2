// Operators that hold a program another compiler has made (ProgramOperator).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "import/tflite/tflite_operators.h"

namespace intarsia::tflite {

struct CompiledOperator {
  graph::CompiledAttrs attributes;
  std::vector<int32_t> inputs;  // the file's tensors; -1: there are no constants
};

// The metadata that gives every tensor its address in the arena, as TensorFlow Lite Micro reads it:
// version, number of subgraphs, number of tensors, and an offset per tensor, -1 where it is open.
std::optional<std::vector<int32_t>> arena_addresses(const ModelFile& file, size_t tensor_count,
                                                    std::string& problem);

// Nothing when something is wrong, which is reported.
std::optional<CompiledOperator> convert_compiled(const ModelFile& file, const OperatorInfo& op,
                                                 TensorTable& tensors, Diagnostics& problems);

// Whether both are programs that work in one arena, in which a tensor may be written by several of them.
bool share_arena(const OperatorInfo& a, const OperatorInfo& b);

}  // namespace intarsia::tflite
