// A .tflite file becomes a graph::Module: subgraph 0, which is the model, as function `main`. Subgraphs
// that branches and loops run become functions (model_reader.h); others are further signatures that
// nothing here calls.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "import/listed_operators.h"
#include "intarsia/import.h"

namespace intarsia::tflite {

// Names and order of operators and tensors stay as in the file; tensors that nothing uses are left
// out. `module_name` is a C identifier, `file` serves messages; the options' own names are not looked at. The rules of shapes
// and types that live with the IR are not yet checked: graph::verify does.
Result<graph::Module> read_tflite(std::span<const uint8_t> bytes, const std::string& file,
                                  const std::string& module_name, const ImportOptions& options);

// What import::listed_operators() is of such a file.
Result<std::vector<import::ListedOperator>> listed_operators(std::span<const uint8_t> bytes,
                                                             const ImportOptions& options);

}  // namespace intarsia::tflite
