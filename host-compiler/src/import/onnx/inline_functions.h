// Functions that a model defines of its own, as exporters of layers write them: where one is called, its operators stand.
#pragma once

#include <string>

#include "import/onnx/model_file.h"

namespace intarsia::onnx {

// All calls, also those in functions and in graphs of operators; no function is left. What is inside is named behind the call:
// "layer1/scaled". Operators that we know by themselves stay what they are, though the model has a function for them.
Result<void> inline_functions(format::Model& model, const std::string& file);

}  // namespace intarsia::onnx
