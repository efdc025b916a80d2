// Whole numbers that are known when a model is read: exporters write the arithmetic of shapes out as operators.
#pragma once

#include "import/onnx/reader.h"

namespace intarsia::onnx {

// Computes the operator being read when all its operands are constants of integers or bools, and gives its result.
// False, and nothing done, for other operands and operators.
bool fold_integers(Reader& in);

}  // namespace intarsia::onnx
