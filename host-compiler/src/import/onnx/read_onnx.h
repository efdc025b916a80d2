// An .onnx file becomes a graph::Module of one function `main`.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "import/listed_operators.h"
#include "intarsia/import.h"

namespace intarsia::onnx {

bool has_onnx_beginning(std::span<const uint8_t> bytes);

// With the axes of all tensors as ONNX orders them, images between transpositions. `module_name` is a C
// identifier, `file` serves messages, and data outside of the model are looked for beside it. What became of
// open extents goes to the options' notes. The rules of the IR are those of every operator made.
Result<graph::Module> read_onnx(std::span<const uint8_t> bytes, const std::string& file,
                                const std::string& module_name, const ImportOptions& options);

// What import::listed_operators() is of such a file.
Result<std::vector<import::ListedOperator>> listed_operators(std::span<const uint8_t> bytes,
                                                             const std::string& file);

}  // namespace intarsia::onnx
