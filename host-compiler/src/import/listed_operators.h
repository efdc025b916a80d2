// The operators of a model file as the file lists them, also of one that cannot be imported: what a summary of its problems counts.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "intarsia/import.h"

namespace intarsia::import {

struct ListedOperator {
  int64_t index = 0;  // in its graph
  std::string name,
      type;  // the type as the format calls it, without its version: "CONV_2D", "FlexErf", "Loop"
  std::string label;     // what problems of it begin with, behind the file's name
  bool is_known = true;  // Intarsia has an operator for its type
};

// In the order of the file; those of a .tflite file's other subgraphs that the model runs follow. Empty for files of other formats than
// .tflite and ONNX. Fails where the file does not hold together so far.
Result<std::vector<ListedOperator>> listed_operators(std::span<const uint8_t> bytes,
                                                     const ImportOptions& options);

}  // namespace intarsia::import
