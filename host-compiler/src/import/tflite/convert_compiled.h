// Operators that hold a program another compiler has made (ProgramOperator).
#pragma once

#include <optional>
#include <vector>

#include "import/tflite/tflite_operators.h"

namespace intarsia::tflite {

struct CompiledOperator {
  graph::CompiledAttrs attributes;
  std::vector<int32_t> inputs;  // the file's tensors; -1: there are no constants
};

// Nothing when something is wrong, which is reported.
std::optional<CompiledOperator> convert_compiled(const ModelFile& file, const OperatorInfo& op,
                                                 TensorTable& tensors, Diagnostics& problems);

}  // namespace intarsia::tflite
