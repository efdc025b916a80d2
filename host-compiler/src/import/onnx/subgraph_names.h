// Names within the graph of an operator, which is read once for each time that it runs.
#pragma once

#include <string>

#include "import/onnx/model_file.h"

namespace intarsia::onnx {

// The graph with the suffix behind every name that it or a graph within it defines.
format::Graph with_suffix(const format::Graph& graph, const std::string& suffix);

}  // namespace intarsia::onnx
