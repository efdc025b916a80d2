// Slices at places that only the running model knows.
#pragma once

#include "import/onnx/reader.h"

namespace intarsia::onnx {

// A Slice of operand 0 from the places of operand 1 to those of operand 2. False, and nothing said or made, where it is not known how many
// elements that is.
bool slice_at_places(Reader& in);

}  // namespace intarsia::onnx
